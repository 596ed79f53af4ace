// Package processors says how many processors there are, and keeps requests that
// compute from making others wait.
package processors

import (
	"os"
	"runtime"
)

// Go runs at most GOMAXPROCS goroutines at a time and takes turns of 10 ms. If as
// many compute, a request that needs a moment waits for such a turn at every step:
// when it arrives, when the database answers, when its commit is done. With more of
// them than requests of one caller that compute, there is always a thread left
// that wakes at once, and the operating system prefers it to those that compute.
const threads = 4 // for each processor

var count = runtime.GOMAXPROCS(0)

// Count returns how many processors this process may use.
func Count() int { return count }

// Spread lets more goroutines run at a time than there are processors, unless the
// environment says how many (GOMAXPROCS).
func Spread() {
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(threads * count)
	}
}
