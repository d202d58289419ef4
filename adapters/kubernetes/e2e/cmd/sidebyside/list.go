package main

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/berth-project/berth/adapters/kubernetes/e2e/sidebyside"
)

// listWorkloads prints what upstream's scheduler_perf has of each workload and, for
// each of the numbers of nodes, what there is here.
func listWorkloads(to io.Writer, sizes []int) error {
	table := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "workload\tscheduler_perf (1.37.1)\tof\tnodes\tplaced\twaiting\tmeasured")
	for _, w := range sidebyside.Workloads() {
		line := func(name, upstream, of string, n sidebyside.Counts) {
			fmt.Fprintf(table, "%s\t%s\t%s\t%d\t%d\t%d\t%d\n", name, upstream, of, n.Nodes, n.Placed, n.Waiting, n.Measured)
		}
		name, upstream := w.Name, w.Upstream
		if upstream != "" {
			line(name, upstream, "upstream", w.UpstreamCounts)
			name, upstream = "", ""
		}
		for _, nodes := range sizes {
			line(name, upstream, fmt.Sprintf("-nodes %d", nodes), w.Counts(nodes))
			name = ""
		}
	}
	return table.Flush()
}
