package main

import (
	"fmt"
	"io"
	"time"
)

// A result holds the measurements.
type result struct {
	changes, missing int
	duration, all    time.Duration // duration of the changes; duration until all were seen
	delays           []time.Duration
	stages           map[string]stage
	server, benchCPU time.Duration // CPU time
	stealTime        time.Duration // of all processors of the machine
}

// stages are the stages of a change in order.
var stages = [][2]string{
	{"receive", "received: the cloud's message arrives and is verified"},
	{"store", "durable: the message is on disk and acknowledged"},
	{"wait", "a worker starts with the named resources"},
	{"read", "resource read from the cloud"},
	{"save", "entity and change log written"},
	{"patch", "graph patched"},
	{"judge", "rules evaluated, findings written"},
}

// The targets at 200 changes per second on two cores.
const (
	wantMedian = 300 * time.Millisecond
	wantP99    = time.Second
)

// print prints the result.
func (r *result) print(out io.Writer) {
	quantile := func(q float64) time.Duration {
		if len(r.delays) == 0 {
			return 0
		}
		return r.delays[min(len(r.delays)-1, int(q*float64(len(r.delays))))].Round(time.Millisecond)
	}
	fmt.Fprintf(out, "%d changes in %s (%.0f a second), %d not seen\n", r.changes, r.duration.Round(time.Second), float64(r.changes)/r.duration.Seconds(), r.missing)
	fmt.Fprintf(out, "from change to finding in the API: median %s, p90 %s, p99 %s, maximum %s\n", quantile(0.5), quantile(0.9), quantile(0.99), quantile(1))
	verdict := "missed"
	if r.missing == 0 && quantile(0.5) < wantMedian && quantile(0.99) < wantP99 {
		verdict = "met"
	}
	fmt.Fprintf(out, "target: median under %s, p99 under %s: %s\n", wantMedian, wantP99, verdict)
	each := func(d time.Duration) float64 { return d.Seconds() * 1000 / float64(max(r.changes, 1)) }
	fmt.Fprintf(out, "CPU time per change: server %.1f ms, simulated cloud and client %.1f ms (together %.2f cores over %s)\n",
		each(r.server), each(r.benchCPU), (r.server+r.benchCPU).Seconds()/r.all.Seconds(), r.all.Round(time.Second))
	if r.stealTime > 0 {
		fmt.Fprintf(out, "the host of this machine gave %.2f cores to others meanwhile\n", r.stealTime.Seconds()/r.all.Seconds())
	}
	var total time.Duration
	for _, d := range r.delays {
		total += d
	}
	mean := total.Seconds() / float64(max(len(r.delays), 1))
	rest := mean
	fmt.Fprintf(out, "%-8s %8s %10s %6s\n", "stage", "times", "mean", "share")
	for _, s := range stages {
		if st := r.stages[s[0]]; st.Count > 0 {
			average := st.Seconds / float64(st.Count)
			rest -= average
			fmt.Fprintf(out, "%-8s %8d %8.1fms %5.0f%%  %s\n", s[0], st.Count, average*1000, 100*average/mean, s[1])
		}
	}
	fmt.Fprintf(out, "%-8s %8d %8.1fms %5.0f%%  %s\n", "show", len(r.delays), rest*1000, 100*rest/mean, "finding visible: the client polls every "+pollEvery.String())
	fmt.Fprintf(out, "%-8s %8d %8.1fms %5.0f%%\n", "all", len(r.delays), mean*1000, 100.0)
}
