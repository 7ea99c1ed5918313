//go:build stress

package stress

import (
	"context"
	"encoding/json"
	"net"
	"sync"
)

// gate collects one report of each launch and opens when all are there.
type gate struct {
	listener net.Listener
	reports  []report // complete once wait has returned nil
}

func newGate() (*gate, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	return &gate{listener: listener}, nil
}

// wait returns nil when want launches have reported and were let through. When
// the context ends first, it hangs up on those that wait.
func (g *gate) wait(ctx context.Context, want int) error {
	var open sync.WaitGroup
	defer open.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	context.AfterFunc(ctx, func() { g.listener.Close() })

	arrived := make(chan report)
	release := make(chan struct{})
	for range want {
		conn, err := g.listener.Accept()
		if err != nil {
			return err
		}
		open.Go(func() { attend(ctx, conn, arrived, release) })
	}
	for range want {
		select {
		case one := <-arrived:
			g.reports = append(g.reports, one)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	close(release)
	open.Wait() // cancelled earlier, some would not hear of it
	return nil
}

// attend hands on one launch's report and tells it to go on when all may.
func attend(ctx context.Context, conn net.Conn, arrived chan<- report, release <-chan struct{}) {
	defer conn.Close()
	var one report
	if json.NewDecoder(conn).Decode(&one) != nil {
		return
	}
	select {
	case arrived <- one:
	case <-ctx.Done():
		return
	}
	select {
	case <-release:
		// A launch that cannot hear this fails by its own deadline.
		_, _ = conn.Write([]byte("go\n"))
	case <-ctx.Done():
	}
}
