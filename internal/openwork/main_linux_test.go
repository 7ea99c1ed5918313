package openwork

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
	"go.uber.org/goleak"

	"lenslaunch/internal/otelsetup"
	"lenslaunch/journal"
)

const helperVariable = "OPENWORK_TEST_HELPER"

// TestMain makes the test binary a process of its own: behaviours by name, readiness by a
// line on stdout.
func TestMain(m *testing.M) {
	if behaviour := os.Getenv(helperVariable); behaviour != "" {
		os.Exit(help(behaviour, os.Getenv(journal.Variable)))
	}
	goleak.VerifyTestMain(m)
}

// help does what is asked, says that it is ready and waits for the end of its input.
func help(behaviour, path string) int {
	var err error
	var child uintptr
	switch behaviour {
	case "lock":
		_, err = Lock(path) // kept until this process ends
	case "write", "fork":
		var w *journal.Writer
		if w, err = journal.Open(path); err == nil {
			traced(w, nil).Tracer.Start(context.Background(), "outer")
			if behaviour == "fork" {
				child = forkReader()
			}
		}
	}
	if err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Println("ready")
	fmt.Println(child)
	_, _ = io.Copy(io.Discard, os.Stdin)
	return 0
}

// forkReader is a fork without exec, as a data loader of a Python program makes one. It
// reads stdin to its end with system calls alone: nothing of Go's runtime works there.
//
//go:norace
//go:nosplit
func forkReader() uintptr {
	var b [1]byte
	if pid, _, _ := syscall.RawSyscall6(syscall.SYS_CLONE, uintptr(syscall.SIGCHLD), 0, 0, 0, 0, 0); pid != 0 {
		return pid
	}
	for {
		n, _, errno := syscall.RawSyscall(syscall.SYS_READ, 0, uintptr(unsafe.Pointer(&b)), 1)
		if n == 0 || errno != 0 && errno != syscall.EINTR {
			syscall.RawSyscall(syscall.SYS_EXIT_GROUP, 0, 0, 0)
		}
	}
}

// traced is telemetry whose spans are in the journal, and nowhere else: the exporter gets
// none of them through, so that what has ended stays, too.
func traced(w *journal.Writer, resource []attribute.KeyValue) *otelsetup.Telemetry {
	return otelsetup.Setup(context.Background(), otelsetup.Options{
		Env: map[string]string{
			"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1", "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf", "OTEL_METRICS_EXPORTER": "none",
		},
		Journal: w, Resource: resource,
	})
}

// process is a helper that is ready.
type process struct {
	pid    int
	stdin  io.WriteCloser
	stdout *bufio.Reader
	kill   func() // SIGKILL; stdin stays open
}

func start(t *testing.T, behaviour, path string) process {
	t.Helper()
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), helperVariable+"="+behaviour, journal.Variable+"="+path)
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout = write
	err = cmd.Start()
	write.Close()
	if err != nil {
		t.Fatal(err)
	}
	p := process{pid: cmd.Process.Pid, stdin: stdin, stdout: bufio.NewReader(read)}
	gone := false
	p.kill = func() {
		if !gone {
			gone = true
			_ = cmd.Process.Kill()
			_, _ = cmd.Process.Wait() // killed: that is no news
		}
	}
	t.Cleanup(func() { p.kill(); stdin.Close(); read.Close() })
	if line, err := p.stdout.ReadString('\n'); line != "ready\n" {
		t.Fatalf("%s: %q, %v", behaviour, line, err)
	}
	return p
}

// written is the bytes of a journal in which a program with this resource has written.
func written(t testing.TB, h journal.Header, resource []attribute.KeyValue, do func(trace.Tracer)) []byte {
	t.Helper()
	path, err := journal.Create(t.TempDir(), journal.RankName("attempt-0", h.Rank), h)
	if err != nil {
		t.Fatal(err)
	}
	w, err := journal.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	telemetry := traced(w, resource)
	do(telemetry.Tracer)
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	telemetry.Shutdown("end")
	return b
}

// train has two spans open, and one that has ended below them.
func train(tracer trace.Tracer) {
	ctx, _ := tracer.Start(context.Background(), "train")
	ctx, _ = tracer.Start(ctx, "step", trace.WithSpanKind(trace.SpanKindClient))
	_, load := tracer.Start(ctx, "load")
	load.End()
}

func idle(trace.Tracer) {}

// put lays bytes down as the journal of that name, and returns the entry for it.
func put(t testing.TB, dir, name string, b []byte) Entry {
	t.Helper()
	path := journal.Path(dir, name)
	group, _, _ := strings.Cut(name, "/")
	if err := errors.Join(os.MkdirAll(journal.Path(dir, group), 0o700), os.WriteFile(path, b, 0o600)); err != nil {
		t.Fatal(err)
	}
	return Entry{Path: path, Group: group}
}
