package cgroup

import (
	"os/exec"
	"syscall"
	"testing"
)

// What a group costs: start a process, kill it, reap it; plain, in one group, and
// with a group made and removed around it.
func BenchmarkStartAndKill(b *testing.B) {
	run := func(b *testing.B, g *Group, kill func(*exec.Cmd) error) {
		b.Helper()
		cmd := exec.Command("sleep", "60")
		if g != nil {
			cmd.SysProcAttr = &syscall.SysProcAttr{UseCgroupFD: true, CgroupFD: g.FD()}
		}
		if err := cmd.Start(); err != nil {
			b.Fatal(err)
		}
		if err := kill(cmd); err != nil {
			b.Fatal(err)
		}
		_ = cmd.Wait()
	}
	b.Run("plain", func(b *testing.B) {
		for b.Loop() {
			run(b, nil, func(cmd *exec.Cmd) error { return cmd.Process.Kill() })
		}
	})
	b.Run("clone-into", func(b *testing.B) {
		g := group(b)
		for b.Loop() {
			run(b, g, func(*exec.Cmd) error { return g.Kill() })
		}
	})
	b.Run("create-clone-kill-remove", func(b *testing.B) {
		p := parent(b)
		for b.Loop() {
			g, err := p.Create(uniqueName(b))
			if err != nil {
				b.Fatal(err)
			}
			run(b, g, func(*exec.Cmd) error { return g.Kill() })
			if err := g.Remove(); err != nil {
				b.Fatal(err)
			}
			g.Close()
		}
	})
}

// Find is on the way of every launch.
func BenchmarkFind(b *testing.B) {
	parent(b)
	for b.Loop() {
		if _, err := Find(); err != nil {
			b.Fatal(err)
		}
	}
}
