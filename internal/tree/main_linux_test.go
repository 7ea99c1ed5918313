package tree

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// TestMain makes the test binary its own helpers: the first argument says so, since
// an environment variable would not reach a helper with an empty environment.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == helperWord {
		os.Exit(help(os.Args[2], os.Args[3:]))
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

const helperWord = "tree-helper"

func help(role string, args []string) int {
	switch role {
	case "launcher":
		return beLauncher(args)
	default:
		return act(role, args)
	}
}
