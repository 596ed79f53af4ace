package main

import (
	"slices"
	"syscall"
	"time"
)

// cost is the wall-clock time and the CPU time of this process for some work. The
// CPU time depends less on what else runs on the machine.
type cost struct{ wall, cpu time.Duration }

// measure runs f and returns its cost.
func measure(f func() error) (cost, error) {
	cpu, wall := cpuTime(), time.Now()
	err := f()
	return cost{time.Since(wall), cpuTime() - cpu}, err
}

// cpuTime returns the CPU time of this process.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// median repeats f and returns the median cost. Slow functions are repeated less often.
func median(rounds int, f func() error) (cost, error) {
	var walls, cpus []time.Duration
	for start := time.Now(); rounds > 0 && time.Since(start) < maxDuration; rounds-- {
		c, err := measure(f)
		if err != nil {
			return c, err
		}
		walls, cpus = append(walls, c.wall), append(cpus, c.cpu)
	}
	return cost{quantile(walls, 0.5), quantile(cpus, 0.5)}, nil
}

// maxDuration is the maximum duration of a comparison, unless a single round takes longer.
const maxDuration = 5 * time.Second

// inTurn alternates two functions, so that other load on the machine affects
// both, and returns the median costs. Slow functions are repeated less often.
func inTurn(rounds int, f, g func() error) (cost, cost, error) {
	var elapsed [2]struct{ walls, cpus []time.Duration }
	for start := time.Now(); rounds > 0 && time.Since(start) < maxDuration; rounds-- {
		for i, do := range []func() error{f, g} {
			c, err := measure(do)
			if err != nil {
				return cost{}, cost{}, err
			}
			elapsed[i].walls, elapsed[i].cpus = append(elapsed[i].walls, c.wall), append(elapsed[i].cpus, c.cpu)
		}
	}
	middle := func(i int) cost { return cost{quantile(elapsed[i].walls, 0.5), quantile(elapsed[i].cpus, 0.5)} }
	return middle(0), middle(1), nil
}

// quantile returns the q-quantile.
func quantile(all []time.Duration, q float64) time.Duration {
	if len(all) == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(all))
	return s[min(int(q*float64(len(s))), len(s)-1)]
}

// ratio returns a divided by b.
func ratio(a, b time.Duration) float64 { return float64(a) / float64(max(b, 1)) }
