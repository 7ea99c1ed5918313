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

// run is the tests, or the rank that the environment asks for.
func run(m *testing.M) int {
	text := os.Getenv(workVariable)
	if text == "" {
		return harness.Main(m)
	}
	var w work
	err := json.Unmarshal([]byte(text), &w)
	if err == nil {
		err = w.do()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}
