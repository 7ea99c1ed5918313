package tree

import (
	"errors"
	"testing"

	"lenslaunch/internal/proc"
)

func TestEmpty(t *testing.T) {
	for r, want := range map[*Result]bool{
		{Killed: 3}: true, {Left: []Left{{}}}: false, {Err: errors.New("no /proc")}: false,
	} {
		if r.Empty() != want {
			t.Errorf("%+v: Empty = %v", r, !want)
		}
	}
}

func TestLeftText(t *testing.T) {
	st := proc.Stat{ID: proc.ID{Pid: 4711, Start: 1}, Comm: "python3", State: 'D'}
	for left, want := range map[Left]string{
		{Stat: st, Reason: Uninterruptible, WaitChannel: "nfs_wait"}: "pid 4711 (python3): uninterruptible in nfs_wait",
		{Stat: st, Reason: Permission}:                               "pid 4711 (python3): permission",
	} {
		if left.String() != want {
			t.Errorf("%q, want %q", left, want)
		}
	}
}
