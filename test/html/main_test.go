//go:build html && linux

package html

import (
	"os"
	"testing"

	"lenslaunch/test/harness"
)

func TestMain(m *testing.M) { os.Exit(harness.Main(m)) }
