package openwork

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/trace"

	"lenslaunch/journal"
)

// exported collects what Recover exports, as "rank 3: a b".
type exported struct {
	err  error
	work []Work
}

func (e *exported) export(_ context.Context, work []Work) error {
	if e.err == nil {
		e.work = append(e.work, work...)
	}
	return e.err
}

func (e *exported) list() (all []string) {
	for _, w := range e.work {
		all = append(all, w.Who()+": "+strings.Join(names(w.Spans), " "))
	}
	return all
}

func listed(t *testing.T, dir string) []Entry {
	t.Helper()
	entries, err := List(dir)
	if err != nil {
		t.Fatal(err)
	}
	return entries
}

func trained(t *testing.T, rank int) []byte {
	t.Helper()
	return written(t, journal.Header{RunID: "run", Rank: rank, Slots: 4}, nil, train)
}

// What is left comes out and goes; what is in use, or is no journal, stays and is told.
func TestRecover(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "attempt-0/rank-3.spans", trained(t, 3))
	put(t, dir, "attempt-10/rank-0.spans", trained(t, 0))
	empty := put(t, dir, "attempt-0/rank-1.spans", written(t, journal.Header{Rank: 1, Slots: 1}, nil, idle))
	put(t, dir, "launcher/1-a.spans", trained(t, 0))
	garbage := put(t, dir, "attempt-0/rank-5.spans", []byte("garbage"))
	link := journal.Path(dir, "attempt-0/rank-6.spans")
	if err := os.Symlink(garbage.Path, link); err != nil {
		t.Fatal(err)
	}
	busy, err := journal.Create(dir, journal.RankName("attempt-0", 2), journal.Header{Rank: 2, Slots: 4})
	if err != nil {
		t.Fatal(err)
	}
	writer := start(t, "write", busy)
	entries := append(listed(t, dir), Entry{Path: journal.Path(dir, "attempt-0/rank-7.spans")}) // taken by another process

	var got exported
	var noted []string
	r, err := Recover(t.Context(), entries, Options{Export: got.export, Note: func(w Work) {
		noted = append(noted, fmt.Sprint(w.Who(), " ", exists(t, w.Path)))
	}})
	if err != nil || r.Processes != 3 || r.Spans != 9 || len(r.Unreadable) != 2 || !cmp.Equal(r.InUse, []string{busy}) {
		t.Errorf("%+v, %v", r, err)
	}
	if diff := cmp.Diff([]string{"rank 3: train step load", "rank 0: train step load", "the launcher: train step load"}, got.list()); diff != "" {
		t.Errorf("exported (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"rank 3 true", "rank 0 true", "the launcher true"}, noted); diff != "" {
		t.Errorf("noted (-want +got):\n%s", diff)
	}
	if exists(t, empty.Path) || exists(t, journal.Path(dir, "attempt-10")) || !exists(t, garbage.Path) || !exists(t, link) || !exists(t, busy) {
		t.Error("the wrong journals are left")
	}
	if reason := got.work[0].Reason; !strings.HasPrefix(reason, "rank 3 ended with its launcher; when is not known") {
		t.Errorf("reason %q", reason)
	}

	// When the writer has gone, its spans come out too, and the rest a second time is nothing.
	writer.kill()
	r, err = Recover(t.Context(), listed(t, dir), Options{Export: got.export})
	if err != nil || r.Processes != 1 || r.Spans != 1 || len(r.InUse) != 0 || len(got.work) != 4 || got.work[3].Pid != writer.pid {
		t.Errorf("%+v, %v", r, err)
	}
}

// A failing export leaves all journals, and in them what is known now of the end; the next
// try needs no knowledge of its own.
func TestRecoverFails(t *testing.T) {
	dir := t.TempDir()
	buried := put(t, dir, "attempt-0/rank-0.spans", trained(t, 0))
	put(t, dir, "attempt-0/rank-1.spans", trained(t, 1))
	at := time.Now()
	if err := journal.Bury(buried.Path, journal.Death{At: at.Add(-time.Hour), Reason: "rank 0 killed by SIGSEGV"}); err != nil {
		t.Fatal(err)
	}
	refused := exported{err: errors.New("refused")}
	r, err := Recover(t.Context(), listed(t, dir), Options{At: at, Export: refused.export, Note: func(w Work) { t.Errorf("noted %s", w.Who()) }})
	if !errors.Is(err, refused.err) || !strings.HasPrefix(err.Error(), "cannot export what was open") || r.Processes != 0 || len(listed(t, dir)) != 2 {
		t.Errorf("%+v, %v", r, err)
	}
	var got exported
	if _, err := Recover(t.Context(), listed(t, dir), Options{At: at.Add(time.Hour), Export: got.export}); err != nil {
		t.Fatal(err)
	}
	if len(got.work) != 2 || len(listed(t, dir)) != 0 {
		t.Fatalf("%q, left %v", got.list(), listed(t, dir))
	}
	// An end that was entered too early is not before what the process did.
	if w := got.work[0]; w.Reason != "rank 0 killed by SIGSEGV" || w.End.Before(w.Spans[2].End) || !w.End.Before(at) {
		t.Errorf("%v %q", w.End, w.Reason)
	}
	if w := got.work[1]; w.Reason != "rank 1 ended with its launcher" || !w.End.Equal(at) {
		t.Errorf("%v %q, want %v", w.End, w.Reason, at)
	}
}

// A worker goes on for a while after its launcher: no span of it begins after its end.
func TestRecoverAtTheLaunchersEnd(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "attempt-0/rank-0.spans", trained(t, 0))
	var got exported
	if _, err := Recover(t.Context(), listed(t, dir), Options{At: time.Unix(1, 0), Export: got.export}); err != nil {
		t.Fatal(err)
	}
	for _, s := range got.work[0].Spans {
		if s.Start.After(got.work[0].End) {
			t.Errorf("%s starts after the end", s.Name)
		}
	}
}

// Much is exported in parts: what arrived before a failure is counted and gone.
func TestRecoverInBatches(t *testing.T) {
	dir := t.TempDir()
	many := func(tracer trace.Tracer) {
		for range batchSpans {
			tracer.Start(context.Background(), "s")
		}
	}
	for rank := range 3 {
		put(t, dir, journal.RankName("attempt-0", rank), written(t, journal.Header{Rank: rank, Slots: batchSpans}, nil, many))
	}
	calls := 0
	ctx, cancel := context.WithCancelCause(t.Context())
	stopped := errors.New("stopped")
	at := time.Now().Add(time.Hour)
	r, err := Recover(ctx, listed(t, dir), Options{At: at, Export: func(ctx context.Context, work []Work) error {
		if calls++; calls == 2 {
			cancel(stopped)
			return ctx.Err()
		}
		return nil
	}})
	if !errors.Is(err, stopped) || calls != 2 || r.Processes != 1 || r.Spans != batchSpans || len(listed(t, dir)) != 2 {
		t.Errorf("%+v, %v after %d calls", r, err, calls)
	}
	for _, e := range listed(t, dir) { // also that which was not tried
		if w, err := Look(e.Path, Witness{}); err != nil || w.Reason == "" {
			t.Errorf("%s: %q, %v", e.Path, w.Reason, err)
		}
	}
}
