// Command testreport converts the output of "go test -json" to a readable
// report:
//
//	go test -json ./... | go run ./internal/testreport
//
// With arguments, it reads these files instead, at the same time: several go
// commands that run beside each other write to named pipes.
//
// It prints a line for each package, the output of failed tests and, at the
// end, the number of passed tests, the slowest tests and every skipped test
// with its reason. It exits with 1 if anything failed.
package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
)

func main() {
	r := newReport(os.Stdout)
	var err error
	if len(os.Args) > 1 {
		err = r.readFiles(os.Args[1:])
	} else {
		err = r.read(os.Stdin)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "testreport:", err)
		os.Exit(1)
	}
	r.end()
	if r.hasFailures() {
		os.Exit(1)
	}
}

// An event is one line of "go test -json"; see "go doc test2json".
type event struct {
	Action     string
	Package    string
	ImportPath string // of the package that is built; only in events of builds
	Test       string
	Output     string
	Elapsed    float64 // seconds
}

// A test is identified by package and name; a package itself has an empty name.
type test struct{ pkg, name string }

type report struct {
	mu      sync.Mutex // held while a line is added
	out     io.Writer
	output  map[test][]string // of running tests
	results map[string]int    // number of tests by final action: pass, fail or skip
	skipped map[string][]test // by reason
	times   map[test]time.Duration
	broken  bool // a failure outside of tests
}

func newReport(out io.Writer) *report {
	return &report{
		out: out, output: map[test][]string{}, results: map[string]int{}, skipped: map[string][]test{}, times: map[test]time.Duration{},
	}
}

func (r *report) hasFailures() bool { return r.broken || r.results["fail"] > 0 }

// readFiles reads several files at the same time.
func (r *report) readFiles(names []string) error {
	var group errgroup.Group
	for _, name := range names {
		group.Go(func() error {
			f, err := os.Open(name)
			if err != nil {
				return err
			}
			defer f.Close()
			return r.read(f)
		})
	}
	return group.Wait()
}

func (r *report) read(in io.Reader) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		r.addLine(lines.Bytes())
	}
	return lines.Err()
}

func (r *report) addLine(line []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var e event
	if err := json.Unmarshal(line, &e); err != nil {
		fmt.Fprintf(r.out, "%s\n", line) // output of the go command itself
		r.broken = true
		return
	}
	r.add(e)
}

func (r *report) add(e event) {
	t := test{e.Package, e.Test}
	switch e.Action {
	case "output":
		r.output[t] = append(r.output[t], e.Output)
	case "build-output":
		fmt.Fprint(r.out, e.Output)
	case "build-fail":
		r.broken = true
	case "pass", "fail", "skip":
		r.finish(t, e)
	}
}

func (r *report) finish(t test, e event) {
	output := r.output[t]
	delete(r.output, t)
	if t.name == "" {
		r.finishPackage(t, e, output)
		return
	}
	r.results[e.Action]++
	r.times[t] = time.Duration(e.Elapsed * float64(time.Second))
	switch e.Action {
	case "fail":
		fmt.Fprintf(r.out, "%s: ", t.pkg)
		fmt.Fprint(r.out, strings.Join(output, ""))
	case "skip":
		skipReason := reason(output)
		r.skipped[skipReason] = append(r.skipped[skipReason], t)
	}
}

// finishPackage prints a package's line and, if it failed, the output of
// unfinished tests: those that a panic or the timeout ended.
func (r *report) finishPackage(t test, e event, output []string) {
	if e.Action == "skip" { // it has no tests
		return
	}
	fmt.Fprintf(r.out, "%-4s %6.1fs %s\n", e.Action, e.Elapsed, t.pkg)
	if e.Action != "fail" {
		return
	}
	r.broken = true
	for _, unfinished := range slices.SortedFunc(maps.Keys(r.output), func(a, b test) int { return strings.Compare(a.name, b.name) }) {
		if unfinished.pkg == t.pkg {
			output = append(output, r.output[unfinished]...)
			delete(r.output, unfinished)
		}
	}
	fmt.Fprint(r.out, strings.Join(output, ""))
}

// reason returns the last message of a skipped test.
func reason(output []string) string {
	last := "without a reason"
	for _, line := range output {
		line = strings.TrimSpace(line)
		if _, after, ok := strings.Cut(line, ".go:"); ok {
			if _, text, ok := strings.Cut(after, ": "); ok {
				last = text
			}
		}
	}
	return last
}

// end prints the summary.
func (r *report) end() {
	const maxShown = 10
	slowest := slices.SortedFunc(maps.Keys(r.times), func(a, b test) int {
		return cmp.Or(cmp.Compare(r.times[b], r.times[a]), strings.Compare(a.pkg+a.name, b.pkg+b.name))
	})
	fmt.Fprintln(r.out, "\nThe slowest tests:")
	for _, t := range slowest[:min(maxShown, len(slowest))] {
		fmt.Fprintf(r.out, "  %6.1fs %s %s\n", r.times[t].Seconds(), t.pkg, t.name)
	}
	for _, reason := range slices.Sorted(maps.Keys(r.skipped)) {
		fmt.Fprintf(r.out, "LEFT OUT: %s\n", reason)
		for _, t := range r.skipped[reason] {
			fmt.Fprintf(r.out, "  %s %s\n", t.pkg, t.name)
		}
	}
	fmt.Fprintf(r.out, "%d tests passed, %d failed, %d were left out\n", r.results["pass"], r.results["fail"], r.results["skip"])
}
