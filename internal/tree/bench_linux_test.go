package tree

import (
	"testing"

	"lenslaunch/internal/proc"
)

// BenchmarkFind is one look at all processes of the machine it runs on, of which none
// is the attempt's: what a sweep costs at a normal end. The metric says how many
// processes there were; most that are older than the test cost one read of their
// state, the others also one of their environment.
func BenchmarkFind(b *testing.B) {
	mark, err := NewMark(0)
	if err != nil {
		b.Fatal(err)
	}
	for name, start := range map[string]uint64{"old": mark.Launcher.Start, "all": 0} {
		b.Run(name, func(b *testing.B) {
			m := mark
			m.Launcher.Start = start
			f := Finder{Root: mark.Launcher, Mark: m}
			for b.Loop() {
				if list := f.Find(); len(list) > 0 {
					b.Fatalf("found %v", list)
				}
			}
			all, err := proc.All()
			if err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(len(all)), "processes")
		})
	}
}
