package launcher

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lenslaunch/internal/ledger"
	"lenslaunch/internal/logmux"
)

// launched is a run in progress: this package's Run with real processes.
type launched struct {
	t        *testing.T
	plan     *Plan
	dir      string // for gates and for what workers write
	mark     string // in every worker's environment
	signals  chan Signal
	out, err console // lines
	events   *recording[Event]
	ended    chan int
	before   []string // the process's environment
}

// launch begins a run of n ranks that follow the script. change may change what is
// asked for; the environment is the process's, so a test sets variables of the
// launcher by t.Setenv before.
func launch(t *testing.T, n int, script string, change func(*draft)) *launched {
	t.Helper()
	d := newDraft(t, n)
	l := newLaunched(t, d, script)
	if change != nil {
		change(d)
	}
	l.plan = d.plan(t)
	if err := l.plan.PrepareLedger(); err != nil {
		t.Fatal(err)
	}
	l.begin(l.console())
	return l
}

// newLaunched makes a draft that of a real run, which the caller begins.
func newLaunched(t *testing.T, d *draft, script string) *launched {
	t.Helper()
	l := &launched{
		t: t, dir: t.TempDir(), mark: strconv.Itoa(os.Getpid()) + "-" + t.Name(), signals: make(chan Signal),
		out: console{newRecording[string]()}, err: console{newRecording[string]()}, events: newRecording[Event](), ended: make(chan int, 1),
	}
	t.Setenv("TMPDIR", d.Env["TMPDIR"])
	d.Env = map[string]string{}
	d.with(os.Environ()...)
	d.Output.Mode = OutputPrefix
	d.SetEnv = []EnvVar{
		{scriptVariable, script}, {dirVariable, l.dir}, {markVariable, l.mark},
		{"GORACE", "atexit_sleep_ms=0"}, // a worker under the race detector ends at once
	}
	return l
}

// console is the console that records.
func (l *launched) console() Console {
	return Console{Out: logmux.NewSink(l.out, nil), Err: logmux.NewSink(l.err, nil)}
}

func (l *launched) begin(console Console, more ...Subscriber) {
	l.before = os.Environ()
	subscribers := append([]Subscriber{l.events.add}, more...)
	go func() {
		code, err := Run(l.plan, console, l.signals, subscribers...)
		if err != nil {
			l.t.Errorf("Run: %v", err)
		}
		l.ended <- code
	}()
}

// wait returns the exit code, after it has checked what every run promises.
func (l *launched) wait() int {
	l.t.Helper()
	var code int
	select {
	case code = <-l.ended:
	case <-time.After(patience):
		l.t.Fatalf("the run does not end; events: %v", l.events.all())
	}
	if diff := cmp.Diff(l.before, os.Environ()); diff != "" {
		l.t.Errorf("the launcher's own environment (-before +after):\n%s", diff)
	}
	if left := processesWith(markVariable + "=" + l.mark); len(left) > 0 {
		l.t.Errorf("processes left: %v", left)
	}
	if left, _ := filepath.Glob(os.Getenv("TMPDIR") + "/lenslaunch-errors-*"); len(left) > 0 {
		l.t.Errorf("error directories left: %v", left)
	}
	l.checkEvents(code)
	return code
}

// checkEvents: every worker that started has ended, and the last event is the end.
func (l *launched) checkEvents(code int) {
	l.t.Helper()
	all := l.events.all()
	started, gone := len(pick[WorkerStarted](all)), len(pick[WorkerEnded](all))
	if started != gone {
		l.t.Errorf("%d workers started and %d ended", started, gone)
	}
	if last, ok := all[len(all)-1].(RunEnded); !ok || last.Code != code {
		l.t.Errorf("exit code %d, last event %+v", code, all[len(all)-1])
	}
}

// line waits until the console has shown these lines, in any order.
func (l *launched) line(want ...string) {
	l.t.Helper()
	l.out.until(l.t, fmt.Sprintf("lines %q", want), func(lines []string) bool {
		return !slices.ContainsFunc(want, func(w string) bool { return !slices.Contains(lines, w) })
	})
}

// gate makes a gate for a rank to wait at.
func (l *launched) gate(name string) {
	l.t.Helper()
	if err := syscall.Mkfifo(filepath.Join(l.dir, name), 0o600); err != nil {
		l.t.Fatal(err)
	}
}

// open lets the rank at the gate go on; it waits for the rank to come there.
func (l *launched) open(name string) {
	l.t.Helper()
	f, err := os.OpenFile(filepath.Join(l.dir, name), os.O_WRONLY, 0)
	if err != nil {
		l.t.Fatal(err)
	}
	f.Close()
}

// signal sends a signal to the launcher.
func (l *launched) signal(sig syscall.Signal) {
	l.t.Helper()
	select {
	case l.signals <- Signal{Number: sig}:
	case <-time.After(patience):
		l.t.Fatalf("the launcher does not take %v", sig)
	}
}

// environ is the environment that a rank saw in an attempt.
func (l *launched) environ(rank, attempt int) map[string]string {
	l.t.Helper()
	text, err := os.ReadFile(filepath.Join(l.dir, "env-"+strconv.Itoa(rank)+"-"+strconv.Itoa(attempt)))
	if err != nil {
		l.t.Fatal(err)
	}
	env := map[string]string{}
	for entry := range strings.SplitSeq(string(text), "\x00") {
		key, value, _ := strings.Cut(entry, "=")
		if _, twice := env[key]; twice {
			l.t.Errorf("rank %d has %s twice", rank, key)
		}
		env[key] = value
	}
	return env
}

// history is what the run's ledger says.
func (l *launched) history() []ledger.Attempt {
	l.t.Helper()
	book, err := ledger.Open(l.plan.LedgerDir, l.plan.LedgerName)
	if err != nil {
		l.t.Fatal(err)
	}
	h, err := book.Read()
	if err != nil {
		l.t.Fatal(err)
	}
	return h.Attempts
}

// pick selects the events of one type.
func pick[T Event](all []Event) []T {
	var out []T
	for _, e := range all {
		if e, ok := e.(T); ok {
			out = append(out, e)
		}
	}
	return out
}

// recording is a list that one side writes and the other waits for.
type recording[T any] struct {
	mu      sync.Mutex
	list    []T
	changed chan struct{}
}

func newRecording[T any]() *recording[T] { return &recording[T]{changed: make(chan struct{})} }

func (j *recording[T]) add(x T) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.list = append(j.list, x)
	close(j.changed)
	j.changed = make(chan struct{})
}

func (j *recording[T]) all() []T {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.list)
}

// until waits until the list is as wanted.
func (j *recording[T]) until(t *testing.T, what string, ok func([]T) bool) {
	t.Helper()
	limit := time.After(patience)
	for {
		j.mu.Lock()
		list, changed := slices.Clone(j.list), j.changed
		j.mu.Unlock()
		if ok(list) {
			return
		}
		select {
		case <-changed:
		case <-limit:
			t.Fatalf("no %s in %v", what, list)
		}
	}
}

// console takes whole lines, as logmux writes them.
type console struct{ *recording[string] }

func (c console) Write(p []byte) (int, error) {
	for line := range strings.SplitSeq(strings.TrimSuffix(string(p), "\n"), "\n") {
		c.add(line)
	}
	return len(p), nil
}
