// Package diskspace monitors free disk space, so that the least important
// writes are refused before the disk is full.
package diskspace

import (
	"fmt"
	"sync"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// A Level classifies the free space.
type Level int

// The levels.
const (
	Enough   Level = iota
	Low            // deferrable writes are refused or wait: events, new collections
	Critical       // every change except logins and removals is refused
)

// String returns the level's name.
func (l Level) String() string { return [...]string{"enough", "low", "critical"}[l] }

// A Watch monitors the disk of a folder. It is safe for concurrent use.
type Watch struct {
	dir     string
	minimum int64 // bytes below which space is low; a quarter of it is critical
	free    func(dir string) (int64, error)
	now     func() time.Time

	mu         sync.Mutex
	measuredAt time.Time
	bytes      int64
	level      Level
}

// cacheTime is how long a measurement is cached.
const cacheTime = time.Second

// New returns a watch of the disk of a folder, of which minimum bytes should
// stay free.
func New(dir string, minimum int64) *Watch {
	return &Watch{dir: dir, minimum: minimum, free: freeBytes, now: time.Now}
}

// freeBytes returns the bytes that an unprivileged process may still write.
func freeBytes(dir string) (int64, error) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return 0, fmt.Errorf("read the free space of %s: %w", dir, err)
	}
	return int64(s.Bavail) * s.Bsize, nil
}

// Free returns how many bytes are free on the disk of the folder.
func (w *Watch) Free() (int64, error) { return w.free(w.dir) }

// Level returns the current level. If the free space cannot be read, it returns
// Enough, because writes will report the error.
func (w *Watch) Level() Level {
	level, _ := w.measure()
	return level
}

func (w *Watch) measure() (Level, int64) {
	if w == nil || w.minimum <= 0 {
		return Enough, 0
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if now := w.now(); w.measuredAt.IsZero() || now.Sub(w.measuredAt) >= cacheTime || now.Before(w.measuredAt) {
		w.measuredAt = now
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

// Notice returns a message about low space, or "" if there is enough.
func (w *Watch) Notice() string {
	level, free := w.measure()
	switch level {
	case Low:
		return fmt.Sprintf("space is low: %d MB are free; events are refused and no collection begins", free>>20)
	case Critical:
		return fmt.Sprintf("space is critical: %d MB are free; changes are refused, logins and reads are not", free>>20)
	}
	return ""
}

// Collector returns the metrics of the watch.
func (w *Watch) Collector() prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "vigil_disk_space_level", Help: "Level of free disk space: 0 enough, 1 low, 2 critical.",
	}, func() float64 { return float64(w.Level()) })
}
