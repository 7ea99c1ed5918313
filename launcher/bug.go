package launcher

import (
	"fmt"
	"runtime/debug"
)

// Bug is a panic in a goroutine of the run. The loop panics with it: the program ends
// with ExitInternal, and the guard ends what it had started.
type Bug struct {
	Value any
	Stack []byte // where it came from
}

func (b Bug) String() string { return fmt.Sprint(b.Value) }

// caught runs f and passes a panic of it on.
func (e *effects) caught(f func()) {
	defer func() {
		if value := recover(); value != nil {
			e.answer(inBug{Bug{Value: value, Stack: debug.Stack()}})
		}
	}()
	f()
}
