package main

import (
	"time"

	"golang.org/x/sys/unix"
)

// threadTime returns the CPU time of this thread, if it is available.
func threadTime() (time.Duration, bool) {
	var t unix.Timespec
	err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t)
	return time.Duration(t.Nano()), err == nil
}
