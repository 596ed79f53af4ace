package gctune

import (
	"runtime/debug"
	"sync"
	"time"
)

// A Work is a task with a budget of memory, such as a graph query. Go would let
// the garbage of a task that keeps 64 MiB grow to twice as much before it is
// collected. While tasks that grew are under way, the soft memory limit of the
// runtime keeps the process at what it had before plus their budgets, with a
// share for garbage. When the last of them ends, unused memory goes back to the
// operating system.
type Work struct {
	budget int64
	before int64 // bytes the process had when the task began
	grown  bool
}

const (
	garbageShare = 4 // one part in this of the budgets is for garbage, besides the budgets
	headroom     = 5 // one part in this of what is in use stays free for garbage, whatever the budgets say
	returnFrom   = 16 << 20
)

// Begin starts a task. End must be called. It costs next to nothing: only Grow
// and what follows from it do.
func Begin(budget int64) *Work { return &Work{budget: budget, before: mapped()} }

// mapped returns the bytes that the runtime has from the operating system.
func mapped() int64 {
	s := readAll("/memory/classes/total:bytes", "/memory/classes/heap/released:bytes")
	return int64(s[0]) - int64(s[1])
}

// limits is the soft memory limit of the process and the tasks that it follows
// from.
var limits struct {
	sync.Mutex
	tasks  int
	budget int64 // of all tasks
	before int64 // bytes the process had before the first of them
	set    int64 // the limit in force, 0 for that of the environment
	usual  int64 // the limit of the environment

	returning bool      // unused memory is about to go back
	rest      time.Time // no memory goes back before
	least     int64     // bytes the process had when memory went back, or before there were tasks
}

// Grow says that the task begins to use much memory.
func (w *Work) Grow() {
	limits.Lock()
	defer limits.Unlock()
	if w.grown || w.budget <= 0 {
		return
	}
	w.grown = true
	if limits.tasks == 0 {
		limits.before = w.before
		if limits.least == 0 {
			limits.least = w.before
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
	if limits.tasks == 0 && !limits.returning && mapped() > limits.least+returnFrom {
		limits.returning = true
		time.AfterFunc(max(time.Until(limits.rest), 100*time.Millisecond), giveBack)
	}
}

// limitMemory sets the limit for the tasks under way. Callers hold the lock.
func limitMemory() {
	if limits.usual == 0 {
		limits.usual = debug.SetMemoryLimit(-1)
	}
	want := limits.usual
	if limits.tasks > 0 {
		// What else the process does may need more than it had: leave it room, or
		// it would do nothing but collect garbage.
		live := int64(read("/gc/heap/live:bytes"))
		want = min(want, max(limits.before+limits.budget+limits.budget/garbageShare, live+live/headroom+returnFrom))
	}
	if want != limits.set {
		debug.SetMemoryLimit(want) // it stops the world for a moment
		limits.set = want
	}
}

// adjustLimit follows what is in use, after a collection.
func adjustLimit() {
	limits.Lock()
	defer limits.Unlock()
	if limits.tasks > 0 {
		limitMemory()
	}
}

// giveBack returns unused memory to the operating system. It collects garbage
// first, which may take long where much is in use, so it takes a tenth of the
// time at most.
func giveBack() {
	limits.Lock()
	limits.returning = false
	busy := limits.tasks > 0
	limits.Unlock()
	if busy {
		return // it is done when they end
	}
	begin := time.Now()
	debug.FreeOSMemory()
	took := time.Since(begin)
	limits.Lock()
	defer limits.Unlock()
	limits.least = mapped()
	limits.rest = time.Now().Add(max(time.Second, 10*took))
}
