//go:build !nosweep

package launcher

import (
	"context"

	"lenslaunch/internal/tree"
)

// sweep ends all that a finder finds. It is a function of its own so that the fault
// suite can build a launcher without it (sweep_off.go).
func sweep(ctx context.Context, f tree.Finder, reap func()) tree.Result {
	return tree.Sweep(ctx, f, reap)
}
