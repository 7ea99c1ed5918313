package ledger

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// self identifies this process.
func self() (Launcher, error) {
	stat, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return Launcher{}, err
	}
	start, _, err := parseStat(stat)
	if err != nil {
		return Launcher{}, fmt.Errorf("cannot read /proc/self/stat: %w", err)
	}
	boot, err := bootID()
	if err != nil {
		return Launcher{}, err
	}
	return Launcher{Pid: os.Getpid(), Start: start, Boot: boot}, nil
}

// alive reports whether the very process l still runs on this machine. A
// zombie does not: it has ended and waits to be reaped.
func alive(l Launcher) bool {
	boot, err := bootID()
	if err != nil || boot != l.Boot || l.Pid < 1 {
		return false
	}
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(l.Pid) + "/stat")
	if err != nil {
		return false
	}
	start, state, err := parseStat(stat)
	return err == nil && start == l.Start && state != 'Z' && state != 'X'
}

func bootID() (string, error) {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(id)), err
}

// parseStat returns the start time (field 22) and the state (field 3) from
// /proc/PID/stat. Field 2 is the program's name in parentheses and may hold
// anything, spaces and parentheses too: the last ")" ends it.
func parseStat(stat []byte) (start uint64, state byte, err error) {
	end := bytes.LastIndexByte(stat, ')')
	fields := bytes.Fields(stat[end+1:])
	if end < 0 || len(fields) < 20 {
		return 0, 0, errors.New("too few fields")
	}
	start, err = strconv.ParseUint(string(fields[19]), 10, 64)
	return start, fields[0][0], err
}
