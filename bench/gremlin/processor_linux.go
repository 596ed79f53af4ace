package main

import (
	"time"

	"golang.org/x/sys/unix"
)

// processor returns the time that this thread has had on one, where that is known.
func processor() (time.Duration, bool) {
	var t unix.Timespec
	err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t)
	return time.Duration(t.Nano()), err == nil
}
