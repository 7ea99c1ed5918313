package notify

import (
	"fmt"
	"net"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// TestMain makes the test binary its own helper: with NOTIFY_TEST_SEND in its
// environment it is a client in another process that sends that text and ends.
func TestMain(m *testing.M) {
	if text, ok := os.LookupEnv("NOTIFY_TEST_SEND"); ok {
		os.Exit(client(os.Getenv("NOTIFY_SOCKET"), text))
	}
	code := m.Run()
	if code == 0 {
		if err := goleak.Find(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

func client(path, text string) int {
	conn, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: path, Net: "unixgram"})
	if err == nil {
		_, err = conn.Write([]byte(text))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}
