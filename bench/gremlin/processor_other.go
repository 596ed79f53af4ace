//go:build !linux

package main

import "time"

// processor returns the CPU time of this thread, if it is available.
func processor() (time.Duration, bool) { return 0, false }
