package launcher

import (
	"context"
	"errors"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"
	"go.opentelemetry.io/otel/attribute"

	"lenslaunch/carrier"
	"lenslaunch/detect"
	"lenslaunch/internal/ledger"
	"lenslaunch/internal/logmux"
	"lenslaunch/internal/port"
	"lenslaunch/ranks"
)

// patience is how long a test waits for what must happen. It is long, because it is
// spent only by a test that fails.
const patience = 60 * time.Second

// draft is what a test changes before a plan is made of it. It begins as the
// command line leaves it for `lenslaunch --nproc N --run-id run-7 -- PROGRAM`.
type draft struct {
	Config
	World ranks.World
	Facts Facts
}

func newDraft(t *testing.T, n int) *draft {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return &draft{
		Config: Config{
			Command: []string{program}, Env: map[string]string{"PATH": "/usr/bin:/bin", "TMPDIR": t.TempDir()},
			Role: "trainer", RunID: "run-7", PortRange: port.Default(),
			Policy:  Policy{Delay: time.Second, DelayMax: time.Minute, NoRestartOn: exitSet(t, "2,126,127")},
			Stop:    Ladder{Rungs: []Rung{{Signal: syscall.SIGTERM}}, Kill: 20 * time.Second},
			Restop:  15 * time.Second,
			Forward: []syscall.Signal{syscall.SIGUSR1, syscall.SIGUSR2},
			Output:  Output{Mode: OutputPrefix, Prefix: defaultPrefix(), Shown: func(int, int) bool { return true }, Stdin: -1},
		},
		World: ranks.World{Nodes: 1, LocalSize: n, MasterAddr: "127.0.0.1"},
		Facts: Facts{Host: detect.Host{Hostname: func() (string, error) { return "node-a", nil }}, CPUs: 8, UID: os.Getuid()},
	}
}

// with adds variables, as KEY=VALUE, to the launcher's environment.
func (d *draft) with(variables ...string) *draft {
	for _, v := range variables {
		key, text, _ := strings.Cut(v, "=")
		d.Env[key] = text
	}
	return d
}

// plan makes the plan, which must be possible.
func (d *draft) plan(t *testing.T) *Plan {
	t.Helper()
	p, err := NewPlan(context.Background(), d.Config, d.World, d.Facts)
	if err != nil {
		t.Fatalf("NewPlan: %v", err)
	}
	return p
}

// refused makes the plan, which must not be possible, and returns why.
func (d *draft) refused(t *testing.T) *Failure {
	t.Helper()
	_, err := NewPlan(context.Background(), d.Config, d.World, d.Facts)
	var failure *Failure
	if !errors.As(err, &failure) {
		t.Fatalf("NewPlan: %v (%T), want a *Failure", err, err)
	}
	if strings.Contains(failure.Error(), "\n") {
		t.Errorf("message of several lines: %v", failure)
	}
	return failure
}

// worker is what a local rank gets in an attempt.
func worker(t *testing.T, p *Plan, local int, a Attempt) Worker {
	t.Helper()
	w, err := p.Worker(local, a)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// environment is what the worker's process sees: the launcher's environment with
// what the launcher changes, and with the carrier.
func environment(p *Plan, w Worker) map[string]string {
	env := w.env(p.Env)
	env[carrier.Variable], _ = carrier.Format(w.Carrier)
	return env
}

// entries are a carrier's entries as they are written, in order.
func entries(list []attribute.KeyValue) []string {
	text, _ := carrier.Format(list)
	if text == "" {
		return nil
	}
	return strings.Split(text, ",")
}

// entry is what a carrier says of a key, "(none)" if nothing.
func entry(list []attribute.KeyValue, key string) string {
	for _, e := range entries(list) {
		if name, text, _ := strings.Cut(e, "="); name == key {
			return text
		}
	}
	return "(none)"
}

// derived is a UUIDv5 in the URL namespace: how the identity specification derives.
func derived(name string) string {
	return uuid.NewSHA1(uuid.NameSpaceURL, []byte(name)).String()
}

func itoa(n int) string { return strconv.Itoa(n) }

// countedAs is an attempt with this number, as a ledger counts it.
func countedAs(n int) ledger.Attempt { return ledger.Attempt{Number: int64(n)} }

func defaultPrefix() logmux.Template {
	t, err := logmux.ParseTemplate(logmux.DefaultTemplate)
	if err != nil {
		panic(err)
	}
	return t
}
