package carrier

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"go.opentelemetry.io/otel/attribute"
)

// The claim of the package: 1,000 goroutines publish at once, each starts a real
// child inside its scope, and every child sees its own carrier and no other. Half
// of them take the snapshot of the handle, half inherit the process's environment
// as a careless caller would; the first is safe by construction, the second only
// because publications are serialized.
func TestThousandPublicationsEachWithAChild(t *testing.T) {
	const before = "service.name=parent,nv.dl.rank=unpublished"
	t.Setenv(Variable, before)
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no POSIX shell on this system")
	}

	begin := make(chan struct{})
	// Publication is serialized, but children live on after their scope: this
	// bounds how many are there at once.
	alive := make(chan struct{}, 16)
	var wg sync.WaitGroup
	for n := range 1000 {
		wg.Go(func() {
			<-begin
			if err := reportOwnCarrier(t.Context(), shell, n, alive); err != nil {
				t.Error(err)
			}
		})
	}
	close(begin)
	wg.Wait()

	if got := os.Getenv(Variable); got != before {
		t.Errorf("the parent is left with %q, want %q", got, before)
	}
}

func reportOwnCarrier(ctx context.Context, shell string, n int, alive chan struct{}) error {
	list := []attribute.KeyValue{attribute.Int("nv.dl.rank", n), attribute.String("note", fmt.Sprintf("child %d", n))}
	want := fmt.Sprintf("nv.dl.rank=%d,note=child%%20%d", n, n)
	var said strings.Builder
	child := exec.CommandContext(ctx, shell, "-c", `printf %s "$OTEL_RESOURCE_ATTRIBUTES"`)
	child.Stdout = &said
	err := Publish(ctx, list, func(s *Scope) error {
		alive <- struct{}{}
		defer func() {
			if child.Process == nil {
				<-alive // nothing to wait for: the start failed
			}
		}()
		if n%2 == 0 {
			child.Env = s.Environ()
		}
		return child.Start()
	})
	if err != nil {
		return fmt.Errorf("child %d: %w", n, err)
	}
	// Outside the scope: children run side by side while others are started.
	err = child.Wait()
	<-alive
	if err != nil {
		return fmt.Errorf("child %d: %w", n, err)
	}
	if said.String() != want {
		return fmt.Errorf("child %d saw %q, want %q", n, said.String(), want)
	}
	return nil
}
