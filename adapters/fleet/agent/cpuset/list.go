package cpuset

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// maxCPU is more than any kernel has.
const maxCPU = 1 << 16

var errList = errors.New("not a list of processors")

// ParseList reads a list as the kernel writes it, for example "0-15,32-47".
func ParseList(text string) ([]int, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return nil, nil
	}
	var cpus []int
	for part := range strings.SplitSeq(text, ",") {
		a, b, isRange := strings.Cut(part, "-")
		if !isRange {
			b = a
		}
		first, e1 := strconv.Atoi(a)
		last, e2 := strconv.Atoi(b)
		if e1 != nil || e2 != nil || first < 0 || last < first || last >= maxCPU || len(cpus)+last-first >= maxCPU {
			return nil, fmt.Errorf("%q: %w", text, errList)
		}
		for n := first; n <= last; n++ {
			cpus = append(cpus, n)
		}
	}
	return cpus, nil
}

// FormatList writes a list as the kernel does: in order, each number once, and
// neighbours as a range.
func FormatList(cpus []int) string {
	cpus = slices.Compact(slices.Sorted(slices.Values(cpus)))
	var parts []string
	for i := 0; i < len(cpus); {
		end := i
		for end+1 < len(cpus) && cpus[end+1] == cpus[end]+1 {
			end++
		}
		part := strconv.Itoa(cpus[i])
		if end > i {
			part += "-" + strconv.Itoa(cpus[end])
		}
		parts = append(parts, part)
		i = end + 1
	}
	return strings.Join(parts, ",")
}
