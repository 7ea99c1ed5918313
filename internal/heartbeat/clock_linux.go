package heartbeat

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// Now reads both clocks.
func Now() (Clock, error) {
	mono, err := read(unix.CLOCK_MONOTONIC)
	if err != nil {
		return Clock{}, err
	}
	boot, err := read(unix.CLOCK_BOOTTIME)
	return Clock{Mono: mono, Boot: boot}, err
}

func read(id int32) (time.Duration, error) {
	var ts unix.Timespec
	if err := unix.ClockGettime(id, &ts); err != nil {
		return 0, fmt.Errorf("cannot read clock %d: %w", id, err)
	}
	return time.Duration(ts.Nano()), nil
}
