package openwork

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"lenslaunch/journal"
)

func texts(list []attribute.KeyValue) (all []string) {
	for _, kv := range list {
		all = append(all, string(kv.Key)+"="+kv.Value.String()+" "+kv.Value.Type().String())
	}
	slices.Sort(all)
	return all
}

// withoutResource is a journal in which the resource is not whole.
func withoutResource(b []byte) []byte {
	b = slices.Clone(b)
	clear(b[4096:4104])
	return b
}

func TestLook(t *testing.T) {
	var ids []trace.SpanID
	b := written(t, journal.Header{RunID: "run-7", Attempt: 2, Rank: 3, Slots: 8}, nil, func(tracer trace.Tracer) {
		ctx, a := tracer.Start(context.Background(), "train")
		_, b := tracer.Start(ctx, "step", trace.WithSpanKind(trace.SpanKindClient))
		ids = append(ids, a.SpanContext().SpanID(), b.SpanContext().SpanID())
	})
	e := put(t, t.TempDir(), journal.RankName("attempt-2", 3), b)
	w, err := Look(e.Path, Witness{Reason: "rank 3 killed by SIGKILL", Slots: 8})
	if err != nil {
		t.Fatal(err)
	}
	if w.Path != e.Path || w.Group != "attempt-2" || w.Rank != 3 || w.Who() != "rank 3" || w.Pid != os.Getpid() || w.Reason != "rank 3 killed by SIGKILL" {
		t.Errorf("%+v", w)
	}
	if len(w.Spans) != 2 || len(w.Open()) != 2 || w.Torn != 0 || w.Skipped != 0 {
		t.Fatalf("%+v", w)
	}
	outer, inner := w.Spans[0], w.Spans[1]
	if outer.SpanID != ids[0] || inner.SpanID != ids[1] || inner.Parent != ids[0] || outer.TraceID != inner.TraceID || inner.Kind != trace.SpanKindClient {
		t.Errorf("%+v, %+v; ids %v", outer, inner, ids)
	}
}

// The resource is the process's own, with known integers as such; for want of it the one
// that it was started with, and then what the launcher wrote down.
func TestLookResource(t *testing.T) {
	h := journal.Header{RunID: "run-7", Rank: 3, Slots: 4}
	b := written(t, h, []attribute.KeyValue{
		attribute.String("service.name", "llm"), attribute.String("nv.dl.rank", " 3"), attribute.String("mine", "4"), attribute.Int("nv.dl.world_size", 8),
	}, train)
	carrier := []attribute.KeyValue{attribute.String("service.name", "carrier"), attribute.String("nv.dl.rank", "3")}
	for _, test := range []struct {
		name    string
		group   string
		b       []byte
		carrier []attribute.KeyValue
		want    []string
	}{
		{"own", "attempt-0", b, carrier, []string{"mine=4 STRING", "nv.dl.rank=3 INT64", "nv.dl.world_size=8 INT64", "service.name=llm STRING"}},
		{"carrier", "attempt-0", withoutResource(b), carrier, []string{"nv.dl.rank=3 INT64", "service.name=carrier STRING"}},
		{"identity", "attempt-0", withoutResource(b), nil, []string{"nemo.run.id=run-7 STRING", "nv.dl.rank=3 INT64"}},
		{"a launcher has no rank", journal.LauncherGroup, withoutResource(b), nil, []string{
			"nemo.run.id=run-7 STRING", "nv.dl.role=launcher STRING", "service.instance.id=run-7-launcher3 STRING", "service.name=lenslaunch STRING",
		}},
	} {
		w, err := Look(put(t, t.TempDir(), test.group+"/rank-3.spans", test.b).Path, Witness{Carrier: test.carrier})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(test.want, texts(w.Resource)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}

// The end is as it was seen, for the process that was seen; as entered; or the last sign of
// life. It is never before something that the process did.
func TestLookEnd(t *testing.T) {
	b := written(t, journal.Header{Slots: 4}, nil, train)
	at := time.Now().Add(time.Second)
	over := at.Add(time.Minute)
	buried := put(t, t.TempDir(), "attempt-0/rank-0.spans", b)
	if err := journal.Bury(buried.Path, journal.Death{At: at.Add(7), Reason: "entered"}); err != nil {
		t.Fatal(err)
	}
	fresh := put(t, t.TempDir(), "attempt-0/rank-0.spans", b)
	j, err := journal.Read(fresh.Path, journal.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	last := j.LastActivity
	for _, s := range j.Spans {
		for _, did := range []time.Time{s.Start, s.End} {
			if did.After(last) {
				last = did
			}
		}
	}
	for _, test := range []struct {
		name   string
		e      Entry
		w      Witness
		want   time.Time
		reason string
	}{
		{"seen", fresh, Witness{At: at, Over: over, Reason: "seen"}, at, "seen"},
		{"the writer was seen", fresh, Witness{At: at, Pid: os.Getpid(), Over: over}, at, ""},
		{"another was seen", fresh, Witness{At: at, Pid: os.Getpid() + 1, Over: over}, over, ""},
		{"not seen", fresh, Witness{Over: over}, last, ""},
		{"seen too early", fresh, Witness{At: last.Add(-time.Hour), Over: over}, last, ""},
		{"entered", buried, Witness{Over: over}, at.Add(7), "entered"},
		{"seen and entered", buried, Witness{At: at, Over: over, Reason: "seen"}, at, "seen"},
		{"seen, and the reason entered", buried, Witness{At: at, Over: over}, at, "entered"},
	} {
		w, err := Look(test.e.Path, test.w)
		if err != nil {
			t.Fatal(err)
		}
		if !w.End.Equal(test.want) || w.Reason != test.reason {
			t.Errorf("%s: %v %q, want %v %q", test.name, w.End, w.Reason, test.want, test.reason)
		}
	}
	// What starts when nothing was left that could write never was.
	w, err := Look(fresh.Path, Witness{Over: j.Spans[0].Start.Add(-1)})
	if err != nil || len(w.Spans) != 0 || w.Torn != 3 {
		t.Errorf("%d spans, %d torn, %v", len(w.Spans), w.Torn, err)
	}
}

// A process whose clock was ahead, or that made an end up, did not live until then: what
// is open would last as long.
func TestEndIsNotInTheFuture(t *testing.T) {
	at := time.Now()
	over := at.Add(time.Second)
	for _, test := range []struct{ ended, want time.Time }{
		{at.Add(-time.Minute), at}, {at.Add(time.Millisecond), at.Add(time.Millisecond)}, {over, over}, {over.Add(1), at}, {at.Add(time.Hour), at},
	} {
		w := Work{Spans: []journal.Span{{Start: at.Add(-time.Hour)}, {Start: at.Add(-time.Hour), End: test.ended}}}
		if w.endAt(at, over); !w.End.Equal(test.want) {
			t.Errorf("ended %v after it was seen to: %v, want %v", test.ended.Sub(at), w.End.Sub(at), test.want.Sub(at))
		}
	}
}

func TestLookRefuses(t *testing.T) {
	dir := t.TempDir()
	b := written(t, journal.Header{Slots: 1}, nil, idle)
	version := slices.Clone(b)
	version[8] = 9
	link := put(t, dir, "attempt-0/rank-9.spans", nil).Path + ".link"
	if err := os.Symlink(put(t, dir, "attempt-0/rank-0.spans", b).Path, link); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		link: "symbolic link", dir + "/missing": "no such file",
		put(t, dir, "attempt-0/rank-1.spans", []byte("garbage")).Path: "no span journal",
		put(t, dir, "attempt-0/rank-2.spans", version).Path:           "version 9",
	} {
		if _, err := Look(path, Witness{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", filepath.Base(path), err, want)
		}
	}
}

func TestRemove(t *testing.T) {
	dir := t.TempDir()
	a, b := put(t, dir, "attempt-0/rank-0.spans", nil), put(t, dir, "attempt-0/rank-1.spans", nil)
	if err := Remove(a.Path); err != nil || exists(t, a.Path) || !exists(t, b.Path) {
		t.Error(err)
	}
	for range 2 { // the second time it is not there
		if err := Remove(b.Path); err != nil || exists(t, filepath.Dir(b.Path)) || !exists(t, journal.Folder(dir)) {
			t.Error(err)
		}
	}
	full := filepath.Join(dir, "full")
	if err := os.MkdirAll(filepath.Join(full, "x"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := Remove(full); err == nil {
		t.Error("a directory was removed")
	}
}

// Any bytes are whole spans, none of which begins after the end, or an error. The changes
// to a good journal are small, or a fuzzer would spend its time on making them so.
func FuzzLook(f *testing.F) {
	good := written(f, journal.Header{RunID: "r", Slots: 3}, []attribute.KeyValue{attribute.String("nv.dl.rank", "1")}, train)
	f.Add(uint16(len(good)), uint16(0), []byte{})
	f.Add(uint16(len(good)), uint16(4096), make([]byte, 8))
	f.Add(uint16(20480+256), uint16(20480), []byte{2})
	f.Add(uint16(0), uint16(0), []byte("garbage"))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, size, at uint16, change []byte) {
		b := slices.Clone(good[:min(int(size), len(good))])
		if len(b) == 0 {
			b = change
		} else {
			copy(b[min(int(at), len(b)):], change)
		}
		w, err := Look(put(t, dir, "attempt-0/rank-0.spans", b).Path, Witness{Reason: "x"})
		if err != nil {
			return
		}
		if len(w.Resource) == 0 || len(w.Spans)+w.Torn > 3 {
			t.Fatalf("%+v", w)
		}
		for _, s := range w.Spans {
			if s.Start.After(w.End) || !s.TraceID.IsValid() || !s.SpanID.IsValid() {
				t.Fatalf("%+v, end %v", s, w.End)
			}
		}
		Tree(w.Spans, w.End)
		Doing(w.Spans)
	})
}
