package meter

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// CPU are the counters of processors, in ticks since the machine was started.
type CPU struct {
	Busy, Total uint64
	// Processors is how many they are of.
	Processors int
}

// ReadCPU adds up the counters of the processors with the numbers, from the file stat of the
// proc file system at the path. Time that a hypervisor gave to others is busy, time spent
// waiting for disks is not. Processors that are not in the file are left out; an error says
// that none is, or that the file cannot be read.
func ReadCPU(proc string, processors []int) (CPU, error) {
	path := filepath.Join(proc, "stat")
	text, err := os.ReadFile(path)
	if err != nil {
		return CPU{}, err
	}
	wanted := make(map[string]bool, len(processors))
	for _, p := range processors {
		wanted["cpu"+strconv.Itoa(p)] = true
	}
	var sum CPU
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		if len(f) == 0 || !wanted[f[0]] {
			continue
		}
		busy, total, err := ticks(f[1:])
		if err != nil {
			return CPU{}, fmt.Errorf("%s: %s: %w", path, f[0], err)
		}
		delete(wanted, f[0]) // a second line of it would count twice
		sum.Busy, sum.Total, sum.Processors = sum.Busy+busy, sum.Total+total, sum.Processors+1
	}
	if sum.Processors == 0 {
		return CPU{}, fmt.Errorf("%s has none of the processors %v", path, processors)
	}
	return sum, nil
}

// The columns of a line of /proc/stat; see proc_pid_stat(5). Those after them, of guests, are
// in user and nice already.
const (
	columnIdle, columnWait = 3, 4
	columns                = 8 // user, nice, system, idle, iowait, irq, softirq, steal
)

// maxTicks is more than any machine has counted. It keeps sums from overflowing.
const maxTicks = 1 << 47

var errTicks = errors.New("these are not the times of a processor")

// ticks are the times of one processor.
func ticks(f []string) (busy, total uint64, err error) {
	if len(f) <= columnWait {
		return 0, 0, errTicks
	}
	for i, text := range f[:min(len(f), columns)] {
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil || n > maxTicks {
			return 0, 0, errTicks
		}
		total += n
		if i != columnIdle && i != columnWait {
			busy += n
		}
	}
	return busy, total, nil
}

// Since is how many processors were busy since the earlier counters, on an average. It is
// false where that cannot be said: no time has passed, counters went back, or they are
// of other processors.
func (c CPU) Since(before CPU) (float64, bool) {
	if c.Processors != before.Processors || c.Total <= before.Total || c.Busy < before.Busy {
		return 0, false
	}
	total := c.Total - before.Total
	// Counters of one processor may go back a little while the sum does not.
	busy := min(c.Busy-before.Busy, total)
	return float64(busy) / float64(total) * float64(c.Processors), true
}

// ReadMemory returns how many bytes are in use, from the file meminfo of the proc file system
// at the path: all that programs could not have without others giving it up. What the
// kernel caches of files is not in use.
func ReadMemory(proc string) (int64, error) {
	path := filepath.Join(proc, "meminfo")
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	total, err := kibibytes(string(text), "MemTotal:")
	if err != nil {
		return 0, fmt.Errorf("%s: %w", path, err)
	}
	available, err := kibibytes(string(text), "MemAvailable:")
	if err != nil {
		return 0, fmt.Errorf("%s: %w", path, err)
	}
	return max(0, total-available) * 1024, nil
}

func kibibytes(text, key string) (int64, error) {
	for line := range strings.Lines(text) {
		value, ok := strings.CutPrefix(line, key)
		f := strings.Fields(value)
		if !ok || len(f) != 2 || f[1] != "kB" {
			continue
		}
		if n, err := strconv.ParseInt(f[0], 10, 64); err == nil && n >= 0 && n < 1<<40 {
			return n, nil
		}
	}
	return 0, fmt.Errorf("it does not say %q", key)
}
