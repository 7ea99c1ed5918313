//go:build faults && linux

package faults

import (
	"os"
	"strings"
	"testing"
)

// limited is a scene whose launcher has a limit that shows only in the middle of the
// launch.
func limited(t *testing.T, use tools, uid int, entries ...string) *scene {
	t.Helper()
	s := newScene(t, use, setting{uid: uid})
	s.wrap = func(argv []string) []string { return append([]string{s.helper}, argv...) }
	s.env = append(entries, roleVariable+"=enter")
	return s
}

// requireShortage: some ranks were started, one could not be, and the error says what
// was used up; those that were started are stopped.
func (s *scene) requireShortage(limit string) {
	s.Helper()
	s.requireEnd(126)
	for _, want := range []string{"could not be started: ", limit, "consequences: ranks 0-"} {
		if !strings.Contains(s.said(), want) {
			s.Errorf("the launcher does not say %q:\n%s", want, s.said())
		}
	}
	if strings.Contains(s.said(), "goroutine ") {
		s.Errorf("the launcher itself crashed:\n%s", s.said())
	}
}

// `ulimit -u` used up in the middle of a launch. The Go runtime ends a program for
// which it cannot start a thread; the launcher has its threads before.
func TestProcessesUsedUp(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root, to be a user without other processes")
	}
	// A user of whom nothing else runs: the limit counts all processes of a user.
	const nobodyElse = 64123
	s := limited(t, newTools(t, ownTools(t).launcher), nobodyElse, "FAULTS_NPROC=60")
	s.start(s.command(kind{}, nil, "--nproc", "60", "--stop-timeout", "5s", "--", "sleep", "600"))
	s.requireShortage("ulimit -u")
}

// `ulimit -n` used up in the middle of a launch: by files that the launcher has
// inherited, so that it cannot know before.
func TestOpenFilesUsedUp(t *testing.T) {
	s := limited(t, ownTools(t), 0, "FAULTS_NOFILE=400", "FAULTS_HELD=250")
	s.start(s.command(kind{}, nil, "--nproc", "64", "--stop-timeout", "5s", "--", "sleep", "600"))
	s.requireShortage("ulimit -n")
}
