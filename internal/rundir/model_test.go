package rundir

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// history is a random sequence of launchers in one directory, with what must be true
// of it.
type history struct {
	t    *testing.T
	rnd  *rand.Rand
	dir  string
	used map[string]string // what rank 0 wrote, by attempt
	d    *Dir              // nil: no launcher
	a    *Attempt          // nil: no attempt
	dead atomic.Bool       // from now on nothing reaches the disk
}

// Whatever launchers do and however they end: no name is used twice, no output is lost
// or changed, and readers understand the directory at any time.
func TestManyLaunchers(t *testing.T) {
	for seed := range uint64(6) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			h := &history{t: t, rnd: rand.New(rand.NewPCG(seed, 3)), dir: filepath.Join(t.TempDir(), "run"), used: map[string]string{}}
			for range 60 {
				h.step()
				h.check()
			}
			if h.d != nil {
				mustClose(t, h.d)
			}
		})
	}
}

func (h *history) step() {
	switch n := h.rnd.IntN(10); {
	case h.d == nil:
		h.open()
	case n == 0:
		mustClose(h.t, h.d)
		h.d, h.a = nil, nil
	case n == 1:
		h.crash()
	case n <= 4 || h.a == nil:
		h.begin()
	case n == 5:
		h.end()
	case n == 6: // its user cleans up
		h.removeOne()
	default:
		h.write()
	}
}

func (h *history) open() {
	h.dead.Store(false)
	sys := realSystem()
	sys.write = func(f *os.File, text []byte) (int, error) {
		if h.dead.Load() {
			return 0, errors.New("dead")
		}
		return f.Write(text)
	}
	o := testOptions(h.t, h.dir)
	o.Warn = func(err error) {
		if !h.dead.Load() {
			h.t.Error(err)
		}
	}
	h.d = mustOpenWith(h.t, o, sys)
}

// crash ends the launcher before it writes anything more, as SIGKILL would; a line may
// be half written.
func (h *history) crash() {
	h.dead.Store(true)
	if h.a != nil {
		_ = h.d.Note(func(r *Run) { r.Attempts = nil }) // what would have come
	}
	_ = h.d.Close()
	if h.rnd.IntN(2) == 0 {
		f, err := os.OpenFile(filepath.Join(h.dir, eventsName), os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			h.t.Fatal(err)
		}
		fmt.Fprint(f, `{"time":"2026-03-0`)
		f.Close()
	}
	if h.rnd.IntN(2) == 0 {
		mustWrite(h.t, filepath.Join(h.dir, ".run.json.tmp"), "{")
	}
	h.d, h.a = nil, nil
}

func (h *history) begin() {
	want, err := NextName(h.dir)
	if err != nil {
		h.t.Fatal(err)
	}
	h.a = mustBegin(h.t, h.d, BeginInfo{Ranks: []RankInfo{{Rank: 0}}})
	wantEqual(h.t, "name", h.a.Name(), want)
	if _, again := h.used[h.a.Name()]; again {
		h.t.Fatalf("%s is used again", h.a.Name())
	}
	h.used[h.a.Name()] = ""
}

func (h *history) end() {
	r := NewRecorder(h.d)
	r.AttemptBegan(AttemptStart{At: time.Now(), Name: h.a.Name()})
	r.AttemptEnded(AttemptEnd{At: time.Now(), Outcome: OutcomeFailed})
	r.Close()
	h.a = nil
}

func (h *history) write() {
	f, err := h.a.Output(0, Out)
	if err != nil {
		h.t.Fatal(err)
	}
	defer f.Close()
	text := fmt.Sprintln(h.rnd.IntN(1000))
	if _, err := f.WriteString(text); err != nil {
		h.t.Fatal(err)
	}
	h.used[h.a.Name()] += text
}

// removeOne removes the directory of an older attempt.
func (h *history) removeOne() {
	for name := range h.used {
		if h.a == nil || name == h.a.Name() {
			continue
		}
		if err := os.RemoveAll(filepath.Join(h.dir, name)); err != nil {
			h.t.Fatal(err)
		}
		h.used[name] = "gone"
		return
	}
}

func (h *history) check() {
	h.t.Helper()
	r := mustRead(h.t, h.dir)
	seen := map[string]bool{}
	for i, a := range r.Attempts {
		if seen[a.Name] {
			h.t.Errorf("%s is there twice", a.Name)
		}
		seen[a.Name] = true
		if i < len(r.Attempts)-1 && a.Outcome == OutcomeRunning && a.Invocation != r.Invocation {
			h.t.Errorf("%s is said to run", a.Name)
		}
	}
	for name, text := range h.used {
		if !seen[name] {
			h.t.Errorf("%s is not recorded", name)
		}
		path := filepath.Join(h.dir, name, "rank-0.out")
		if got, err := os.ReadFile(path); text != "gone" && string(got) != text && (err == nil || text != "") {
			h.t.Errorf("%s has %q, want %q: %v", name, got, text, err)
		}
	}
	_ = allEvents(h.t, h.dir)
}

// What several nodes say of a run, put together, is what one launcher of all ranks
// would have said, in whatever order it is read.
func TestMergeIsTheOppositeOfSplitting(t *testing.T) {
	for seed := range uint64(50) {
		rnd := rand.New(rand.NewPCG(seed, 4))
		nodes, perNode := 2+rnd.IntN(4), 1+rnd.IntN(3)
		whole := AttemptRecord{Name: "attempt-0", UUID: "u", Began: testTime, Ended: testTime.Add(time.Hour), Outcome: OutcomeSuccess}
		runs := make([]Run, nodes)
		empty := whole
		for k := range nodes {
			part := empty
			for local := range perNode {
				rank := RankRecord{Rank: k*perNode + local, Local: local, Node: k, Pid: 1 + rnd.IntN(1000)}
				part.Ranks, whole.Ranks = append(part.Ranks, rank), append(whole.Ranks, rank)
				if rnd.IntN(3) > 0 {
					continue
				}
				part.Outcome, whole.Outcome = OutcomeFailed, OutcomeFailed
				part.Failed, whole.Failed = append(part.Failed, rank.Rank), append(whole.Failed, rank.Rank)
				cause := &CauseRecord{Rank: rank.Rank, At: testTime.Add(time.Duration(rank.Rank+1) * time.Second)}
				if part.Cause == nil {
					part.Cause = cause
				}
				if whole.Cause == nil {
					whole.Cause = cause
				}
			}
			runs[k] = Run{Nodes: nodes, Node: k, Started: testTime, Attempts: []AttemptRecord{part}}
		}
		rnd.Shuffle(nodes, func(i, j int) { runs[i], runs[j] = runs[j], runs[i] })
		got := merge(runs).Attempts[0]
		slices.Sort(got.Failed[min(1, len(got.Failed)):]) // the cause is first, the others come as they are read
		if diff := cmp.Diff(whole, got); diff != "" {
			t.Errorf("seed %d (-want +got):\n%s", seed, diff)
		}
	}
}

func TestReadLimits(t *testing.T) {
	dir := t.TempDir()
	d, err := makeFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	mustWrite(t, dir+"/file", strings.Repeat("x", 10))
	if text, err := d.read("file", 10); len(text) != 10 || err != nil {
		t.Errorf("%q, %v", text, err)
	}
	_, err = d.read("file", 9)
	wantError(t, err, "more than 9 bytes")
	_, err = readFile(dir, 9)
	wantError(t, err, "no regular file")
}
