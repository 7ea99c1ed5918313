package cli

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"lenslaunch/test/harness"
)

// TestMain makes this test binary lenslaunch itself where it is started under that
// name: in scripts, and in tests that need a process of its own.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) != "lenslaunch" {
		harness.HeedHangUp()
	}
	testscript.Main(m, map[string]func(){
		"lenslaunch": func() {
			os.Exit(Main(os.Args[1:], os.Environ(), Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}))
		},
	})
}
