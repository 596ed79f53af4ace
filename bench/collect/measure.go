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

// cost is the wall-clock and CPU time of some work. The CPU time depends less on what else
// runs on the machine.
type cost struct{ Wall, CPU time.Duration }

// measure runs f and returns its cost.
func measure(f func() error) (cost, error) {
	cpu, wall := usage(), time.Now()
	err := f()
	return cost{time.Since(wall), usage().cpu() - cpu.cpu()}, err
}

type rusage syscall.Rusage

// usage returns the resource usage of this process.
func usage() (u rusage) {
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, (*syscall.Rusage)(&u)) // cannot fail with these arguments
	return u
}

func (u rusage) cpu() time.Duration { return time.Duration(u.Utime.Nano() + u.Stime.Nano()) }

// peak returns the peak memory of this process in bytes.
func peak() int64 { return usage().Maxrss * 1024 }

// modes are the modes in the order of measurement. The first, the bare SDK, is
// measured before and after each of the others, because the speed of a shared
// machine changes within a minute.
var modes = []string{"bare", "read", "first", "again"}

// A report holds the results of all modes in one world.
type report struct {
	world world
	calls int
	modes map[string]result
}

// measureWorld measures every mode in a world.
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
	m := &comparison{cloud: c}
	all := map[string][]result{}
	for round := range o.rounds {
		bare, err := m.run(ctx, task{Mode: "bare", Profile: profile(o, w, "bare", round)})
		if err != nil {
			return nil, err
		}
		for _, mode := range modes[1:] {
			got, err := m.run(ctx, task{Mode: mode, Database: filepath.Join(dir, fmt.Sprintf("%d.db", round)), Profile: profile(o, w, mode, round)})
			if err != nil {
				return nil, err
			}
			next, err := m.run(ctx, task{Mode: "bare"})
			if err != nil {
				return nil, err
			}
			got.OfBare = 2 * got.Took.CPU.Seconds() / (bare.Took.CPU + next.Took.CPU).Seconds()
			all[mode], all["bare"] = append(all[mode], got), append(all["bare"], bare)
			bare = next
		}
	}
	r := &report{world: w, calls: m.total, modes: map[string]result{}}
	for mode, results := range all {
		r.modes[mode] = median(results)
	}
	return r, nil
}

// profile returns the profile file of a mode.
func profile(o options, w world, mode string, round int) string {
	if o.profile == "" || round > 0 {
		return ""
	}
	return fmt.Sprintf("%s-%d-%d-%s.pprof", o.profile, w.Accounts, w.Each, mode)
}

// A comparison runs modes and checks that all make the same calls and read the same
// number of resources as the first.
type comparison struct {
	cloud     cloud
	want      map[string]int // calls of the first mode, by operation
	total     int            // their sum
	resources int            // resources that the first mode read
}

// run runs one mode.
func (m *comparison) run(ctx context.Context, t task) (result, error) {
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
	made = increases(made, before)
	delete(made, "sts AssumeRole") // the product makes it three times: see the package comment
	if m.want == nil {
		m.want, m.resources = made, got.Resources
		for _, n := range made {
			m.total += n
		}
	}
	if !maps.Equal(made, m.want) || got.Resources != m.resources {
		return result{}, fmt.Errorf("%s reads %d resources with the calls %v; the first mode read %d with %v", t.Mode, got.Resources, made, m.resources, m.want)
	}
	got.OfBare = 1
	return got, nil
}

// increases returns by how much counts have grown, without those that have not.
func increases(now, before map[string]int) map[string]int {
	grown := map[string]int{}
	for name, n := range now {
		if n > before[name] {
			grown[name] = n - before[name]
		}
	}
	return grown
}

// start runs the task in a separate process.
func (t task) start(ctx context.Context) (r result, err error) {
	cmd, err := self(ctx, "work", t)
	if err != nil {
		return r, err
	}
	out, err := cmd.Output()
	if err != nil {
		return r, fmt.Errorf("run mode %q: %w", t.Mode, err)
	}
	err = json.Unmarshal(out, &r)
	return r, err
}

// median returns the result with the median ratio to bare, but with the highest peak
// of all results. Results with the same ratio are sorted by CPU time.
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
	bare := r.modes["bare"]
	fmt.Printf("%s: %d x %d resources, %d calls\n", title, r.world.Accounts, bare.Resources/r.world.Accounts, r.calls)
	for _, mode := range modes {
		x := r.modes[mode]
		n := float64(x.Resources)
		fmt.Printf("  %-6s %8.0f resources/s  %8.0f per CPU second  peak %4d MB  CPU %5.1f s, %.2f of bare\n",
			mode, n/x.Took.Wall.Seconds(), n/x.Took.CPU.Seconds(), x.Peak>>20, x.Took.CPU.Seconds(), x.OfBare)
	}
	fmt.Println()
}

// compareMemory prints how the peaks grow with the number of resources.
func (r *report) compareMemory(small *report) {
	fmt.Printf("peak memory with %d resources, and with %d\n", small.modes["bare"].Resources, r.modes["bare"].Resources)
	for _, mode := range modes {
		a, b := small.modes[mode].Peak, r.modes[mode].Peak
		fmt.Printf("  %-6s %4d MB %4d MB  %.2f times\n", mode, a>>20, b>>20, float64(b)/float64(a))
	}
	fmt.Println()
}
