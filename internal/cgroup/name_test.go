package cgroup

import (
	"math"
	"testing"
)

func TestGroupNameRoundTrip(t *testing.T) {
	for _, want := range []struct {
		pid   int
		start uint64
		n     int
	}{{1, 0, 0}, {4711, 123456789, 3}, {math.MaxInt32, math.MaxUint64, math.MaxInt32}} {
		name := GroupName(want.pid, want.start, want.n)
		pid, start, n, ok := ParseGroupName(name)
		if !ok || pid != want.pid || start != want.start || n != want.n {
			t.Errorf("%s: %d, %d, %d, %v", name, pid, start, n, ok)
		}
	}
	if got := GroupName(12, 34, 5); got != "lenslaunch-12-34-5" {
		t.Errorf("GroupName = %s", got)
	}
}

func TestParseGroupNameRefuses(t *testing.T) {
	for _, name := range []string{
		"", "lenslaunch-", "lenslaunch-1-2", "lenslaunch-1-2-3-4", "lenslaunch-1-2-x", "lenslaunch--1-2-3",
		"lenslaunch-0-2-3", "lenslaunch-01-2-3", "lenslaunch-+1-2-3", "lenslaunch-1-2-03", "lenslaunch-1--2-3", "lenslaunch-1-2--3",
		"xlenslaunch-1-2-3", "lenslaunch-1-2-3 ", "user.slice", "lenslaunch-99999999999999999999-2-3", "lenslaunch-1-18446744073709551616-3",
	} {
		if pid, start, n, ok := ParseGroupName(name); ok {
			t.Errorf("%q is taken for %d, %d, %d", name, pid, start, n)
		}
	}
}

func FuzzParseGroupName(f *testing.F) {
	f.Add("lenslaunch-1-2-3")
	f.Add("lenslaunch-1-2--3")
	f.Fuzz(func(t *testing.T, name string) {
		if pid, start, n, ok := ParseGroupName(name); ok && (GroupName(pid, start, n) != name || pid <= 0 || n < 0) {
			t.Errorf("%q is read as %d, %d, %d", name, pid, start, n)
		}
	})
}

func TestField(t *testing.T) {
	const text = "low 0\nhigh 12\nmax -3\noom_kill 9223372036854775807\nbad 1x\nbig 9223372036854775808\nempty \nalone\nlast 5"
	for key, want := range map[string]int64{"low": 0, "high": 12, "max": -3, "oom_kill": math.MaxInt64, "last": 5} {
		if got, ok := Field(text, key); !ok || got != want {
			t.Errorf("Field(%s) = %d, %v, want %d", key, got, ok, want)
		}
	}
	for _, key := range []string{"bad", "big", "empty", "alone", "oom", "absent", ""} {
		if got, ok := Field(text, key); ok {
			t.Errorf("Field(%s) = %d", key, got)
		}
	}
}

func FuzzField(f *testing.F) {
	f.Add("populated 1\nfrozen 0\n", "frozen")
	f.Fuzz(func(t *testing.T, text, key string) {
		if n, ok := Field(text, key); !ok && n != 0 {
			t.Errorf("Field(%q, %q) = %d, false", text, key, n)
		}
	})
}
