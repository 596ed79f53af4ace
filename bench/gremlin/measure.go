package main

import (
	"math"
	"runtime"
	"slices"
	"time"
)

// result is the measurement of one query on one engine.
type result struct {
	sum    checksum
	runs   int
	best   time.Duration
	median time.Duration
}

// measure runs f until it is warm, then repeatedly for the given time, like the Java program.
func measure(warm, duration time.Duration, f func() error) (result, error) {
	runOnce := func() (time.Duration, error) { return measureTime(f) }
	if err := warmUp(warm, runOnce); err != nil {
		return result{}, err
	}
	var runs []time.Duration
	for start := time.Now(); len(runs) < 3 || time.Since(start) < duration; {
		d, err := runOnce()
		if err != nil {
			return result{}, err
		}
		runs = append(runs, d)
	}
	slices.Sort(runs)
	return result{runs: len(runs), best: runs[0], median: runs[len(runs)/2]}, nil
}

// measureTime returns the lower of the wall-clock and the CPU time of f, as for
// TinkerGraph: other load on the machine increases only the former. The CPU time
// of short runs is not measured.
func measureTime(f func() error) (time.Duration, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	used, ok := threadTime()
	begin := time.Now()
	err := f()
	d := time.Since(begin)
	if d > time.Millisecond && ok {
		now, _ := threadTime()
		d = min(d, now-used)
	}
	return d, err
}

// warmUp runs a query for the given time, and continues while it gets faster.
func warmUp(duration time.Duration, runOnce func() (time.Duration, error)) error {
	best := time.Duration(math.MaxInt64)
	for round := range 10 {
		before := best
		for start := time.Now(); ; {
			d, err := runOnce()
			if err != nil {
				return err
			}
			best = min(best, d)
			if time.Since(start) >= duration {
				break
			}
		}
		if round > 0 && best > before-before/20 { // less than 5 % faster
			break
		}
	}
	return nil
}
