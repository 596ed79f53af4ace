package gctune

import (
	"runtime/debug"
	"sync"
	"time"
)

// A Work is a task with a memory budget, such as a graph query. By default Go
// would let the garbage of a task that uses 64 MiB grow to the same size before
// a collection. While such tasks run, the soft memory limit of the runtime is
// set to the memory before them plus their budgets and a share for garbage.
// When the last of them ends, unused memory is returned to the operating
// system.
type Work struct {
	budget int64
	before int64 // memory of the process when the task began, in bytes
	grown  bool
}

const (
	garbageShare = 4        // 1/garbageShare of the budgets is added for garbage
	headroom     = 5        // at least 1/headroom of the live heap stays free for garbage, regardless of the budgets
	returnFrom   = 16 << 20 // bytes; less unused memory is not returned
)

// Begin starts a task. End must be called. Begin is cheap; only Grow has a
// cost.
func Begin(budget int64) *Work { return &Work{budget: budget, before: mappedBytes()} }

// mappedBytes returns the bytes that the runtime has obtained from the operating
// system.
func mappedBytes() int64 {
	s := readAll("/memory/classes/total:bytes", "/memory/classes/heap/released:bytes")
	return int64(s[0]) - int64(s[1])
}

// limits is the state of the soft memory limit.
var limits struct {
	sync.Mutex
	tasks  int
	budget int64 // sum over all tasks
	before int64 // memory of the process before the first task, in bytes
	set    int64 // the current limit, 0 for that of the environment
	usual  int64 // the limit of the environment

	returning  bool      // returnMemory is scheduled or running
	again      bool      // all tasks ended since returnMemory began
	nextReturn time.Time // no memory is returned before this time
	lowest     int64     // memory of the process after the last return, or before the first task, in bytes
}

// Grow declares that the task begins to use much memory.
func (w *Work) Grow() {
	limits.Lock()
	defer limits.Unlock()
	if w.grown || w.budget <= 0 {
		return
	}
	w.grown = true
	if limits.tasks == 0 {
		limits.before = w.before
		if limits.lowest == 0 {
			limits.lowest = w.before
		}
	}
	limits.tasks++
	limits.budget += w.budget
	limitMemory()
}

// End ends the task.
func (w *Work) End() {
	limits.Lock()
	defer limits.Unlock()
	if !w.grown {
		return
	}
	w.grown = false
	limits.tasks--
	limits.budget -= w.budget
	limitMemory()
	if limits.tasks > 0 {
		return
	}
	if limits.returning {
		limits.again = true
		return
	}
	scheduleReturn()
}

// scheduleReturn schedules returnMemory if there is enough to return. The caller holds the
// lock.
func scheduleReturn() {
	if mappedBytes() > limits.lowest+returnFrom {
		limits.returning = true
		time.AfterFunc(max(time.Until(limits.nextReturn), 100*time.Millisecond), returnMemory)
	}
}

// limitMemory sets the limit for the running tasks. The caller holds the lock.
func limitMemory() {
	if limits.usual == 0 {
		limits.usual = debug.SetMemoryLimit(-1)
	}
	want := limits.usual
	if limits.tasks > 0 {
		forTasks := limits.before + limits.budget + limits.budget/garbageShare
		// Leave room for the rest of the process, which may need more than before;
		// otherwise it would collect garbage continuously.
		live := int64(read("/gc/heap/live:bytes"))
		forProcess := live + live/headroom + returnFrom
		want = min(want, max(forTasks, forProcess))
	}
	if want != limits.set {
		debug.SetMemoryLimit(want) // stops the world briefly
		limits.set = want
	}
}

// adjustLimit adapts the limit to the live heap, after a collection.
func adjustLimit() {
	limits.Lock()
	defer limits.Unlock()
	if limits.tasks > 0 {
		limitMemory()
	}
}

// freeOSMemory is a variable for tests.
var freeOSMemory = debug.FreeOSMemory

// returnMemory returns unused memory to the operating system. It collects garbage
// first, which is slow for a large heap. Therefore it runs at most a tenth of the
// time.
func returnMemory() {
	limits.Lock()
	limits.again = false
	busy := limits.tasks > 0
	limits.returning = !busy
	limits.Unlock()
	if busy {
		return // it runs again when the tasks have ended
	}
	begin := time.Now()
	freeOSMemory()
	elapsed := time.Since(begin)
	limits.Lock()
	defer limits.Unlock()
	limits.nextReturn = time.Now().Add(max(time.Second, 10*elapsed))
	limits.returning = false
	if !limits.again {
		limits.lowest = mappedBytes()
	} else if limits.tasks == 0 { // tasks ended meanwhile, and their memory is not returned yet
		scheduleReturn()
	}
}
