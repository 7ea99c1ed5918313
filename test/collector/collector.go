package collector

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// Variable names the Collector's binary, which tools/collector/build.sh prints.
const Variable = "LENSLAUNCH_TEST_COLLECTOR"

// patience is for what a Collector does at once, on a machine that is busy.
const patience = time.Minute

// The protocols, under the names of OTEL_EXPORTER_OTLP_PROTOCOL.
const (
	GRPC = "grpc"
	HTTP = "http/protobuf"
)

// Options of a Collector.
type Options struct {
	// Full has it write to a disk that has no room.
	Full bool
}

// Collector is a running Collector, or one that has ended.
type Collector struct {
	options         Options
	process         *os.Process
	log             *log
	traces, metrics *pipe
	exited          chan struct{} // closed when it was waited for
	exit            error         // of the process; after exited
	told            bool          // to end
}

// Start starts a Collector and returns when it is ready. It ends with the test.
func Start(t testing.TB, o Options) *Collector {
	t.Helper()
	binary := os.Getenv(Variable)
	if binary == "" {
		t.Fatalf("%s is not set: run `make test-telemetry`", Variable)
	}
	dir := t.TempDir()
	c := &Collector{options: o, log: newLog(), exited: make(chan struct{}), traces: newPipe(t, dir, "traces"), metrics: newPipe(t, dir, "metrics")}
	config := filepath.Join(dir, "config.yaml")
	if err := os.WriteFile(config, []byte(c.config()), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(binary, "--config", config)
	cmd.Env = []string{"HOME=" + dir} // nothing of the machine's telemetry
	cmd.SysProcAttr = endsWithTest()
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatalf("cannot start a Collector: %v", err)
	}
	c.process = cmd.Process
	go func() {
		defer close(c.exited)
		c.log.read(stderr)
		c.exit = cmd.Wait()
	}()
	t.Cleanup(func() { c.kill() })
	c.awaitReady(t)
	return c
}

// config is the Collector's. The exporter's buffer is written out after every 20 ms.
func (c *Collector) config() string {
	traces, metrics := c.traces.path, c.metrics.path
	if c.options.Full {
		traces, metrics = "/dev/full", "/dev/full"
	}
	return fmt.Sprintf(`receivers:
  otlp:
    protocols:
      grpc: {endpoint: "127.0.0.1:0"}
      http: {endpoint: "127.0.0.1:0"}
exporters:
  file/traces: {path: %q, format: proto, flush_interval: 20ms}
  file/metrics: {path: %q, format: proto, flush_interval: 20ms}
service:
  pipelines:
    traces: {receivers: [otlp], exporters: [file/traces]}
    metrics: {receivers: [otlp], exporters: [file/metrics]}
`, traces, metrics)
}

func (c *Collector) awaitReady(t testing.TB) {
	t.Helper()
	select {
	case <-c.log.ready:
	case <-c.exited:
		t.Fatalf("the Collector ended: %v\n%s", c.exit, c.log.text())
	case <-time.After(patience):
		t.Fatalf("the Collector is not ready after %v:\n%s", patience, c.log.text())
	}
	if !c.options.Full {
		go c.traces.read()
		go c.metrics.read()
	}
}

// Address is where it listens for a protocol, as "host:port".
func (c *Collector) Address(protocol string) string { return c.log.endpoints[protocol] }

// Endpoint is where it listens for a protocol, as a URL.
func (c *Collector) Endpoint(protocol string) string { return "http://" + c.Address(protocol) }

// Environment is what a program that sends to it needs, as "K=V".
func (c *Collector) Environment(protocol string) []string {
	return []string{"OTEL_EXPORTER_OTLP_ENDPOINT=" + c.Endpoint(protocol), "OTEL_EXPORTER_OTLP_PROTOCOL=" + protocol}
}

// Stop tells it to end, and returns when it has: it wrote what it had.
func (c *Collector) Stop(t testing.TB) {
	t.Helper()
	if c.told {
		return
	}
	c.told = true
	_ = c.process.Signal(syscall.SIGTERM) // it may have ended; that is seen next
	_ = c.process.Signal(syscall.SIGCONT) // after Freeze
	select {
	case <-c.exited:
	case <-time.After(patience):
		t.Fatalf("the Collector does not stop:\n%s", c.log.text())
	}
	// What it cannot write out at the end is an error that it ends with.
	if c.exit != nil && !c.options.Full {
		t.Fatalf("the Collector ended with %v:\n%s", c.exit, c.log.text())
	}
}

// Kill ends it at once: what is in its memory is lost.
func (c *Collector) Kill() {
	c.told = true
	c.kill()
}

// Freeze has it stand still, with its connections open, until Stop.
func (c *Collector) Freeze() {
	_ = c.process.Signal(syscall.SIGSTOP) // it may have ended; that is seen by Stop
}

func (c *Collector) kill() {
	_ = c.process.Kill() // it may have ended
	<-c.exited
}
