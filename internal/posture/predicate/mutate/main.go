// Command mutate is a mutation test of the data files that test the predicates, the
// corpora. It changes the code of a package in one place at a time (it negates a condition,
// swaps && and ||, moves the boundary of a comparison, removes a case of a switch) and runs
// the tests of the corpora on each mutant. A mutant that no test fails on is a survivor:
// the corpora lack a test case, or the branch has no effect.
//
// All mutants of a package are compiled into one test binary, which an
// environment variable switches to one of them, so that a run takes milliseconds
// instead of a compilation.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A target is a package and the tests that must fail on its mutants.
type target struct{ dir, run string }

// targets are the packages of the predicates, of which only the tests of the corpora run,
// and two packages of types that the predicates use, of which all tests run.
var targets = []target{
	{"internal/posture/predicate/aws", "Corpus"},
	{"internal/posture/predicate/azure", "Corpus"},
	{"internal/posture/predicate/gcp", "Corpus"},
	{"internal/posture/predicate/ipset", "."},
	{"internal/posture/predicate", "."},
}

// timeout is the time for one run of the tests. A mutant that does not end is killed.
const timeout = 60 * time.Second

func main() {
	only := flag.String("only", "", "test only mutants of files whose path has this text")
	parallel := flag.Int("parallel", 2, "number of concurrent test runs")
	flag.Parse()
	survivors, err := run(os.Stdout, *only, *parallel)
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(2)
	}
	if survivors > 0 {
		os.Exit(1)
	}
}

// run tests the mutants of all targets and returns the number of survivors.
func run(out io.Writer, only string, parallel int) (survivors int, err error) {
	temp, err := os.MkdirTemp("", "mutate")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()
	total := 0
	for i, t := range targets {
		files, err := filepath.Glob(filepath.Join(t.dir, "*.go"))
		if err != nil {
			return survivors, err
		}
		if !slices.ContainsFunc(files, func(name string) bool { return strings.Contains(name, only) }) {
			continue
		}
		dir := filepath.Join(temp, strconv.Itoa(i))
		binary, mutants, err := build(t.dir, dir)
		if err != nil {
			return survivors, fmt.Errorf("%s: %w", t.dir, err)
		}
		mutants = slices.DeleteFunc(mutants, func(m mutant) bool { return !strings.Contains(m.position, only) })
		if killed, log := kill(t, binary, 0); killed {
			return survivors, fmt.Errorf("%s: the tests fail without a mutation:\n%s", t.dir, log)
		}
		alive := survivorsOf(t, binary, mutants, parallel)
		for _, m := range alive {
			fmt.Fprintf(out, "survived: %s: %s\n", m.position, m.change)
		}
		fmt.Fprintf(out, "%s: %d mutants, %d survived\n", t.dir, len(mutants), len(alive))
		total += len(mutants)
		survivors += len(alive)
	}
	fmt.Fprintf(out, "%d mutants, %d survived\n", total, survivors)
	return survivors, nil
}

// survivorsOf returns the mutants on which the tests of a target pass.
func survivorsOf(t target, binary string, mutants []mutant, parallel int) (alive []mutant) {
	var mu sync.Mutex
	var workers sync.WaitGroup
	queue := make(chan mutant)
	for range parallel {
		workers.Go(func() {
			for m := range queue {
				if killed, _ := kill(t, binary, m.number); !killed {
					mu.Lock()
					alive = append(alive, m)
					mu.Unlock()
				}
			}
		})
	}
	for _, m := range mutants {
		queue <- m
	}
	close(queue)
	workers.Wait()
	slices.SortFunc(alive, func(a, b mutant) int { return a.number - b.number })
	return alive
}

// kill reports whether the tests fail on a mutant; 0 is the original code. The
// address space is limited, because a mutant may allocate without end.
func kill(t target, binary string, number int) (killed bool, log string) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c", `ulimit -v 8000000; exec "$0" "$@"`, binary, "-test.run", t.run, "-test.failfast")
	cmd.Dir = t.dir
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d", variable, number))
	text, err := cmd.CombinedOutput()
	return err != nil, string(text)
}

// build compiles the tests of a package with all its mutants into a binary.
func build(source, dir string) (binary string, mutants []mutant, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", nil, err
	}
	names, err := filepath.Glob(filepath.Join(source, "*.go"))
	if err != nil {
		return "", nil, err
	}
	overlay := struct{ Replace map[string]string }{map[string]string{}}
	add := func(name string, text []byte) error {
		absolute, err := filepath.Abs(name)
		if err != nil {
			return err
		}
		changed := filepath.Join(dir, filepath.Base(name))
		overlay.Replace[absolute] = changed
		return os.WriteFile(changed, text, 0o600)
	}
	pkg := ""
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return "", nil, err
		}
		f, err := mutate(name, text, len(mutants)+1)
		if err != nil {
			return "", nil, err
		}
		pkg = f.pkg
		mutants = append(mutants, f.mutants...)
		if err := add(name, f.text); err != nil {
			return "", nil, err
		}
	}
	if err := add(filepath.Join(source, "mutation_switch.go"), []byte("package "+pkg+switchSource)); err != nil {
		return "", nil, err
	}
	list, err := json.Marshal(overlay)
	if err != nil {
		return "", nil, err
	}
	overlayFile := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(overlayFile, list, 0o600); err != nil {
		return "", nil, err
	}
	binary = filepath.Join(dir, "mutants.test")
	var log bytes.Buffer
	cmd := exec.Command("go", "test", "-c", "-vet=off", "-overlay", overlayFile, "-o", binary, "./"+source)
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Run(); err != nil {
		return "", nil, fmt.Errorf("%w\n%s", err, log.String())
	}
	return binary, mutants, nil
}
