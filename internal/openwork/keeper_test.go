package openwork

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lenslaunch/journal"
)

// collector is an exporter that the test answers for, call by call.
type collector struct {
	calls   chan []string // the names of what is exported
	answers chan error
}

func newCollector() *collector {
	return &collector{calls: make(chan []string), answers: make(chan error)}
}

func (c *collector) export(ctx context.Context, work []Work) error {
	names := []string{}
	for _, w := range work {
		names = append(names, filepath.Base(w.Path))
	}
	select {
	case c.calls <- names:
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case err := <-c.answers:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// expect waits for an export, checks it and answers.
func (c *collector) expect(t *testing.T, answer error, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, <-c.calls); diff != "" {
		t.Errorf("exported (-want +got):\n%s", diff)
	}
	c.answers <- answer
}

// work is that of a process of so many spans, with a file in the place of its journal.
func work(t *testing.T, dir, name string, spans int) Work {
	t.Helper()
	path := filepath.Join(dir, "attempt-0", name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	return Work{Path: path, Spans: make([]journal.Span, spans)}
}

func exists(t *testing.T, path string) bool {
	t.Helper()
	_, err := os.Lstat(path)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return err == nil
}

func over() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

// A journal is there until its spans have arrived, and no longer.
func TestKeeperRemovesWhatHasArrived(t *testing.T) {
	c, dir := newCollector(), t.TempDir()
	k := NewKeeper(c.export)
	a := work(t, dir, "a", 1)
	k.Add(a)
	if got := <-c.calls; len(got) != 1 || !exists(t, a.Path) {
		t.Errorf("exported %v, its journal is there: %v", got, exists(t, a.Path))
	}
	c.answers <- nil
	if left := k.Close(t.Context()); left != (Left{}) {
		t.Errorf("%+v", left)
	}
	if exists(t, a.Path) || exists(t, filepath.Dir(a.Path)) {
		t.Error("the journal or its empty directory is left")
	}
	k.Close(t.Context()) // once more is harmless
}

// What did not arrive comes again, in the order in which it came, with what is new.
func TestKeeperTriesAgain(t *testing.T) {
	c, dir := newCollector(), t.TempDir()
	k := NewKeeper(c.export)
	refused := errors.New("refused")
	k.Add(work(t, dir, "a", 2))
	c.expect(t, refused, "a")
	k.Add(work(t, dir, "b", 1), work(t, dir, "c", 1))
	c.expect(t, refused, "a", "b", "c")
	k.Add(work(t, dir, "d", 1))
	c.expect(t, nil, "a", "b", "c", "d")
	k.Add(work(t, dir, "e", 1))
	c.expect(t, refused, "e")

	closed := make(chan Left)
	go func() { closed <- k.Close(context.Background()) }()
	c.expect(t, nil, "e")
	if left := <-closed; left != (Left{}) {
		t.Errorf("%+v", left)
	}
	if exists(t, filepath.Join(dir, "attempt-0")) {
		t.Error("something is left")
	}
}

func TestKeeperSaysWhatStays(t *testing.T) {
	c, dir := newCollector(), t.TempDir()
	k := NewKeeper(c.export)
	refused := errors.New("refused")
	k.Add(work(t, dir, "a", 2), work(t, dir, "b", 3))
	c.expect(t, refused, "a", "b")
	closed := make(chan Left)
	go func() { closed <- k.Close(context.Background()) }()
	c.expect(t, refused, "a", "b")
	if left, want := <-closed, (Left{Processes: 2, Spans: 5, Cause: refused}); left != want {
		t.Errorf("%+v, want %+v", left, want)
	}
	if !exists(t, filepath.Join(dir, "attempt-0/a")) || !exists(t, filepath.Join(dir, "attempt-0/b")) {
		t.Error("a journal of what did not arrive is gone")
	}
}

// An export that hangs is given up when the time of Close is over, and only then.
func TestKeeperGivesUp(t *testing.T) {
	c, dir := newCollector(), t.TempDir()
	gaveUp := make(chan error, 1)
	k := NewKeeper(func(ctx context.Context, w []Work) error {
		err := c.export(ctx, w)
		gaveUp <- err
		return err
	})
	a := work(t, dir, "a", 4)
	k.Add(a)
	<-c.calls // it hangs
	select {
	case err := <-gaveUp:
		t.Fatalf("given up before Close: %v", err)
	default:
	}
	if left, want := k.Close(over()), (Left{Processes: 1, Spans: 4, Cause: context.Canceled}); left != want {
		t.Errorf("%+v, want %+v", left, want)
	}
	if err := <-gaveUp; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	<-k.ended // nothing tries again
	if !exists(t, a.Path) {
		t.Error("the journal is gone")
	}
}

// An export that is on its way when Close begins may still arrive.
func TestKeeperWaitsForAnExport(t *testing.T) {
	c, dir := newCollector(), t.TempDir()
	k := NewKeeper(c.export)
	k.Add(work(t, dir, "a", 1))
	<-c.calls
	closed := make(chan Left)
	go func() { closed <- k.Close(context.Background()) }()
	<-k.closing
	c.answers <- nil
	if left := <-closed; left != (Left{}) || exists(t, filepath.Join(dir, "attempt-0/a")) {
		t.Errorf("%+v", left)
	}
}

// A journal of a process that had nothing open is no reason to ask the exporter, nor to
// speak of it.
func TestKeeperRemovesEmptyJournals(t *testing.T) {
	c, dir := newCollector(), t.TempDir()
	k := NewKeeper(c.export)
	k.Add(work(t, dir, "empty", 0))
	if left := k.Close(t.Context()); left != (Left{}) {
		t.Errorf("%+v", left)
	}
	k = NewKeeper(func(context.Context, []Work) error { return errors.New("refused") })
	k.Add(work(t, dir, "empty too", 0), work(t, dir, "full", 1), work(t, dir, "one more", 0))
	if left := k.Close(t.Context()); left.Processes != 1 || left.Spans != 1 {
		t.Errorf("%+v", left)
	}
	if exists(t, filepath.Join(dir, "attempt-0/empty")) || !exists(t, filepath.Join(dir, "attempt-0/full")) {
		t.Error("the wrong journals are left")
	}
}

func TestKeeperExportsInBatches(t *testing.T) {
	c, dir := newCollector(), t.TempDir()
	k := NewKeeper(c.export)
	k.Add(work(t, dir, "a", batchSpans-1), work(t, dir, "b", 1), work(t, dir, "c", 3*batchSpans), work(t, dir, "d", 1))
	c.expect(t, nil, "a", "b")
	c.expect(t, nil, "c")
	c.expect(t, nil, "d")
	k.Close(t.Context())
}

// While an export hangs, more than any memory should hold comes in: the oldest that waits
// is left to its journals, what is being exported is not touched.
func TestKeeperMemoryIsBounded(t *testing.T) {
	c, dir := newCollector(), t.TempDir()
	k := NewKeeper(c.export)
	const each, n = 1024, 40
	first := work(t, dir, "first", each)
	k.Add(first)
	<-c.calls
	var all []Work
	for i := range n {
		all = append(all, work(t, dir, fmt.Sprint(i), each))
		k.Add(all[i])
		if held := spansIn(k); held > mostSpans+each {
			t.Fatalf("%d spans in memory", held)
		}
	}
	c.answers <- nil // what hung arrives after all
	const kept = mostSpans / each
	for _, w := range all[n-kept:] {
		c.expect(t, nil, filepath.Base(w.Path))
	}
	left := k.Close(t.Context())
	if left.Processes != n-kept || left.Spans != (n-kept)*each || !errors.Is(left.Cause, errTooMuch) {
		t.Errorf("%+v, want %d processes", left, n-kept)
	}
	for i, w := range append(all, first) {
		if exists(t, w.Path) != (i < n-kept) {
			t.Errorf("%s: its journal is there: %v", filepath.Base(w.Path), i >= n-kept)
		}
	}
}

func spansIn(k *Keeper) (n int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, w := range k.waiting {
		n += len(w.Spans)
	}
	return n
}

// Many add at the same time, while exports fail now and then: each arrives once.
func TestKeeperIsConcurrent(t *testing.T) {
	const adders, each = 8, 50
	dir := t.TempDir()
	work(t, dir, "stays", 0) // or the directory could go before the next file is in it
	got := map[string]int{}  // of the keeper's goroutine until Close is back
	calls := 0
	k := NewKeeper(func(_ context.Context, work []Work) error {
		if calls++; calls%3 == 1 {
			return errors.New("refused")
		}
		for _, w := range work {
			got[w.Path]++
		}
		return nil
	})
	var group sync.WaitGroup
	for i := range adders {
		group.Go(func() {
			for j := range each {
				k.Add(work(t, dir, fmt.Sprintf("%d-%d", i, j), 1+j))
			}
		})
	}
	group.Wait()
	left := k.Close(t.Context())
	if left.Processes > 0 { // its last try was one that fails
		t.Logf("%d processes are left", left.Processes)
	}
	if len(got)+left.Processes != adders*each {
		t.Errorf("%d arrived, %d left, of %d", len(got), left.Processes, adders*each)
	}
	for path, n := range got {
		if n != 1 || exists(t, path) {
			t.Errorf("%s came %d times", path, n)
		}
	}
}
