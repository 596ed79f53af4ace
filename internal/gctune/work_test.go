package gctune

import (
	"runtime"
	"runtime/debug"
	"testing"
	"time"
)

// limit returns the current soft memory limit.
func limit() int64 { return debug.SetMemoryLimit(-1) }

func TestGrowingTasksSetTheMemoryLimit(t *testing.T) {
	usual := limit()
	const budget = 64 << 20
	small, one, two := Begin(budget), Begin(budget), Begin(budget)
	small.End()
	if got := limit(); got != usual {
		t.Errorf("the limit is %d before a task grows, want %d", got, usual)
	}
	one.Grow()
	one.Grow()
	first := limit()
	if most := mappedBytes() + budget*3/2; first > most { // more than the budget and its share for garbage
		t.Errorf("the limit is %d, want at most %d", first, most)
	}
	two.Grow()
	if got := limit() - first; got != budget+budget/garbageShare {
		t.Errorf("another task raises the limit by %d, want %d", got, budget+budget/garbageShare)
	}
	one.End()
	one.End()
	if got := limit(); got != first {
		t.Errorf("the limit is %d after one of two ended, want %d", got, first)
	}
	two.End()
	if got := limit(); got != usual {
		t.Errorf("the limit is %d when all have ended, want %d", got, usual)
	}
}

func TestLimitLeavesRoomForTheLiveHeap(t *testing.T) {
	task := Begin(1 << 20)
	task.Grow()
	defer task.End()
	large := make([]byte, 64<<20)
	runtime.GC()
	adjustLimit()
	if live := int64(read("/gc/heap/live:bytes")); limit() < live+live/headroom {
		t.Errorf("%d bytes are in use, and the limit is %d", live, limit())
	}
	runtime.KeepAlive(large)
}

func TestMemoryIsReturned(t *testing.T) {
	before := mappedBytes()
	task := Begin(64 << 20)
	task.Grow()
	large := make([]byte, 64<<20)
	for i := range large {
		large[i] = 1
	}
	runtime.KeepAlive(large)
	large = nil
	task.End()
	for end := time.Now().Add(time.Minute); mappedBytes() > before+returnFrom; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d bytes before, %d after", before, mappedBytes())
		}
	}
}

// TestReturnsOfMemoryDoNotOverlap ends tasks while memory is returned, which takes long for
// a large heap. The memory of those tasks is returned afterwards.
func TestReturnsOfMemoryDoNotOverlap(t *testing.T) {
	waitForReturn(t)
	begun, proceed := make(chan bool), make(chan bool)
	freeOSMemory = func() { begun <- true; <-proceed }
	defer func() { freeOSMemory = debug.FreeOSMemory }()
	runTask := func() {
		task := Begin(1)
		task.Grow()
		limits.Lock()
		limits.lowest, limits.nextReturn = -1<<40, time.Time{} // any memory is worth returning, now
		limits.Unlock()
		task.End()
	}
	runTask()
	<-begun
	runTask()
	select {
	case <-begun:
		t.Error("a second return began during the first one")
		proceed <- true
	case <-time.After(200 * time.Millisecond):
	}
	proceed <- true
	if !t.Failed() {
		<-begun // what the second task left
		proceed <- true
	}
	waitForReturn(t)
}

// waitForReturn waits until no return of memory is scheduled or running.
func waitForReturn(t *testing.T) {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		limits.Lock()
		returning := limits.returning
		limits.Unlock()
		if !returning {
			return
		}
		if time.Now().After(end) {
			t.Fatal("memory is still being returned")
		}
	}
}
