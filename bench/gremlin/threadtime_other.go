//go:build !linux

package main

import "time"

// threadTime returns the CPU time of this thread, if it is available.
func threadTime() (time.Duration, bool) { return 0, false }
