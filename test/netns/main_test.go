//go:build netns && linux

package netns

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"testing"
	"time"

	"lenslaunch/test/harness"
)

const rankVariable = "NETNS_RANK" // set: be a rank

func TestMain(m *testing.M) {
	if os.Getenv(rankVariable) != "" {
		if err := rank(); err != nil {
			fmt.Fprintln(os.Stderr, "rank", os.Getenv("RANK")+":", err)
			os.Exit(9)
		}
		os.Exit(0)
	}
	if os.Geteuid() != 0 {
		fmt.Fprintln(os.Stderr, "netns: these tests need root: they make network namespaces")
		os.Exit(2)
	}
	if _, err := exec.LookPath("ip"); err != nil {
		fmt.Fprintln(os.Stderr, "netns: these tests need ip, of the package iproute2")
		os.Exit(2)
	}
	os.Exit(harness.Main(m))
}

// rank does what torch's store does: rank 0 listens, the others connect to the address
// that they were told, and all know that all have come.
func rank() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	addr := net.JoinHostPort(os.Getenv("MASTER_ADDR"), os.Getenv("MASTER_PORT"))
	if os.Getenv("RANK") != "0" {
		return connect(ctx, addr)
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", ":"+os.Getenv("MASTER_PORT"))
	if err != nil {
		return err
	}
	defer l.Close()
	// Its own client, as torch has one, and that of the other node.
	own := make(chan error, 1)
	go func() { own <- connect(ctx, addr) }()
	for range 2 {
		conn, err := l.Accept()
		if err != nil {
			return err
		}
		defer conn.Close()
		if _, err := conn.Write([]byte("x")); err != nil {
			return err
		}
	}
	return <-own
}

// connect tries until somebody listens.
func connect(ctx context.Context, addr string) error {
	for again := time.NewTicker(50 * time.Millisecond); ; {
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", addr)
		if err == nil {
			defer conn.Close()
			_, err = conn.Read(make([]byte, 1))
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-again.C:
		}
	}
}
