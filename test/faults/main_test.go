//go:build faults && linux

package faults

import (
	"fmt"
	"os"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"

	"lenslaunch/test/harness"
)

// Variables of helper processes.
const (
	roleVariable = "FAULTS_ROLE" // set: be a helper
	hubVariable  = "FAULTS_HUB"  // name of the test's socket
	kindVariable = "FAULTS_KIND" // what offspring a rank has
)

func TestMain(m *testing.M) {
	if role := os.Getenv(roleVariable); role != "" {
		os.Exit(play(role))
	}
	// What a launcher leaves must not vanish to process 1.
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		fmt.Fprintln(os.Stderr, "cannot adopt orphans:", err)
		os.Exit(1)
	}
	if err := hurry(); err != nil {
		fmt.Fprintln(os.Stderr, "cannot put the tests before others:", err)
		os.Exit(1)
	}
	os.Exit(harness.Main(m))
}

// hurry puts the tests, and what they start, before what else runs on the machine,
// where that is allowed: what they measure is a matter of milliseconds.
func hurry() error {
	if os.Geteuid() != 0 {
		return nil
	}
	// Niceness is a thread's; threads that begin later take after those that there are.
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return err
	}
	for _, thread := range threads {
		tid, err := strconv.Atoi(thread.Name())
		if err != nil {
			return err
		}
		// A thread that has ended meanwhile, or a container without the right to it.
		_ = unix.Setpriority(unix.PRIO_PROCESS, tid, -10)
	}
	return nil
}

// play is a helper process's whole program; it returns its exit code.
func play(role string) int {
	roles := map[string]func() error{
		"rank": rankRole, "sleeper": sleeperRole, "stopper": stopperRole, "deaf": deafRole,
		"middle": middleRole, "forker": forkerRole, "enter": enterRole, "bystander": bystanderRole,
		"peer": peerRole, "tattler": tattlerRole, "escapee": escapeeRole,
	}
	act, ok := roles[role]
	if !ok {
		act = func() error { return fmt.Errorf("no role %q", role) }
	}
	if err := act(); err != nil {
		fmt.Fprintln(os.Stderr, "helper:", err)
		return 99
	}
	return 0
}
