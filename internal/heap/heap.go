// Package heap sets how much memory the servers take to save processor time.
package heap

import (
	"os"
	"runtime/debug"
)

// growth is how much a heap grows, in per cent of what is in use, before it is
// collected. Go's own is 100. Most of what a server allocates is a page of a
// cloud's answer or a request, and gone a moment later: collecting it half as often
// takes a tenth off the processor time of reading an account (see bench/collect).
const growth = 200

// Tune sets the growth of the heap, unless the environment does (GOGC).
func Tune() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(growth)
	}
}
