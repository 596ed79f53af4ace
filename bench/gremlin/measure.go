package main

import (
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
	for start := time.Now(); time.Since(start) < warm; {
		if err := f(); err != nil {
			return result{}, err
		}
	}
	var runs []time.Duration
	for start := time.Now(); len(runs) < 3 || time.Since(start) < enough; {
		begin := time.Now()
		if err := f(); err != nil {
			return result{}, err
		}
		runs = append(runs, time.Since(begin))
	}
	slices.Sort(runs)
	return result{runs: len(runs), best: runs[0], median: runs[len(runs)/2]}, nil
}
