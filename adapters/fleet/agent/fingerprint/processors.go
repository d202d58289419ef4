package fingerprint

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/berth-project/berth/adapters/fleet/agent/cpuset"
	"github.com/berth-project/berth/adapters/fleet/api"
)

// Processors lists the processors that are on line and that this process may use, with
// where they are. The strings are what is not known for certain, for people.
func Processors(o Options) ([]cpuset.Processor, []string, error) {
	o = o.withDefaults()
	base := filepath.Join(o.Sys, "devices/system/cpu")
	text, err := os.ReadFile(filepath.Join(base, "online"))
	if err != nil {
		return nil, nil, err
	}
	online, err := cpuset.ParseList(string(text))
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", filepath.Join(base, "online"), err)
	}
	var warnings []string
	allowed, err := allowedCPUs(filepath.Join(o.Proc, "self/status"))
	if err != nil {
		warnings = append(warnings, fmt.Sprintf("it is not known which processors the agent may use: %v", err))
		allowed = online
	}
	nodes := nodesOfCPUs(readNUMA(filepath.Join(o.Sys, "devices/system/node")))
	var all []cpuset.Processor
	for _, cpu := range online {
		if !slices.Contains(allowed, cpu) {
			continue
		}
		p := cpuset.Processor{ID: cpu, Node: nodes[cpu]}
		topology := filepath.Join(base, fmt.Sprintf("cpu%d/topology", cpu))
		var e1, e2 error
		p.Socket, e1 = strconv.Atoi(readLine(filepath.Join(topology, "physical_package_id")))
		p.Core, e2 = strconv.Atoi(readLine(filepath.Join(topology, "core_id")))
		if e1 != nil || e2 != nil {
			// Virtual machines may say nothing: then each is a core of one socket.
			p.Socket, p.Core = 0, cpu
		}
		all = append(all, p)
	}
	if len(all) == 0 {
		return nil, warnings, fmt.Errorf("no processor: %v are on line, the agent may use %v", online, allowed)
	}
	return all, warnings, nil
}

// countProcessors counts sockets, cores and threads.
func countProcessors(m *api.Machine, o Options) error {
	all, warnings, err := Processors(o)
	m.Warnings = append(m.Warnings, warnings...)
	if err != nil {
		return err
	}
	type core struct{ socket, core int }
	sockets, cores := map[int]bool{}, map[core]bool{}
	for _, p := range all {
		sockets[p.Socket], cores[core{p.Socket, p.Core}] = true, true
	}
	m.Sockets, m.Cores, m.Threads = len(sockets), len(cores), len(all)
	return nil
}

func allowedCPUs(path string) ([]int, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(text)) {
		if list, ok := strings.CutPrefix(line, "Cpus_allowed_list:"); ok {
			return cpuset.ParseList(list)
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

// nodesOfCPUs says which node each processor is of. One of none is of node 0.
func nodesOfCPUs(nodes []api.NUMANode) map[int]int {
	of := map[int]int{}
	for _, n := range nodes {
		cpus, err := cpuset.ParseList(n.CPUs)
		if err != nil {
			continue // only how near to each other they are is not known then
		}
		for _, cpu := range cpus {
			of[cpu] = n.ID
		}
	}
	return of
}
