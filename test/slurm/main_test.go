//go:build slurm && linux

package slurm

import (
	"fmt"
	"os"
	"testing"

	"lenslaunch/test/harness"
)

// Variables of the jobs' processes.
const (
	hubVariable  = "SLURM_TEST_HUB"  // set: be a rank, or say something; name of the test's socket
	modeVariable = "SLURM_TEST_MODE" // how a rank behaves

	pythonVariable = "LENSLAUNCH_TEST_PYTHON" // has torch
)

func TestMain(m *testing.M) {
	if hub := os.Getenv(hubVariable); hub != "" {
		os.Exit(play(hub, os.Args[1:]))
	}
	for _, need := range []struct {
		ok   bool
		what string
	}{
		{os.Geteuid() == 0, "these tests need root: a cluster's daemons start jobs of another user"},
		{os.Getenv(pythonVariable) != "", pythonVariable + " is not set: run `make test-slurm`"},
	} {
		if !need.ok {
			fmt.Fprintln(os.Stderr, "slurm:", need.what)
			os.Exit(2)
		}
	}
	code := harness.Main(m)
	if err := stopShared(); err != nil {
		fmt.Fprintln(os.Stderr, "slurm:", err)
		code = 1
	}
	os.Exit(code)
}
