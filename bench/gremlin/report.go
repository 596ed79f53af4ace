package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"time"
)

// A report is printed as results arrive.
type report struct {
	w      io.Writer
	ratios []float64 // of the time of TinkerGraph to ours
	failed int
	slower []string  // names of queries that are slower than on TinkerGraph
	loops  []float64 // ratios of our time to that of the loop
}

// heading starts the table of one graph.
func (r *report) heading(name string, vertices, edges int, own, accounted, java int64) {
	n := int64(vertices + edges)
	fmt.Fprintf(r.w, "\n%s: %d vertices, %d edges\n", name, vertices, edges)
	fmt.Fprintf(r.w, "  bytes per element: ours %d (estimated by Graph.Bytes %d)", own/n, accounted/n)
	if java > 0 {
		fmt.Fprintf(r.w, ", TinkerGraph %d, ratio 1/%.1f", java/n, float64(java)/float64(max(own, 1)))
	}
	fmt.Fprintf(r.w, "\n  %-24s %12s %12s %9s %10s  %s\n", "query", "ours", "TinkerGraph", "ratio", "to a loop", "results")
}

// row prints one query. It uses the best run of each engine, which is the least
// disturbed on a shared machine.
func (r *report) row(q query, own result, java *result, loop *time.Duration) {
	ratio, toLoop, note := "", "", ""
	if java != nil {
		x := float64(java.best) / float64(own.best)
		r.ratios = append(r.ratios, x)
		ratio = fmt.Sprintf("%.1f", x)
		if x < 1 {
			r.slower = append(r.slower, q.name)
		}
		if java.sum != own.sum {
			r.failed++
			note = fmt.Sprintf("  RESULTS DIFFER: ours %d/%d, TinkerGraph %d/%d", own.sum.count, own.sum.value, java.sum.count, java.sum.value)
		}
	}
	if loop != nil {
		x := float64(own.best) / float64(max(*loop, 1))
		r.loops = append(r.loops, x)
		toLoop = fmt.Sprintf("%.1f", x)
	}
	best := "-"
	if java != nil {
		best = short(java.best)
	}
	fmt.Fprintf(r.w, "  %-24s %12s %12s %9s %10s  %d%s\n", q.name, short(own.best), best, ratio, toLoop, own.sum.count, note)
}

// broken prints a query that could not be measured.
func (r *report) broken(q query, side string, err error) {
	r.failed++
	fmt.Fprintf(r.w, "  %-24s FAILED on %s: %v\n", q.name, side, err)
}

// mark is a position in the report: the numbers of ratios so far.
type mark struct{ ratios, loops int }

func (r *report) mark() mark { return mark{len(r.ratios), len(r.loops)} }

// subtotal prints the means since the mark.
func (r *report) subtotal(from mark) {
	if xs := r.ratios[from.ratios:]; len(xs) > 0 {
		fmt.Fprintf(r.w, "  geometric mean of %d: %.1f times as fast as TinkerGraph\n", len(xs), geometricMean(xs))
	}
	if xs := r.loops[from.loops:]; len(xs) > 0 {
		fmt.Fprintf(r.w, "  geometric mean of %d: %.1f times the time of a hand-written loop, at most %.1f times\n", len(xs), geometricMean(xs), slices.Max(xs))
	}
}

// end prints the totals.
func (r *report) end() {
	fmt.Fprintln(r.w)
	if len(r.ratios) > 0 {
		fmt.Fprintf(r.w, "%d queries against TinkerGraph: geometric mean %.1f times as fast, slowest ratio %.2f\n",
			len(r.ratios), geometricMean(r.ratios), slices.Min(r.ratios))
	}
	if len(r.slower) > 0 {
		fmt.Fprintf(r.w, "slower than TinkerGraph: %v\n", r.slower)
	}
	if r.failed > 0 {
		fmt.Fprintf(r.w, "%d queries failed or gave different results\n", r.failed)
	}
}

func geometricMean(xs []float64) float64 {
	sum := 0.0
	for _, x := range xs {
		sum += math.Log(x)
	}
	return math.Exp(sum / float64(len(xs)))
}

// short formats a duration in microseconds, or in milliseconds from ten on.
func short(d time.Duration) string {
	switch {
	case d < 10*time.Microsecond:
		return fmt.Sprintf("%.2fµs", float64(d)/1e3)
	case d < 10*time.Millisecond:
		return fmt.Sprintf("%.0fµs", float64(d)/1e3)
	}
	return fmt.Sprintf("%.1fms", float64(d)/1e6)
}
