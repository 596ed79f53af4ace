package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
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

// ways are the ways to read, in the order in which they are measured. The first,
// the bare SDK, is measured around each of the others: how quick a shared machine
// is changes within a minute.
var ways = []string{"bare", "read", "first", "again"}

// A report is what the ways took in one world.
type report struct {
	world world
	calls int
	ways  map[string]result
}

// measureWorld measures every way in a world.
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
	m := &measuring{cloud: c}
	all := map[string][]result{}
	for round := range o.rounds {
		bare, err := m.run(ctx, task{Way: "bare", Profile: profile(o, w, "bare", round)})
		if err != nil {
			return nil, err
		}
		for _, way := range ways[1:] {
			got, err := m.run(ctx, task{Way: way, Database: filepath.Join(dir, fmt.Sprintf("%d.db", round)), Profile: profile(o, w, way, round)})
			if err != nil {
				return nil, err
			}
			next, err := m.run(ctx, task{Way: "bare"})
			if err != nil {
				return nil, err
			}
			got.OfBare = 2 * got.Took.CPU.Seconds() / (bare.Took.CPU + next.Took.CPU).Seconds()
			all[way], all["bare"] = append(all[way], got), append(all["bare"], bare)
			bare = next
		}
	}
	r := &report{world: w, calls: m.total, ways: map[string]result{}}
	for way, results := range all {
		r.ways[way] = median(results)
	}
	return r, nil
}

// profile returns where the profile of a way is to be written.
func profile(o options, w world, way string, round int) string {
	if o.profile == "" || round > 0 {
		return ""
	}
	return fmt.Sprintf("%s-%d-%d-%s.pprof", o.profile, w.Accounts, w.Each, way)
}

// A measuring runs ways to read a cloud and checks that all read the same.
type measuring struct {
	cloud     cloud
	want      map[string]int // calls
	total     int            // of them
	resources int
}

// run reads the cloud in one way.
func (m *measuring) run(ctx context.Context, t task) (result, error) {
	t.Cloud = m.cloud
	before, err := m.cloud.calls(ctx)
	if err != nil {
		return result{}, err
	}
	got, err := t.start(ctx)
	if err != nil {
		return result{}, err
	}
	made, err := m.cloud.calls(ctx)
	if err != nil {
		return result{}, err
	}
	made = since(made, before)
	if m.want == nil {
		m.want, m.resources = made, got.Resources
		for _, n := range made {
			m.total += n
		}
	}
	if !maps.Equal(made, m.want) || got.Resources != m.resources {
		return result{}, fmt.Errorf("%s reads %d resources with %v, the first to read had %d with %v", t.Way, got.Resources, made, m.resources, m.want)
	}
	got.OfBare = 1
	return got, nil
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

// median returns the result whose proportion to bare, or else processor time, is
// in the middle, with the highest peak of all.
func median(all []result) result {
	slices.SortFunc(all, func(a, b result) int {
		return cmp.Or(cmp.Compare(a.OfBare, b.OfBare), cmp.Compare(a.Took.CPU, b.Took.CPU))
	})
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
			way, n/x.Took.Wall.Seconds(), n/x.Took.CPU.Seconds(), x.Peak>>20, x.Took.CPU.Seconds(), x.OfBare)
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
