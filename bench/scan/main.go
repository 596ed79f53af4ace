// Command scan compares "vigil scan aws" with Prowler on the same AWS account: time, CPU
// time, peak memory, and their ratios. The usual environment variables of AWS hold the
// credentials of the account. The command fails if a ratio is below its limit.
// scripts/bench-scan starts moto, a simulated AWS, and runs the command on it.
//
// Both scanners read one region and write their findings as CSV. Vigil evaluates all of its
// rules, Prowler all of its checks.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"
)

func main() {
	var vigil, prowler, output string
	flag.StringVar(&vigil, "vigil", "bin/vigil", "path of the vigil binary")
	flag.StringVar(&prowler, "prowler", "prowler", "path of prowler")
	flag.StringVar(&output, "output", os.TempDir(), "folder for the findings and logs of both")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, vigil, prowler, output); err != nil {
		fmt.Fprintln(os.Stderr, "scan:", err)
		os.Exit(1)
	}
}

const region = "us-east-1"

func run(ctx context.Context, vigil, prowler, output string) error {
	vigilScan := []string{vigil, "scan", "aws", "--region", region, "--output", filepath.Join(output, "vigil.csv")}
	// moto loads modules when they are first used, so the result of a first run is discarded.
	if _, err := measure(ctx, filepath.Join(output, "first.log"), vigilScan); err != nil {
		return err
	}
	ours, err := measure(ctx, filepath.Join(output, "vigil.log"), vigilScan)
	if err != nil {
		return err
	}
	theirs, err := measure(ctx, filepath.Join(output, "prowler.log"), []string{
		prowler, "aws", "--region", region, "--no-banner", "--no-color", "--ignore-exit-code-3", "-M", "csv", "-o", filepath.Join(output, "prowler"),
	})
	if err != nil {
		return err
	}
	fmt.Printf("%-16s %10s %10s %8s %8s\n", "", "vigil", "prowler", "ratio", "at least")
	failed := false
	for _, row := range []struct {
		name         string
		ours, theirs float64
		least        float64
	}{
		{"seconds", ours.elapsed.Seconds(), theirs.elapsed.Seconds(), 10},
		{"CPU seconds", ours.processor.Seconds(), theirs.processor.Seconds(), 20},
		{"peak memory MB", ours.memory, theirs.memory, 5},
	} {
		ratio := row.theirs / row.ours
		fmt.Printf("%-16s %10.1f %10.1f %8.1f %8.0f\n", row.name, row.ours, row.theirs, ratio, row.least)
		failed = failed || ratio < row.least
	}
	if failed {
		return fmt.Errorf("a ratio is below its limit")
	}
	return nil
}

// cost is what a process used.
type cost struct {
	elapsed, processor time.Duration
	memory             float64 // peak, in MB
}

// measure runs a command, with its output in a file.
func measure(ctx context.Context, log string, command []string) (cost, error) {
	file, err := os.Create(log)
	if err != nil {
		return cost{}, err
	}
	defer file.Close()
	c := exec.CommandContext(ctx, command[0], command[1:]...)
	c.Stdout, c.Stderr = file, file
	start := time.Now()
	if err := c.Run(); err != nil {
		text, _ := os.ReadFile(log)
		return cost{}, fmt.Errorf("%s: %w\n%s", command[0], err, text[max(0, len(text)-2000):])
	}
	used := c.ProcessState.SysUsage().(*syscall.Rusage)
	return cost{time.Since(start), c.ProcessState.UserTime() + c.ProcessState.SystemTime(), float64(used.Maxrss) / 1024}, nil
}
