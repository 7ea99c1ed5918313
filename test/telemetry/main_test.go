//go:build telemetry && linux

package telemetry

import (
	"os"
	"testing"

	"lenslaunch/test/collector"
	"lenslaunch/test/harness"
)

func TestMain(m *testing.M) {
	if ready := os.Getenv(workerVariable); ready != "" {
		os.Exit(beWorker(ready))
	}
	if os.Getenv(collector.Variable) == "" {
		os.Stderr.WriteString("telemetry: " + collector.Variable + " is not set: run `make test-telemetry`\n")
		os.Exit(2)
	}
	os.Exit(harness.Main(m))
}
