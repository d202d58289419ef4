package fingerprint

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/berth-project/berth/adapters/fleet/api"
)

// readProcessors counts sockets, cores and threads, of those processors that are on
// line and that this process may use.
func readProcessors(m *api.Machine, o Options) error {
	base := filepath.Join(o.Sys, "devices/system/cpu")
	text, err := os.ReadFile(filepath.Join(base, "online"))
	if err != nil {
		return err
	}
	online, err := ParseCPUList(string(text))
	if err != nil {
		return fmt.Errorf("%s: %w", filepath.Join(base, "online"), err)
	}
	allowed, err := allowedCPUs(filepath.Join(o.Proc, "self/status"))
	if err != nil {
		m.Warnings = append(m.Warnings, fmt.Sprintf("it is not known which processors the agent may use: %v", err))
		allowed = online
	}
	type core struct{ socket, core int }
	sockets, cores := map[int]bool{}, map[core]bool{}
	for _, cpu := range online {
		if !slices.Contains(allowed, cpu) {
			continue
		}
		m.Threads++
		topology := filepath.Join(base, fmt.Sprintf("cpu%d/topology", cpu))
		socket, e1 := strconv.Atoi(readLine(filepath.Join(topology, "physical_package_id")))
		id, e2 := strconv.Atoi(readLine(filepath.Join(topology, "core_id")))
		if e1 != nil || e2 != nil {
			// Virtual machines may say nothing: then each is a core of one socket.
			socket, id = 0, cpu
		}
		sockets[socket], cores[core{socket, id}] = true, true
	}
	if m.Threads == 0 {
		return fmt.Errorf("no processor: %v are on line, the agent may use %v", online, allowed)
	}
	m.Sockets, m.Cores = len(sockets), len(cores)
	return nil
}

func allowedCPUs(path string) ([]int, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(text)) {
		if list, ok := strings.CutPrefix(line, "Cpus_allowed_list:"); ok {
			return ParseCPUList(list)
		}
	}
	return nil, fmt.Errorf("%s has no Cpus_allowed_list", path)
}

// readNUMA lists the parts of the machine that have memory of their own; none where
// the kernel was built without.
func readNUMA(base string) []api.NUMANode {
	folders, err := filepath.Glob(filepath.Join(base, "node[0-9]*"))
	if err != nil {
		return nil
	}
	var nodes []api.NUMANode
	for _, folder := range folders {
		id, err := strconv.Atoi(strings.TrimPrefix(filepath.Base(folder), "node"))
		if err != nil {
			continue
		}
		memory, err := readMemory(filepath.Join(folder, "meminfo"), "MemTotal:")
		if err != nil {
			continue
		}
		nodes = append(nodes, api.NUMANode{
			ID: id, CPUs: readLine(filepath.Join(folder, "cpulist")), Memory: memory,
		})
	}
	slices.SortFunc(nodes, func(a, b api.NUMANode) int { return cmp.Compare(a.ID, b.ID) })
	return nodes
}
