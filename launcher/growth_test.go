package launcher

import (
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"lenslaunch/internal/heartbeat"
	"lenslaunch/internal/logmux"
)

// The growth of a rank's own files is progress, at the time that they tell, as far as
// that can be.
func TestGrown(t *testing.T) {
	looked := time.Unix(1000, 0)
	now := looked.Add(time.Minute)
	ago := func(d time.Duration) time.Time { return now.Add(-d) }
	tests := []struct {
		name     string
		out, err seen
		want     time.Time // zero: it has not grown
	}{
		{name: "nothing new", out: seen{10, time.Second, true}, err: seen{20, time.Second, true}},
		{name: "not seen"},
		{name: "stdout", out: seen{11, 7 * time.Second, true}, err: seen{20, time.Second, true}, want: ago(7 * time.Second)},
		{name: "stderr", out: seen{10, time.Second, true}, err: seen{21, 0, true}, want: now},
		{name: "the later of both", out: seen{11, 9 * time.Second, true}, err: seen{21, 3 * time.Second, true}, want: ago(3 * time.Second)},
		{name: "cut by somebody", out: seen{0, 5 * time.Second, true}, want: ago(5 * time.Second)},
		// Then it was since the last look, nobody knows when.
		{name: "a time before the last look", out: seen{11, time.Hour, true}, want: now},
		{name: "a time to come", out: seen{11, -time.Hour, true}, want: now},
		{name: "just at the last look", out: seen{11, time.Minute, true}, want: looked},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := &watched{outputs: []output{{"out", 10}, {"err", 20}}, looked: looked}
			found := map[string]seen{"out": tt.out, "err": tt.err}
			at, any := w.grown(found, now)
			if any == tt.want.IsZero() || !at.Equal(tt.want) {
				t.Errorf("grown at %v, %v; want %v", at, any, tt.want)
			}
			if _, again := w.grown(found, now); again {
				t.Error("the same look tells of progress twice")
			}
		})
	}
}

// What a file holds before its rank begins is somebody else's.
func TestNewOutputKnowsItsSize(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rank-0.out")
	if err := os.WriteFile(path, []byte("earlier"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if got := newOutput(path, f); got != (output{path, 7}) {
		t.Errorf("%+v", got)
	}
	f.Close()
	if got := newOutput(path, f); got != (output{path, 0}) {
		t.Errorf("of a file that cannot be asked: %+v", got)
	}
}

func TestMeasure(t *testing.T) {
	dir := t.TempDir()
	there, missing := filepath.Join(dir, "there"), filepath.Join(dir, "missing")
	if err := os.WriteFile(there, []byte("123"), 0o600); err != nil {
		t.Fatal(err)
	}
	changed := time.Now().Add(-time.Hour)
	if err := os.Chtimes(there, changed, changed); err != nil {
		t.Fatal(err)
	}
	found := measure([]string{there, missing})
	if s := found[there]; !s.ok || s.size != 3 || s.ago < time.Hour || s.ago > time.Hour+patience {
		t.Errorf("there: %+v", s)
	}
	if s := found[missing]; s.ok {
		t.Errorf("missing: %+v", s)
	}
	if found := measure(nil); found == nil || len(found) != 0 {
		t.Errorf("of nothing: %#v, want an empty answer", found)
	}
}

// disk is what a monitor sees of files.
type disk struct {
	sizes   chan map[string]seen // the answers, in order
	answers chan struct{}        // closed: it answers at once, that nothing has grown; nil: never so
}

func (d disk) measure([]string) map[string]seen {
	select {
	case found := <-d.sizes:
		return found
	case <-d.answers:
		return map[string]seen{}
	}
}

// watchFiles starts a monitor of one rank that writes the file "out".
func watchFiles(t *testing.T, timeout time.Duration, d disk) (*monitor, <-chan input) {
	t.Helper()
	inputs := make(chan input)
	m := newMonitor(Config{Hang: Hang{Timeout: timeout}}, 1, "", "", inputs)
	m.measure = d.measure
	go m.run()
	m.tell(news{at: time.Now(), begin: &watched{pulse: new(logmux.Pulse), outputs: []output{{path: "out"}}}})
	return m, inputs
}

// A rank that only its files show hangs when they stop growing, and not before.
func TestFilesThatGrowAreProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const timeout = time.Minute
		d := disk{sizes: make(chan map[string]seen, 2), answers: make(chan struct{})}
		d.sizes <- map[string]seen{"out": {size: 1, ago: 10 * time.Second, ok: true}}
		d.sizes <- map[string]seen{"out": {size: 2, ago: 20 * time.Second, ok: true}}
		// Both are taken before this: a channel that is closed might be taken first.
		began := time.Now()
		go func() {
			<-time.After(timeout + timeout - 5*time.Second)
			close(d.answers)
		}()
		m, inputs := watchFiles(t, timeout, d)
		defer m.close()
		in, ok := (<-inputs).(inHang)
		// Looked at after 60 s: it grew at 50 s; after 110 s: at 90 s; so until 150 s.
		if want := 150 * time.Second; !ok || in.at.Sub(began) != want || in.silent != timeout {
			t.Errorf("judged after %v: %+v", in.at.Sub(began), in)
		}
	})
}

// A disk that does not answer holds neither the monitor nor whoever tells it something,
// and nobody is judged by it.
func TestDiskThatDoesNotAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const timeout = time.Minute
		d := disk{sizes: make(chan map[string]seen)}
		m, inputs := watchFiles(t, timeout, d)
		defer m.close()
		select {
		case in := <-inputs:
			t.Fatalf("judged without an answer: %+v", in)
		case <-time.After(time.Hour):
		}
		// The monitor hears: another rank begins and ends.
		m.tell(news{local: 1, at: time.Now(), begin: &watched{pulse: new(logmux.Pulse)}})
		m.tell(news{local: 1, ended: true})
		// The answer comes after all: the rank wrote half a minute ago.
		d.sizes <- map[string]seen{"out": {size: 5, ago: timeout / 2, ok: true}}
		go func() { d.sizes <- map[string]seen{} }()
		answered := time.Now()
		if in, ok := (<-inputs).(inHang); !ok || in.at.Sub(answered) != timeout/2 {
			t.Errorf("judged %v after the answer: %+v", in.at.Sub(answered), in)
		}
	})
}

// An answer that comes while the job is suspended judges nobody.
func TestAnswerDuringSuspension(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const timeout = time.Minute
		d := disk{sizes: make(chan map[string]seen)}
		m, inputs := watchFiles(t, timeout, d)
		defer m.close()
		<-time.After(2 * timeout) // it has asked
		m.tell(news{paused: true})
		d.sizes <- map[string]seen{}
		select {
		case in := <-inputs:
			t.Fatalf("judged while suspended: %+v", in)
		case <-time.After(time.Hour):
		}
		go func() { d.sizes <- map[string]seen{} }()
		continued := time.Now()
		m.tell(news{at: continued, fresh: true})
		if in, ok := (<-inputs).(inHang); !ok || in.at.Sub(continued) != timeout {
			t.Errorf("judged %v after the suspension: %+v", in.at.Sub(continued), in)
		}
	})
}

// A monitor that is closed while the disk is asked lets the asking end by itself.
func TestAnswerAfterTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := disk{sizes: make(chan map[string]seen)}
		m, _ := watchFiles(t, time.Minute, d)
		<-time.After(2 * time.Minute)
		m.close()
		d.sizes <- map[string]seen{} // and the bubble ends: nobody waits for ever
	})
}

// Ranks without files of their own are judged at once.
func TestNoFilesNothingToAsk(t *testing.T) {
	m := newMonitor(Config{Hang: Hang{Timeout: time.Minute}}, 1, "", "", nil)
	m.watches[0] = &watched{Watch: heartbeat.New(time.Minute, 0, time.Now()), pulse: new(logmux.Pulse)}
	if m.ask() || m.asking {
		t.Error("it asks a disk for nothing")
	}
}
