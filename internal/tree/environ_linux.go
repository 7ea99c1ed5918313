package tree

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"lenslaunch/internal/proc"
)

// readEnviron reads the environment that a process was executed with, into buf. That
// of another user's process, which may not be looked into, is one entry without text;
// none at all says that there is none at this moment.
func readEnviron(st proc.Stat, buf []byte) []byte {
	dir := "/proc/" + strconv.Itoa(st.Pid)
	// The kernel would refuse anyway, but note it in the audit log of some systems.
	if uid := os.Geteuid(); uid != 0 {
		info, err := os.Lstat(dir)
		if err != nil {
			return buf[:0]
		}
		if owner, ok := info.Sys().(*syscall.Stat_t); ok && int(owner.Uid) != uid {
			return append(buf[:0], 0)
		}
	}
	if st.State != 'Z' {
		return readInto(dir+"/environ", buf)
	}
	// Its first thread has ended and lost sight of the memory; the others have it.
	threads, _ := filepath.Glob(dir + "/task/*/environ")
	for _, name := range threads {
		if text := readInto(name, buf); len(text) > 0 {
			return text
		}
	}
	return buf[:0]
}

// mostEnviron is more than the kernel lets an environment be (a quarter of the
// stack's limit, at most 6 MiB); what is longer is no environment.
const mostEnviron = 16 << 20

// readInto reads a file into buf, which grows as needed.
func readInto(name string, buf []byte) []byte {
	buf = buf[:0]
	file, err := os.Open(name)
	if err != nil {
		return buf
	}
	defer file.Close()
	for len(buf) < mostEnviron {
		buf = slices.Grow(buf, 16<<10)
		n, err := file.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if err == io.EOF {
			return buf
		}
		if err != nil {
			return buf[:0] // half an environment proves nothing
		}
	}
	return buf[:0]
}

// waitChannel names the place in the kernel where a process sleeps, as far as the
// kernel tells; empty otherwise.
func waitChannel(pid int) string {
	dir := "/proc/" + strconv.Itoa(pid)
	if text, err := os.ReadFile(dir + "/wchan"); err == nil {
		if name := strings.TrimSpace(string(text)); name != "" && name != "0" {
			return name
		}
	}
	text, err := os.ReadFile(dir + "/stack") // root only
	if err != nil {
		return ""
	}
	return firstFrame(string(text))
}

// firstFrame is the function in a line such as "[<0>] do_wait+0x53/0x120".
func firstFrame(stack string) string {
	line, _, _ := strings.Cut(stack, "\n")
	if _, rest, ok := strings.Cut(line, "] "); ok {
		line = rest
	}
	name, _, _ := strings.Cut(line, "+")
	return strings.TrimSpace(name)
}
