package bench

import (
	"os"
	"os/exec"
	"testing"
	"time"
)

// spent is what a command took.
type spent struct{ wall, cpu time.Duration }

// run runs a command that must succeed.
func run(b *testing.B, d destination, argv ...string) spent {
	b.Helper()
	w, done := d.open(b)
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stdout, cmd.Stderr = w, os.Stderr
	cmd.Env = append(os.Environ(), "OMP_NUM_THREADS=1") // torchrun warns of it otherwise
	begin := time.Now()
	if err := cmd.Run(); err != nil {
		b.Fatalf("%v: %v", argv, err)
	}
	s := spent{time.Since(begin), cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()}
	done()
	return s
}

// contest runs the launcher and what it is measured against in turn, each time in the
// opposite order: what runs first finds another machine than what runs last.
type contest struct {
	bytes  int // that the ranks write together
	names  []string
	runs   []func() spent // the first is the launcher
	ratios map[string][]float64
	speed  []float64 // MB/s of the launcher
}

func (c *contest) add(name string, run func() spent) {
	c.names, c.runs = append(c.names, name), append(c.runs, run)
}

// round runs each once. The ratios are other / ours: above 1 the launcher is better.
func (c *contest) round() {
	took := make([]spent, len(c.runs))
	for i := range c.runs {
		if len(c.speed)%2 == 1 {
			i = len(c.runs) - 1 - i
		}
		took[i] = c.runs[i]()
	}
	if c.ratios == nil {
		c.ratios = map[string][]float64{}
	}
	c.speed = append(c.speed, float64(c.bytes)/1e6/took[0].wall.Seconds())
	for i, name := range c.names[1:] {
		wall, cpu := "x-"+name, "x-"+name+"-cpu"
		c.ratios[wall] = append(c.ratios[wall], float64(took[i+1].wall)/float64(took[0].wall))
		c.ratios[cpu] = append(c.ratios[cpu], float64(took[i+1].cpu)/float64(took[0].cpu))
	}
}

// report gives the medians.
func (c *contest) report(b *testing.B) {
	b.Helper()
	b.ReportMetric(0, "ns/op") // means nothing here
	b.ReportMetric(float64(len(c.speed)), "pairs")
	b.ReportMetric(median(c.speed), "MB/s")
	for name, ratios := range c.ratios {
		b.ReportMetric(median(ratios), name)
	}
}
