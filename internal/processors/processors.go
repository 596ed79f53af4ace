// Package processors returns the number of processors, and raises GOMAXPROCS so
// that computing requests do not delay others.
package processors

import (
	"os"
	"runtime"
)

// Go runs at most GOMAXPROCS goroutines in parallel, with time slices of 10 ms.
// If that many are computing, a short request waits for a time slice at every
// step: when it arrives, when the database answers, when its commit is done.
// With more threads than one caller's computing requests, one thread is always
// available, and the operating system prefers it to the computing ones.
const threads = 4 // for each processor

var count = runtime.GOMAXPROCS(0)

// Count returns the number of processors that this process may use.
func Count() int { return count }

// Spread raises GOMAXPROCS above the number of processors, unless the
// environment sets it.
func Spread() {
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(threads * count)
	}
}
