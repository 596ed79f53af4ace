package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"
)

// cost is what a piece of work took: by the clock, and of the processors. Both
// are measured because machines are shared.
type cost struct{ Wall, CPU time.Duration }

// measure runs f and returns what it took.
func measure(f func() error) (cost, error) {
	cpu, wall := usage(), time.Now()
	err := f()
	return cost{time.Since(wall), usage().cpu() - cpu.cpu()}, err
}

type rusage syscall.Rusage

// usage returns what this process has used.
func usage() (u rusage) {
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, (*syscall.Rusage)(&u)) // fails for no reason that can be here
	return u
}

func (u rusage) cpu() time.Duration { return time.Duration(u.Utime.Nano() + u.Stime.Nano()) }

// peak returns the most memory that this process has had, in bytes.
func peak() int64 { return usage().Maxrss * 1024 }

// ways are the ways to read, in the order in which they are measured.
var ways = []string{"bare", "read", "first", "again"}

// A report is what the ways took in one world.
type report struct {
	world world
	calls int
	ways  map[string]result
}

// measureWorld measures every way in a world, in turns, so that a disturbance of
// the machine hits them all.
func measureWorld(ctx context.Context, o options, w world) (*report, error) {
	c, stop, err := startCloud(ctx, w)
	if err != nil {
		return nil, err
	}
	defer stop()
	dir, err := os.MkdirTemp("", "vigil-bench-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	all := map[string][]result{}
	r := &report{world: w, ways: map[string]result{}}
	var want map[string]int
	for round := range o.rounds {
		for _, way := range ways {
			t := task{Way: way, Cloud: c, Database: filepath.Join(dir, fmt.Sprintf("%d.db", round))}
			if o.profile != "" && round == 0 {
				t.Profile = fmt.Sprintf("%s-%d-%d-%s.pprof", o.profile, w.Accounts, w.Each, way)
			}
			before, err := c.calls(ctx)
			if err != nil {
				return nil, err
			}
			got, err := t.start(ctx)
			if err != nil {
				return nil, err
			}
			all[way] = append(all[way], got)
			made, err := c.calls(ctx)
			if err != nil {
				return nil, err
			}
			if made = since(made, before); want == nil {
				want = made
			}
			if !alike(made, want) || got.Resources != all["bare"][0].Resources {
				return nil, fmt.Errorf("%s reads %d resources with %v, bare reads %d with %v", way, got.Resources, made, all["bare"][0].Resources, want)
			}
		}
	}
	for _, n := range want {
		r.calls += n
	}
	for way, results := range all {
		r.ways[way] = median(results)
	}
	return r, nil
}

// since returns how much counts have grown.
func since(now, before map[string]int) map[string]int {
	grown := map[string]int{}
	for name, n := range now {
		if n > before[name] {
			grown[name] = n - before[name]
		}
	}
	return grown
}

// alike reports whether two ways made the same calls. On a machine with more to
// do than it can, the SDK now and then closes the body of a request before the
// transport has seen its end, which breaks the connection, and asks again: one
// call in a hundred may be a repetition.
func alike(a, b map[string]int) bool {
	if len(a) != len(b) {
		return false
	}
	for name, n := range a {
		if d := n - b[name]; max(d, -d) > 2+n/100 {
			return false
		}
	}
	return true
}

// start does the task in a process of its own.
func (t task) start(ctx context.Context) (r result, err error) {
	cmd, err := self(ctx, "work", t)
	if err != nil {
		return r, err
	}
	out, err := cmd.Output()
	if err != nil {
		return r, fmt.Errorf("read in the way %q: %w", t.Way, err)
	}
	return r, json.Unmarshal(out, &r)
}

// median returns the result whose processor time is in the middle, with the
// highest peak of all.
func median(all []result) result {
	slices.SortFunc(all, func(a, b result) int { return int(a.Took.CPU - b.Took.CPU) })
	m := all[len(all)/2]
	for _, r := range all {
		m.Peak = max(m.Peak, r.Peak)
	}
	return m
}

func (r *report) print(title string) {
	bare := r.ways["bare"]
	fmt.Printf("%s: %d x %d resources, %d calls\n", title, r.world.Accounts, bare.Resources/r.world.Accounts, r.calls)
	for _, way := range ways {
		x := r.ways[way]
		n := float64(x.Resources)
		fmt.Printf("  %-6s %8.0f resources/s  %8.0f per second of processor  peak %4d MB  processor %5.1f s, %.2f of bare\n",
			way, n/x.Took.Wall.Seconds(), n/x.Took.CPU.Seconds(), x.Peak>>20, x.Took.CPU.Seconds(), float64(x.Took.CPU)/float64(bare.Took.CPU))
	}
	fmt.Println()
}

// compareMemory says how the peaks grow with the number of resources.
func (r *report) compareMemory(small *report) {
	fmt.Printf("peak of memory with %d resources, and with %d\n", small.ways["bare"].Resources, r.ways["bare"].Resources)
	for _, way := range ways {
		a, b := small.ways[way].Peak, r.ways[way].Peak
		fmt.Printf("  %-6s %4d MB %4d MB  %.2f times\n", way, a>>20, b>>20, float64(b)/float64(a))
	}
	fmt.Println()
}
