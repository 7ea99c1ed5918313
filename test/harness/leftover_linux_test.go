package harness

import (
	"bufio"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

// A process is found by its whole marker while it lives, and not once it is
// gone.
func TestProcessesWithMarker(t *testing.T) {
	const entry = "TEST_LEFTOVER=b5c8d7"
	cmd := exec.Command("sh", "-c", "echo ready; read line")
	cmd.Env = append(os.Environ(), entry)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := bufio.NewReader(stdout).ReadString('\n'); err != nil {
		t.Fatal(err)
	}

	found, err := processesWith(entry)
	if err != nil {
		t.Fatal(err)
	}
	want := strconv.Itoa(cmd.Process.Pid) + ": sh -c"
	if len(found) != 1 || !strings.HasPrefix(found[0], want) {
		t.Errorf("found %q, want one that begins with %q", found, want)
	}
	if found, _ := processesWith("TEST_LEFTOVER=b5c8"); len(found) != 0 {
		t.Errorf("a part of the marker found %q", found)
	}

	stdin.Close()
	if err := cmd.Wait(); err == nil {
		t.Error("read got a line from a closed pipe")
	}
	if found, _ := processesWith(entry); len(found) != 0 {
		t.Errorf("found %q after the end", found)
	}
}

func TestHasEntry(t *testing.T) {
	environ := []byte("A=1\x00MARK=x\x00B=\x00")
	for entry, want := range map[string]bool{
		"MARK=x": true, "MARK=": false, "ARK=x": false, "B=": true, "C=": false,
	} {
		if got := hasEntry(environ, entry); got != want {
			t.Errorf("hasEntry(%q) = %v, want %v", entry, got, want)
		}
	}
}
