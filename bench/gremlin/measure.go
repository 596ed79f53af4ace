package main

import (
	"math"
	"runtime"
	"slices"
	"time"
)

// result is what measuring one query on one engine gave.
type result struct {
	sum    checksum
	runs   int
	best   time.Duration
	median time.Duration
}

// measure runs f until it is warm, then as often as fits the time, as the Java
// program does.
func measure(warm, enough time.Duration, f func() error) (result, error) {
	once := func() (time.Duration, error) { return timed(f) }
	if err := warmUp(warm, once); err != nil {
		return result{}, err
	}
	var runs []time.Duration
	for start := time.Now(); len(runs) < 3 || time.Since(start) < enough; {
		d, err := once()
		if err != nil {
			return result{}, err
		}
		runs = append(runs, d)
	}
	slices.Sort(runs)
	return result{runs: len(runs), best: runs[0], median: runs[len(runs)/2]}, nil
}

// timed returns how long f took: by the clock or by the processor, whichever is
// less, as on the other side. Neighbours on a busy machine take up the first. The
// processor is not asked about what is short.
func timed(f func() error) (time.Duration, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	used, ok := processor()
	begin := time.Now()
	err := f()
	d := time.Since(begin)
	if d > time.Millisecond && ok {
		now, _ := processor()
		d = min(d, now-used)
	}
	return d, err
}

// warmUp runs a query for the time given, and on as long as it still gets
// faster.
func warmUp(enough time.Duration, once func() (time.Duration, error)) error {
	best := time.Duration(math.MaxInt64)
	for round := range 10 {
		before := best
		for start := time.Now(); ; {
			d, err := once()
			if err != nil {
				return err
			}
			best = min(best, d)
			if time.Since(start) >= enough {
				break
			}
		}
		if round > 0 && best > before-before/20 {
			break
		}
	}
	return nil
}
