package carrier

import (
	"bytes"
	"runtime"
	"strconv"
)

// goroutineID returns the number of the calling goroutine, or 0 if the runtime
// does not print it as it has done since Go 1.0 ("goroutine 18 [running]:").
//
// It serves one purpose: a publication that is opened inside a publication by
// the same goroutine, without the handle, could only wait for itself. A context
// cannot tell (it need not be handed down), and a lock that may be entered again
// would hide the mistake. With 0 the mistake is a wait bounded by ctx, no worse
// than without the number.
func goroutineID() uint64 {
	var buffer [64]byte
	header := buffer[:runtime.Stack(buffer[:], false)]
	header, ok := bytes.CutPrefix(header, []byte("goroutine "))
	if !ok {
		return 0
	}
	digits, _, _ := bytes.Cut(header, []byte(" "))
	id, err := strconv.ParseUint(string(digits), 10, 64)
	if err != nil {
		return 0
	}
	return id
}
