package gctune

import (
	"runtime"
	"testing"
)

// TestTheHeapGrowsByAShareOrSomeBytes changes what is in use and looks at the
// growth that follows.
func TestTheHeapGrowsByAShareOrSomeBytes(t *testing.T) {
	adjust()
	until(t, "little is in use", func(percent uint64) bool { return percent == most })
	large := make([]byte, least)
	until(t, "much is in use", func(percent uint64) bool { return percent == growth })
	runtime.KeepAlive(large)
	until(t, "little is in use again", func(percent uint64) bool { return percent == most })
}

// until collects until the growth is as wanted, which it is soon or never.
func until(t *testing.T, what string, wanted func(percent uint64) bool) {
	t.Helper()
	for range 1000 {
		runtime.GC()
		runtime.Gosched() // to those who adjust
		if wanted(read("/gc/gogc:percent")) {
			return
		}
	}
	t.Errorf("%s, and the heap grows by %d per cent", what, read("/gc/gogc:percent"))
}
