package launcher

import (
	"runtime"
	"runtime/pprof"
	"testing"
)

// The runtime has its threads before the first rank, and the processors of the caller
// are his again afterwards.
func TestSettleThreads(t *testing.T) {
	before := runtime.GOMAXPROCS(0)
	restore := settleThreads()
	if n := runtime.GOMAXPROCS(0); n > mostProcessors {
		t.Errorf("GOMAXPROCS is %d, at most %d", n, mostProcessors)
	}
	if n := pprof.Lookup("threadcreate").Count(); n < spareThreads {
		t.Errorf("%d threads, want at least %d", n, spareThreads)
	}
	restore()
	if n := runtime.GOMAXPROCS(0); n != before {
		t.Errorf("GOMAXPROCS is %d afterwards, was %d", n, before)
	}
}
