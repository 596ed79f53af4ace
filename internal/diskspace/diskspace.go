// Package diskspace tells in time that a disk is about to be full, so that what
// matters least is refused first and the rest goes on.
package diskspace

import (
	"fmt"
	"sync"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// A Level is how short the space is.
type Level int

// The levels.
const (
	Enough   Level = iota
	Low            // what can be done later is refused: events, new collections
	Critical       // every change is refused but logins and removals
)

// String returns the level's name.
func (l Level) String() string { return [...]string{"enough", "low", "critical"}[l] }

// A Watch looks at the disk of a folder. It is safe for concurrent use.
type Watch struct {
	dir     string
	minimum int64 // bytes below which space is low; a quarter of it is critical
	free    func(dir string) (int64, error)
	now     func() time.Time

	mu     sync.Mutex
	looked time.Time
	bytes  int64
	level  Level
}

// lookEvery is how long a look at the disk is good for.
const lookEvery = time.Second

// New returns a watch over the disk of a folder, of which so many bytes should
// stay free.
func New(dir string, minimum int64) *Watch {
	return &Watch{dir: dir, minimum: minimum, free: freeBytes, now: time.Now}
}

// freeBytes returns what a process without privileges may still write.
func freeBytes(dir string) (int64, error) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return 0, fmt.Errorf("look at the disk of %s: %w", dir, err)
	}
	return int64(s.Bavail) * s.Bsize, nil
}

// Free returns how many bytes are free on the disk of the folder.
func (w *Watch) Free() (int64, error) { return w.free(w.dir) }

// Level returns how short the space is. A disk that cannot be looked at has
// enough: the writes themselves will tell.
func (w *Watch) Level() Level {
	level, _ := w.look()
	return level
}

func (w *Watch) look() (Level, int64) {
	if w == nil || w.minimum <= 0 {
		return Enough, 0
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if now := w.now(); w.looked.IsZero() || now.Sub(w.looked) >= lookEvery || now.Before(w.looked) {
		w.looked = now
		w.level = Enough
		if n, err := w.free(w.dir); err == nil {
			w.bytes = n
			switch {
			case n < w.minimum/4:
				w.level = Critical
			case n < w.minimum:
				w.level = Low
			}
		}
	}
	return w.level, w.bytes
}

// Notice says for people how short the space is, or "" if there is enough.
func (w *Watch) Notice() string {
	level, free := w.look()
	switch level {
	case Low:
		return fmt.Sprintf("space is low: %d MB are free; events and new collections are refused", free>>20)
	case Critical:
		return fmt.Sprintf("space is critical: %d MB are free; changes are refused, logins and reads go on", free>>20)
	}
	return ""
}

// Collector returns the metrics of the watch.
func (w *Watch) Collector() prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "vigil_disk_space_level", Help: "How short the space for data is: 0 enough, 1 low, 2 critical.",
	}, func() float64 { return float64(w.Level()) })
}
