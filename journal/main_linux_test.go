package journal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
	"go.uber.org/goleak"
)

const helperVariable = "JOURNAL_TEST_HELPER"

// TestMain makes the test binary its own worker: behaviours by name, readiness by a
// line on stdout, never by a sleep.
func TestMain(m *testing.M) {
	if behaviour := os.Getenv(helperVariable); behaviour != "" {
		os.Exit(help(behaviour))
	}
	code := m.Run()
	if code == 0 {
		if err := goleak.Find(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// helper is this binary as a worker with a journal.
func helper(t *testing.T, behaviour, path string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), helperVariable+"="+behaviour, Variable+"="+path)
	cmd.Stderr = os.Stderr
	return cmd
}

func help(behaviour string) int {
	switch behaviour {
	case "churn", "churn-wrapped":
		return helpChurn(behaviour == "churn-wrapped")
	case "claim": // says whether it could
		fmt.Println(open(os.Getenv(Variable)))
		return 0
	case "fork":
		return helpFork()
	case "exec":
		return helpExec()
	case "exec-2":
		w := FromEnv()
		tracer := tracer(w)
		for range 10 {
			tracer.Start(context.Background(), "after")
		}
		fmt.Println("ready")
	}
	_, _ = io.Copy(io.Discard, os.Stdin)
	return 0
}

// open is the outcome of an attempt to claim.
func open(path string) string {
	_, err := Open(path)
	switch {
	case err == nil:
		return "claimed"
	case errors.Is(err, ErrClaimed):
		return "refused"
	}
	return err.Error()
}

func tracer(processors ...sdktrace.SpanProcessor) trace.Tracer {
	var options []sdktrace.TracerProviderOption
	for _, p := range processors {
		options = append(options, sdktrace.WithSpanProcessor(p))
	}
	return sdktrace.NewTracerProvider(options...).Tracer("helper")
}

// helpChurn starts and ends spans as fast as it can, below one that stays open, until it
// is killed.
func helpChurn(wrapped bool) int {
	w := FromEnv()
	processors := []sdktrace.SpanProcessor{w}
	if wrapped {
		processors = append(processors, sdktrace.NewBatchSpanProcessor(w.Wrap(tracetest.NewNoopExporter()), sdktrace.WithBatchTimeout(1)))
	}
	tracer := tracer(processors...)
	ctx, outer := tracer.Start(context.Background(), "outer")
	fmt.Println("ready", outer.SpanContext().SpanID())
	for range churners {
		go func() {
			for {
				inner, a := tracer.Start(ctx, "inner")
				_, b := tracer.Start(inner, "child of "+a.SpanContext().SpanID().String())
				b.End()
				a.End()
			}
		}()
	}
	_, _ = io.Copy(io.Discard, os.Stdin)
	return 0
}

const churners = 4

// helpFork opens a span and starts processes that inherit the variable, one of which
// outlives it.
func helpFork() int {
	tracer := tracer(FromEnv())
	ctx, _ := tracer.Start(context.Background(), "outer")
	for range 3 {
		_, s := tracer.Start(ctx, "starting a child")
		child := exec.Command("/proc/self/exe")
		child.Env = append(os.Environ(), helperVariable+"=claim")
		out, err := child.Output()
		fmt.Print(string(out))
		if err != nil {
			return 9
		}
		s.End()
	}
	fmt.Println(open(os.Getenv(Variable))) // a second writer of the same process
	tracer.Start(ctx, "inner")
	fmt.Println("ready")
	_, _ = io.Copy(io.Discard, os.Stdin)
	return 0
}

// helpExec replaces itself while spans are open.
func helpExec() int {
	tracer(FromEnv()).Start(context.Background(), "before")
	env := []string{helperVariable + "=exec-2"}
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, helperVariable+"=") {
			env = append(env, kv)
		}
	}
	fmt.Fprintln(os.Stderr, syscall.Exec("/proc/self/exe", []string{"helper"}, env))
	return 9
}
