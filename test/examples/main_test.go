//go:build linux

package examples

import (
	"os"
	"os/exec"
	"testing"

	"github.com/google/uuid"

	"lenslaunch/test/harness"
)

func TestMain(m *testing.M) { os.Exit(harness.Main(m)) }

func requirePython(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("there is no python3 on this machine")
	}
}

// attemptUUID is the derivation of the identity specification.
func attemptUUID(runID, attempt string) string {
	name := "nemo.lens.run/local/" + runID + "/te" + attempt
	return uuid.NewSHA1(uuid.NameSpaceURL, []byte(name)).String()
}
