package rundir

import (
	"bytes"
	"fmt"
	"testing"
	"time"
)

// benchDir is a run of 512 ranks.
func benchDir(b *testing.B) (*Dir, *Attempt) {
	b.Helper()
	d, err := Open(Options{Dir: b.TempDir(), Warn: func(err error) { b.Error(err) }})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = d.Close() })
	var ranks []RankInfo
	for rank := range 512 {
		ranks = append(ranks, RankInfo{Rank: rank, Local: rank})
	}
	a, err := d.Begin(BeginInfo{Ranks: ranks})
	if err != nil {
		b.Fatal(err)
	}
	return d, a
}

// BenchmarkEvent is the cost of one event in the launcher.
func BenchmarkEvent(b *testing.B) {
	d, _ := benchDir(b)
	rank := 3
	for b.Loop() {
		if err := d.Event(Event{Kind: RankStarted, Attempt: "attempt-0", Rank: &rank, Local: &rank, Pid: 4711}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkUpdate is a change of run.json with 512 ranks that somebody waits for.
func BenchmarkUpdate(b *testing.B) {
	d, _ := benchDir(b)
	for b.Loop() {
		if err := d.Update(func(r *Run) { r.Ended = time.Now() }); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkStart512 is what a start of 512 ranks costs the launcher here.
func BenchmarkStart512(b *testing.B) {
	d, a := benchDir(b)
	r := NewRecorder(d)
	r.AttemptBegan(AttemptStart{At: time.Now(), Name: a.Name()})
	for b.Loop() {
		for rank := range 512 {
			r.RankStarted(RankStart{At: time.Now(), Rank: rank, Local: rank, Pid: rank + 1})
		}
	}
	r.Close()
}

// BenchmarkLog is the price of the size cap, beside a plain file.
func BenchmarkLog(b *testing.B) {
	text := bytes.Repeat([]byte(fmt.Sprintf("%099d\n", 0)), 640)
	for _, capped := range []bool{false, true} {
		b.Run(map[bool]string{false: "plain", true: "capped"}[capped], func(b *testing.B) {
			_, a := benchDir(b)
			w, err := a.Log(0, Out, 0, 1)
			if capped {
				w, err = a.Log(0, Out, 8<<20, 3)
			}
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				if _, err := w.Write(text); err != nil {
					b.Fatal(err)
				}
				if !capped {
					_ = w.(*rankLog).file.Truncate(0) // or it would fill the disk
				}
			}
			_ = w.Close()
		})
	}
}
