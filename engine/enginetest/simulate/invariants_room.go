package simulate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// over lists everything of which more is used than there is on the node.
func (o *observed) over(node *model.Node, u *usage) []string {
	var list []string
	for _, name := range u.requested.Names() {
		if name != cardResource && u.requested.Get(name) > node.Allocatable.Get(name) {
			list = append(list, name)
		}
	}
	if int64(len(u.workloads)) > mostWorkloads(node) {
		list = append(list, "workloads")
	}
	for device, share := range u.devices {
		if share > model.WholeDevice {
			list = append(list, fmt.Sprintf("device %d", device))
		}
	}
	return append(list, o.portConflicts(node.Name, u)...)
}

// portConflicts lists the ports that two workloads have between them.
func (o *observed) portConflicts(node string, u *usage) []string {
	var list []string
	for a, have := range u.ports {
		if o.disputed[nodePort{node, a}] {
			continue
		}
		conflict := len(have) > 1
		for b, others := range u.ports {
			overlap := a != b && a.Port == b.Port && a.Protocol == b.Protocol &&
				(a.IP == model.AllAddresses || b.IP == model.AllAddresses)
			conflict = conflict || overlap && !o.disputed[nodePort{node, b}] && (len(others) > 1 || others[0] != have[0])
		}
		if conflict {
			list = append(list, fmt.Sprintf("port %v", a))
		}
	}
	return list
}

// checkRoom: the engine puts no more on a node than it has room for. More than
// that is on a node only where an input has put it there, or taken room away; and
// what the engine puts on a node gets everything that it asks for.
func checkRoom(before, after *observed) (p problems) {
	was, is := before.usage(), after.usage()
	for name, u := range is {
		node := after.nodes[name]
		if node == nil {
			continue
		}
		over := after.over(node, u)
		if len(over) > 0 && !after.forced[name] {
			var old []string
			if n, v := before.nodes[name], was[name]; n != nil && v != nil {
				old = before.over(n, v)
			}
			for _, what := range over {
				if !slices.Contains(old, what) {
					p.add("node %s has too little %s for what the engine put on it: %s", name, what, strings.Join(u.workloads, " "))
				}
			}
		}
	}
	for _, id := range after.ids {
		row, old := after.rows[id], before.rows[id]
		if row.Phase == model.Assumed && (old.Phase != model.Assumed || old.CreateIndex != row.CreateIndex) {
			p = append(p, after.checkPlaced(&row, is[row.Node])...)
			p = append(p, after.checkKept(before, &row, is[row.Node])...)
			p = append(p, after.checkApart(&row)...)
			p = append(p, after.checkHeld(&row)...)
			p = append(p, after.checkMeasured(&row)...)
			p = append(p, after.checkNear(before, &row)...)
			if len(after.objects) > 0 {
				p = append(p, after.checkVolumes(&row)...)
				p = append(p, after.checkHasDevices(&row)...)
			}
		}
	}
	return p
}

// checkPlaced looks at a workload that the engine has just put on a node.
func (o *observed) checkPlaced(row *model.WorkloadRecord, u *usage) (p problems) {
	node := o.nodes[row.Node]
	if node == nil {
		p.add("%s was put on %q, which is not there", row.ID, row.Node)
		return p
	}
	for _, name := range row.Requests.Names() {
		served := name == cardResource && o.wantsCard(row)
		if row.Requests.Get(name) > 0 && u.requested.Get(name) > node.Allocatable.Get(name) && !served {
			p.add("%s was put on %s, which has too little %s", row.ID, row.Node, name)
		}
	}
	if int64(len(u.workloads)) > mostWorkloads(node) {
		p.add("%s was put on %s, which has %d workloads already", row.ID, row.Node, len(u.workloads)-1)
	}
	var shares []model.DeviceShare
	for _, r := range row.Workload.Devices {
		for range min(r.Count, int64(len(node.Devices))+1) {
			shares = append(shares, model.DeviceShare{Share: r.Share})
		}
	}
	if len(shares) != len(row.Shares) {
		p.add("%s asks for %d device shares and got %v", row.ID, len(shares), row.Shares)
		return p
	}
	for i, got := range row.Shares {
		if got.Share != shares[i].Share || got.Device < 0 || got.Device >= len(node.Devices) {
			p.add("%s got a share that it did not ask for: %v", row.ID, got)
		} else if u.devices[got.Device] > model.WholeDevice {
			p.add("%s got a share of device %d of %s, which has none left", row.ID, got.Device, row.Node)
		}
	}
	return p
}

// checkDense: the sums that decisions are made from are those of the rows.
func checkDense(o *observed) (p problems) {
	if o.dense == nil {
		if len(o.nodes) > 0 {
			p.add("there are nodes, and no view of them was seen")
		}
		return p
	}
	nodes := o.dense.Nodes()
	if nodes.Len() != len(o.nodes) {
		p.add("the view has %d nodes, the record %d", nodes.Len(), len(o.nodes))
	}
	all := o.usage()
	for i := range nodes.Len() {
		info := nodes.At(i)
		name := info.Node.Name
		if info.Node != o.nodes[name] {
			p.add("the view has another version of node %s than the record", name)
			continue
		}
		if nodes.Get(name) != info {
			p.add("the view finds another node under the name %s", name)
		}
		u := all[name]
		if u == nil {
			u = &usage{}
		}
		p = append(p, o.checkSums(info, u)...)
	}
	for name := range o.nodes {
		var want []string
		for _, id := range o.ids {
			if row := o.rows[id]; row.Nominated == name && row.Phase == model.Pending {
				want = append(want, id)
			}
		}
		var got []string
		for _, w := range o.dense.Nominated(name) {
			got = append(got, w.ID)
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			p.add("nominated to %s are %v in the view, %v on record", name, got, want)
		}
	}
	return p
}

// checkSums compares one node of the view with a recomputation.
func (o *observed) checkSums(info *extpoints.NodeInfo, u *usage) (p problems) {
	name := info.Node.Name
	var ids []string
	for _, w := range info.Workloads {
		ids = append(ids, w.ID)
		row := o.rows[w.ID]
		if w.Workload != row.Workload || !slices.Equal(w.Shares, row.Shares) || w.Terminating != (row.Phase == model.Terminating) {
			p.add("%s on %s is another in the view than on record", w.ID, name)
		}
	}
	slices.Sort(ids)
	if !slices.Equal(ids, u.workloads) {
		p.add("on %s are %v in the view, %v on record", name, ids, u.workloads)
	}
	difference := info.Requested.Clone()
	difference.Sub(&u.requested)
	if !difference.IsZero() || info.EstimatedCPU != u.cpu || info.EstimatedMemory != u.memory {
		p.add("on %s %+v (estimated %d, %d) is in use in the view, %+v (%d, %d) on record",
			name, info.Requested, info.EstimatedCPU, info.EstimatedMemory, u.requested, u.cpu, u.memory)
	}
	if len(info.WithAffinity) != u.affinity || len(info.WithRequiredAntiAffinity) != u.antiAf {
		p.add("on %s are %d and %d workloads with affinity in the view, %d and %d on record", name,
			len(info.WithAffinity), len(info.WithRequiredAntiAffinity), u.affinity, u.antiAf)
	}
	for d := range info.Node.Devices {
		if got, want := info.DeviceFree[d], model.WholeDevice-u.devices[d]; got != want {
			p.add("of device %d of %s %d is free in the view, %d on record", d, name, got, want)
		}
	}
	if len(info.DeviceFree) != len(info.Node.Devices) {
		p.add("%s has %d devices, and the view %d", name, len(info.Node.Devices), len(info.DeviceFree))
	}
	for _, port := range info.Ports {
		if len(u.ports[port]) == 0 {
			p.add("port %v of %s is taken in the view, and by nobody on record", port, name)
		}
	}
	for port := range u.ports {
		if !slices.Contains(info.Ports, port) && !o.disputed[nodePort{name, port}] {
			p.add("port %v of %s is free in the view, and taken on record", port, name)
		}
	}
	return p
}
