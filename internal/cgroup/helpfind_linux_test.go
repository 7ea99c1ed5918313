package cgroup

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

const stranger = 65534 // a user without rights

// helpFind are the helpers that look for their own group from unusual places.
func helpFind(behaviour string) int {
	switch behaviour {
	case "find":
		return report(roundTrip())
	case "find-as": // another user
		uid, _ := strconv.Atoi(os.Args[1])
		if err := errors.Join(syscall.Setgroups(nil), syscall.Setresgid(uid, uid, uid), syscall.Setresuid(uid, uid, uid)); err != nil {
			return report("", err)
		}
		return report(roundTrip())
	case "container":
		// The namespace begins at the group of who unshares, so that is a process
		// that lives in the group, not the one that clones into it.
		cmd := helper("contained", os.Args[1:]...)
		cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP}
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		if err := cmd.Run(); err != nil {
			return report("", err)
		}
		return 0
	case "contained":
		if err := mountGroups(os.Args[1], os.Args[2]); err != nil {
			fmt.Println("skip", err)
			return 0
		}
		return report(roundTrip())
	}
	return 8
}

func report(text string, err error) int {
	if err != nil {
		text = "error: " + err.Error()
	}
	fmt.Println(text)
	return 0
}

// mountGroups mounts version 2 as a container runtime does: after the namespace
// was made ("rw", "ro"), or not at all ("none").
func mountGroups(point, mode string) error {
	if mode == "none" {
		return nil
	}
	if err := unix.Mount("cgroup2", point, "cgroup2", 0, ""); err != nil {
		return err
	}
	if mode == "ro" {
		return unix.Mount("", point, "", unix.MS_REMOUNT|unix.MS_BIND|unix.MS_RDONLY, "")
	}
	return nil
}

// roundTrip does all that a launcher does with its group, and says where.
func roundTrip() (string, error) {
	p, err := Find()
	if err != nil {
		return "", err
	}
	start, err := ownStart()
	if err != nil {
		return "", err
	}
	g, err := p.Create(GroupName(os.Getpid(), start, 0))
	if err != nil {
		return "", err
	}
	defer g.Close()
	sub, err := g.Sub("rank-0")
	if err != nil {
		return "", err
	}
	defer sub.Close()
	cmd := helper("ignore-term")
	cmd.SysProcAttr = &syscall.SysProcAttr{UseCgroupFD: true, CgroupFD: sub.FD()}
	if err := cmd.Start(); err != nil {
		return "", err
	}
	n, err := g.Signal(0)
	if err == nil && n != 1 {
		err = fmt.Errorf("%d processes in the group", n)
	}
	err = errors.Join(err, g.Kill(), g.WaitEmpty(context.Background()), g.Remove())
	_ = cmd.Wait() // killed
	return "works at " + p.Path(), err
}

// findIn runs a helper in a group and returns what it says.
func findIn(t *testing.T, g *Group, behaviour string, args ...string) string {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root, to make the surroundings")
	}
	cmd := helper(behaviour, args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{UseCgroupFD: true, CgroupFD: g.FD()}
	out, err := cmd.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			t.Fatalf("%v: %s%s", err, out, exit.Stderr)
		}
		t.Fatal(err)
	}
	text := strings.TrimSpace(string(out))
	if why, skip := strings.CutPrefix(text, "skip "); skip {
		t.Skipf("cannot mount version 2 in a namespace: %s", why)
	}
	return text
}

func TestFindNested(t *testing.T) {
	g := group(t)
	if got := findIn(t, g, "find"); got != "works at "+g.Path() {
		t.Error(got)
	}
}

// A container with a cgroup namespace: the old mount is still there, but shows
// nothing that can be told; the runtime's mount counts.
func TestFindInContainer(t *testing.T) {
	tests := []struct{ mode, want string }{
		{"rw", "works at POINT"},
		{"ro", "error: cannot use a control group: POINT is mounted read-only"},
		{"none", "error: cannot use a control group: our group / is not in what is mounted at "},
	}
	for _, tt := range tests {
		t.Run(tt.mode, func(t *testing.T) {
			point := filepath.Join(t.TempDir(), "with blank")
			if err := os.Mkdir(point, 0o755); err != nil {
				t.Fatal(err)
			}
			want := strings.ReplaceAll(tt.want, "POINT", point)
			if got := findIn(t, group(t), "container", point, tt.mode); !strings.HasPrefix(got, want) {
				t.Errorf("%s\nwant %s", got, want)
			}
		})
	}
}

// Delegation as systemd does it: the directory and some files belong to the user.
func TestFindDelegated(t *testing.T) {
	tests := []struct {
		name  string
		files []string
		want  string
	}{
		{"delegated", []string{"", "cgroup.procs", "cgroup.threads", "cgroup.subtree_control"}, "works at GROUP"},
		{"not at all", nil, "error: cannot use a control group: cannot make the group GROUP/lenslaunch-"},
		{"only the directory", []string{""}, "error: cannot use a control group: cannot start a process in the group GROUP/lenslaunch-"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g := group(t)
			for _, file := range tt.files {
				if err := os.Chown(filepath.Join(g.Path(), file), stranger, stranger); err != nil {
					t.Skipf("cannot delegate a group: %v", err)
				}
			}
			got := findIn(t, g, "find-as", strconv.Itoa(stranger))
			if want := strings.ReplaceAll(tt.want, "GROUP", g.Path()); !strings.HasPrefix(got, want) {
				t.Errorf("%s\nwant %s", got, want)
			}
			if strings.HasPrefix(got, "error") && !strings.Contains(got, "permission denied") {
				t.Error(got)
			}
		})
	}
}

// A launcher in a group that has threaded groups below it cannot start processes in
// new ones.
func TestFindThreaded(t *testing.T) {
	g := group(t)
	sub, err := g.Sub("threads")
	if err != nil {
		t.Fatal(err)
	}
	defer sub.Close()
	if err := writeAt(sub.dir, "cgroup.type", "threaded"); err != nil {
		t.Skipf("no threaded groups here: %v", err)
	}
	if got := findIn(t, g, "find"); !strings.HasSuffix(got, "operation not supported (our own group is threaded)") {
		t.Error(got)
	}
}

// The limits of the hierarchy count too: better none at all than half of it.
func TestFindTooDeep(t *testing.T) {
	g := group(t)
	if err := writeAt(g.dir, "cgroup.max.depth", "0"); err != nil {
		t.Skipf("no limit of depth here: %v", err)
	}
	if got := findIn(t, g, "find"); !strings.HasPrefix(got, "error: cannot use a control group: cannot make the group") {
		t.Error(got)
	}
}
