package cli

import (
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestMain makes this test binary lenslaunch itself where it is started under that
// name: in scripts, and in tests that need a process of its own.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"lenslaunch": func() {
			os.Exit(Main(os.Args[1:], os.Environ(), Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}))
		},
	})
}
