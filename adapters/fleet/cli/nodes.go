package cli

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/api/client"
	"github.com/berth-project/berth/adapters/fleet/internal/command"
	"github.com/berth-project/berth/adapters/fleet/job"
)

func nodesCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "nodes [NODE]",
		Short: "List nodes, or show one",
		Args:  command.Args(0, 1),
		RunE: a.with(func(c *cobra.Command, servers *client.Client, args []string) error {
			if len(args) == 1 {
				return a.showNode(c, servers, args[0])
			}
			nodes, err := allNodes(c, servers)
			if err != nil {
				return err
			}
			v := view{value: api.NodeList{Nodes: nodes}, people: func(w io.Writer) { a.nodeTable(c, nodes).write(w) }}
			for i := range nodes {
				v.names = append(v.names, nodes[i].Name)
			}
			return a.print(c, v)
		}),
	}
}

// allNodes gathers all pages.
func allNodes(c *cobra.Command, servers *client.Client) ([]api.Node, error) {
	nodes := []api.Node{}
	for after := ""; ; {
		page, err := servers.Nodes(c.Context(), api.MaxPage, after)
		if err != nil {
			return nil, err
		}
		nodes = append(nodes, page.Nodes...)
		if after = page.After; after == "" {
			return nodes, nil
		}
	}
}

// nodeState is the state of a node in one word.
func nodeState(n *api.Node) string {
	switch {
	case n.State != api.NodeReady:
		return string(n.State)
	case n.Drain != nil && n.Used.Tasks > 0:
		return "DRAINING"
	case n.Drain != nil:
		return "DRAINED"
	case n.Unhealthy != "":
		return "UNHEALTHY"
	}
	return string(n.State)
}

// nodeNote says what there is to say about a node.
func nodeNote(a *app, n *api.Node) string {
	var notes []string
	if n.Drain != nil && n.Drain.Reason != "" {
		notes = append(notes, n.Drain.Reason)
	}
	if n.Drain != nil && !n.Drain.Deadline.IsZero() && n.Used.Tasks > 0 {
		notes = append(notes, "tasks are ended at "+a.stamp(n.Drain.Deadline))
	}
	if n.Unhealthy != "" {
		notes = append(notes, n.Unhealthy)
	}
	if m := n.Maintenance; m != nil {
		notes = append(notes, fmt.Sprintf("maintenance from %s to %s%s", a.stamp(m.From), a.stamp(m.To), m.Because()))
	}
	return strings.Join(notes, "; ")
}

// nodeTable is a table of nodes. Amounts are what tasks have asked for, of what there is; LOAD
// is what was measured to be in use, where something was.
func (a *app) nodeTable(c *cobra.Command, nodes []api.Node) *table {
	measured := anyLoad(nodes)
	heads, tail := []string{"NODE", "STATE", "TASKS", "CPU", "MEMORY", "DISK", "GPUS"}, []string{"NOTE"}
	if measured {
		tail = []string{"LOAD", "NOTE"}
	}
	t := a.newTable(c, append(heads, tail...)...)
	for i := range nodes {
		n := &nodes[i]
		row := []string{n.Name, nodeState(n), strconv.FormatInt(n.Used.Tasks, 10),
			fmt.Sprintf("%s/%s", n.Used.CPU, n.Machine.CPU),
			shortBytes(n.Used.Memory) + "/" + shortBytes(n.Machine.Memory),
			shortBytes(n.Used.Disk) + "/" + shortBytes(n.Machine.Disk),
			gpusOf(n)}
		if measured {
			row = append(row, shortLoad(n.Load))
		}
		t.row(append(row, nodeNote(a, n))...)
	}
	return t
}

// gpusOf says how many devices of a node are used, of how many.
func gpusOf(n *api.Node) string {
	if len(n.Machine.GPUs) == 0 {
		return "-"
	}
	var used int64
	for _, share := range n.Used.GPUs {
		used += share
	}
	return fmt.Sprintf("%s/%d", job.MilliCPU(used), len(n.Machine.GPUs))
}

// showNode prints one node.
func (a *app) showNode(c *cobra.Command, servers *client.Client, name string) error {
	n, err := servers.Node(c.Context(), name)
	if err != nil {
		return err
	}
	return a.print(c, view{value: n, names: []string{n.Name}, people: func(w io.Writer) { a.writeNode(c, w, &n) }})
}

// writeNode prints a node for people.
func (a *app) writeNode(c *cobra.Command, w io.Writer, n *api.Node) {
	m := &n.Machine
	drain := ""
	if d := n.Drain; d != nil {
		drain = fmt.Sprintf("since %s by %s%s", a.stamp(d.Since), or(d.By, "?"), d.Because())
		if !d.Deadline.IsZero() {
			drain += ", tasks are ended at " + a.stamp(d.Deadline)
		}
	}
	isolation := "process groups"
	if m.Isolation.Cgroup {
		isolation = "cgroups: " + or(strings.Join(m.Isolation.Controllers, ", "), "no controllers")
	}
	fields(w,
		"Node", n.Name, "State", nodeState(n), "Address", n.Address, "Version", n.Version, "Drain", drain, "Note", nodeNote(a, n),
		"Seen", a.stamp(n.Seen), "Registered", a.stamp(n.Registered),
		"System", fmt.Sprintf("%s %s %s %s", m.Hostname, m.OS, m.Arch, m.Kernel),
		"Processors", fmt.Sprintf("%s, %s, %s", count(m.Sockets, "socket"), count(m.Cores, "core"), count(m.Threads, "thread")),
		"CPU", fmt.Sprintf("%s of %s", n.Used.CPU, m.CPU),
		"Memory", fmt.Sprintf("%s of %s", shortBytes(n.Used.Memory), shortBytes(m.Memory)),
		"Disk", fmt.Sprintf("%s of %s", shortBytes(n.Used.Disk), shortBytes(m.Disk)),
		"Tasks", fmt.Sprintf("%d of %d", n.Used.Tasks, m.MaxTasks),
		"Isolation", isolation)
	for _, warning := range m.Warnings {
		fields(w, "Warning", warning)
	}
	if len(m.GPUs) > 0 {
		t := a.newTable(c, "GPU", "MODEL", "MEMORY", "USED")
		for i, g := range m.GPUs {
			used := "0"
			if i < len(n.Used.GPUs) {
				used = job.MilliCPU(n.Used.GPUs[i]).String()
			}
			t.row(strconv.Itoa(i), g.Model, shortBytes(g.Memory), used)
		}
		fmt.Fprintln(w)
		t.write(w)
	}
	a.writeLoad(c, w, n.Load)
	a.writeNamed(c, w, n)
}

// writeNamed prints what operators gave names to: resources and labels.
func (a *app) writeNamed(c *cobra.Command, w io.Writer, n *api.Node) {
	if len(n.Machine.Other) > 0 {
		t := a.newTable(c, "RESOURCE", "USED", "AMOUNT")
		for _, name := range slices.Sorted(maps.Keys(n.Machine.Other)) {
			t.row(name, strconv.FormatInt(n.Used.Other[name], 10), strconv.FormatInt(n.Machine.Other[name], 10))
		}
		fmt.Fprintln(w)
		t.write(w)
	}
	if len(n.Labels) > 0 {
		t := a.newTable(c, "LABEL", "VALUE")
		for _, key := range slices.Sorted(maps.Keys(n.Labels)) {
			t.row(key, n.Labels[key])
		}
		fmt.Fprintln(w)
		t.write(w)
	}
}
