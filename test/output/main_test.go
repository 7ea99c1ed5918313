//go:build output

package output

import (
	"encoding/json"
	"fmt"
	"os"
	"testing"

	"lenslaunch/test/harness"
)

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

// run is the tests, or the program that the environment asks for.
func run(m *testing.M) int {
	var doing interface{ do() error }
	var text string
	switch {
	case os.Getenv(muxVariable) != "":
		doing, text = &mux{}, os.Getenv(muxVariable)
	case os.Getenv(workVariable) != "":
		doing, text = &work{}, os.Getenv(workVariable)
	default:
		return harness.Main(m)
	}
	err := json.Unmarshal([]byte(text), doing)
	if err == nil {
		err = doing.do()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}
