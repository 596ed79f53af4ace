//go:build !linux

package main

import "time"

// processor returns the time that this thread has had on one, where that is known.
func processor() (time.Duration, bool) { return 0, false }
