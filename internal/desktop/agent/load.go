package agent

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
)

// times are processor times since boot, in clock ticks.
type times struct {
	busy, all  uint64
	processors int
}

// load returns the load index of the machine, 0 to 100.
func (h *host) load() (int, error) {
	now, err := readTimes(h.root)
	if err != nil {
		return 0, err
	}
	memory, err := readMemory(h.root)
	if err != nil {
		return 0, err
	}
	waiting, err := readLoadAverage(h.root)
	if err != nil {
		return 0, err
	}
	cpu := percentBusy(h.last, now)
	h.last = now
	queue := int(waiting * 100 / float64(max(1, now.processors)))
	return min(100, max(0, cpu, memory, queue)), nil
}

// percentBusy returns the share of processor time used between two samples, or
// since boot for the first sample.
func percentBusy(before, after times) int {
	all := after.all - before.all
	if after.all <= before.all {
		return 0
	}
	return int((after.busy - min(after.busy, before.busy)) * 100 / all)
}

// readTimes parses /proc/stat.
func readTimes(root fs.FS) (times, error) {
	text, err := fs.ReadFile(root, "proc/stat")
	if err != nil {
		return times{}, fmt.Errorf("read processor times: %w", err)
	}
	var t times
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		switch {
		case len(fields) < 5 || !strings.HasPrefix(fields[0], "cpu"):
		case fields[0] != "cpu":
			t.processors++
		default:
			// Columns: user nice system idle iowait irq softirq steal. Guest times are
			// included in user.
			const idle, iowait = 3, 4
			for i, f := range fields[1:min(len(fields), 9)] {
				n, err := strconv.ParseUint(f, 10, 64)
				if err != nil {
					return times{}, fmt.Errorf("read processor times: %w", err)
				}
				t.all += n
				if i != idle && i != iowait {
					t.busy += n
				}
			}
		}
	}
	if t.all == 0 {
		return times{}, errors.New("read processor times: /proc/stat has no cpu line")
	}
	return t, nil
}

// readMemory returns the percentage of memory that is not available.
func readMemory(root fs.FS) (int, error) {
	text, err := fs.ReadFile(root, "proc/meminfo")
	if err != nil {
		return 0, fmt.Errorf("read memory use: %w", err)
	}
	values := map[string]uint64{}
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		name, rest, _ := strings.Cut(lines.Text(), ":")
		if fields := strings.Fields(rest); len(fields) > 0 {
			if n, err := strconv.ParseUint(fields[0], 10, 64); err == nil {
				values[name] = n
			}
		}
	}
	total, free := values["MemTotal"], values["MemAvailable"]
	if total == 0 {
		return 0, errors.New("read memory use: /proc/meminfo has no MemTotal")
	}
	return int((total - min(total, free)) * 100 / total), nil
}

// readLoadAverage returns the load average of the last minute.
func readLoadAverage(root fs.FS) (float64, error) {
	text, err := fs.ReadFile(root, "proc/loadavg")
	if err != nil {
		return 0, fmt.Errorf("read load average: %w", err)
	}
	first, _, _ := strings.Cut(string(text), " ")
	load, err := strconv.ParseFloat(first, 64)
	if err != nil || load < 0 {
		return 0, fmt.Errorf("read load average: %q is not a number", first)
	}
	return load, nil
}
