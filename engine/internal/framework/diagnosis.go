package framework

import (
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"

	"github.com/berth-project/berth/extpoints"
)

// NodeRejection is a node and why it was ruled out.
type NodeRejection struct {
	Node   *extpoints.NodeInfo
	Status *extpoints.Status
}

// Diagnosis says why a workload fits nowhere. It implements
// [extpoints.NodeStatuses].
type Diagnosis struct {
	nodes extpoints.Nodes
	total int // number of nodes that the message speaks of
	// Rejections are the nodes that were looked at, in the order in which they
	// were; a node occurs once.
	rejections []NodeRejection
	// bySlot has, by the slot of a node, its place in rejections, counted from
	// 1; 0 for none. The few nodes whose slot is beyond it, or another's, are in
	// byName.
	bySlot []int32
	byName map[string]int
	blamed *extpoints.Status // the last
	// absent is the status of the nodes not in rejections.
	absent *extpoints.Status

	// PreFilterMessage and PostFilterMessage are what those points said.
	PreFilterMessage  string
	PostFilterMessage string
	unschedulable     []string // sorted, unique
	pending           []string
	// counted is what Statuses returns, where it is known already.
	counted map[*extpoints.Status]int
}

// NewDiagnosis starts a diagnosis over the nodes of a view.
func NewDiagnosis(nodes extpoints.Nodes, total int) *Diagnosis {
	return &Diagnosis{nodes: nodes, total: total, absent: noStatus}
}

// Of returns the same diagnosis, of the same nodes in another view, for somebody else who adds
// to it. It shares the list of nodes, to which nobody may add any more.
func (d *Diagnosis) Of(nodes extpoints.Nodes) *Diagnosis {
	if d.counted == nil {
		d.counted = d.count()
	}
	own := *d
	own.nodes = nodes
	own.unschedulable, own.pending = slices.Clip(d.unschedulable), slices.Clip(d.pending)
	return &own
}

// Widen makes it a diagnosis over more nodes, of which those on the list were not looked at.
func (d *Diagnosis) Widen(nodes extpoints.Nodes, rejected []NodeRejection) {
	d.rejections, d.bySlot, d.byName = slices.Clone(d.rejections), slices.Clone(d.bySlot), maps.Clone(d.byName)
	d.nodes, d.total, d.counted = nodes, nodes.Len(), nil
	d.unschedulable = slices.Clone(d.unschedulable)
	for _, r := range rejected {
		d.Reject(r.Node, r.Status)
	}
}

// noStatus is the status of nodes that nobody ruled out: they were not looked
// at. It is kube-scheduler's default for absent nodes (framework/types.go
// NewDefaultNodeToStatus, 1.37.1).
var noStatus = extpoints.NewStatus(extpoints.UnschedulableAndUnresolvable)

// Reject records that the node is ruled out; a later status for the same node
// replaces the earlier.
func (d *Diagnosis) Reject(node *extpoints.NodeInfo, st *extpoints.Status) {
	if st != d.blamed { // most nodes share one status with the one before
		d.Blame(st)
		d.blamed = st
	}
	if d.rejections == nil {
		// Where a workload fits nowhere, most nodes will be here.
		d.rejections = make([]NodeRejection, 0, d.total)
		d.bySlot = make([]int32, d.total)
	}
	if i, ok := d.find(node); ok {
		d.rejections[i].Status = st
		return
	}
	d.rejections = append(d.rejections, NodeRejection{node, st})
	if slot := int(node.Slot); slot < len(d.bySlot) && d.bySlot[slot] == 0 {
		d.bySlot[slot] = int32(len(d.rejections))
		return
	}
	if d.byName == nil {
		d.byName = map[string]int{}
	}
	d.byName[node.Node.Name] = len(d.rejections) - 1
}

// find returns the place of the node in rejections.
func (d *Diagnosis) find(node *extpoints.NodeInfo) (int, bool) {
	if slot := int(node.Slot); slot < len(d.bySlot) {
		if i := int(d.bySlot[slot]) - 1; i >= 0 && d.rejections[i].Node.Node.Name == node.Node.Name {
			return i, true
		}
	}
	i, ok := d.byName[node.Node.Name]
	return i, ok
}

// RejectAbsent sets the status of all nodes that are not ruled out one by one.
func (d *Diagnosis) RejectAbsent(st *extpoints.Status) { d.absent = st }

// Blame adds the status's plugin to those that must change their mind.
func (d *Diagnosis) Blame(st *extpoints.Status) {
	if st.Plugin() == "" || !st.IsRejected() {
		return
	}
	d.BlamePlugins(st.Plugin())
	if st.Code() == extpoints.Pending {
		d.pending = insertSorted(d.pending, st.Plugin())
	}
}

// BlamePlugins adds plugins to those that must change their mind.
func (d *Diagnosis) BlamePlugins(plugins ...string) {
	for _, p := range plugins {
		d.unschedulable = insertSorted(d.unschedulable, p)
	}
}

func insertSorted(list []string, s string) []string {
	i, found := slices.BinarySearch(list, s)
	if found {
		return list
	}
	return slices.Insert(list, i, s)
}

// UnschedulablePlugins lists the plugins that rejected the workload, sorted.
func (d *Diagnosis) UnschedulablePlugins() []string { return d.unschedulable }

// PendingPlugins lists those of them that said Pending.
func (d *Diagnosis) PendingPlugins() []string { return d.pending }

// Rejections lists the nodes ruled out one by one.
func (d *Diagnosis) Rejections() []NodeRejection { return d.rejections }

// Get implements [extpoints.NodeStatuses].
func (d *Diagnosis) Get(node string) *extpoints.Status {
	if info := d.nodes.Get(node); info != nil {
		return d.of(info)
	}
	return d.absent
}

func (d *Diagnosis) of(node *extpoints.NodeInfo) *extpoints.Status {
	if i, ok := d.find(node); ok {
		return d.rejections[i].Status
	}
	return d.absent
}

// WithCode implements [extpoints.NodeStatuses].
func (d *Diagnosis) WithCode(c extpoints.Code) []*extpoints.NodeInfo {
	most := d.nodes.Len()
	if d.counted != nil {
		most = 0
		for st, nodes := range d.counted {
			if st.Code() == c {
				most += nodes
			}
		}
	}
	list := make([]*extpoints.NodeInfo, 0, most)
	if most == 0 {
		return list
	}
	for i := range d.nodes.Len() {
		if node := d.nodes.At(i); d.of(node).Code() == c {
			list = append(list, node)
		}
	}
	return list
}

// Statuses counts the nodes by status, which most of them share; several may say
// the same. It must not be changed.
func (d *Diagnosis) Statuses() map[*extpoints.Status]int {
	if d.counted != nil {
		return d.counted
	}
	return d.count()
}

func (d *Diagnosis) count() map[*extpoints.Status]int {
	nodes := map[*extpoints.Status]int{}
	for from := 0; from < len(d.rejections); {
		to := from + 1 // mostly many in a row have the same
		for to < len(d.rejections) && d.rejections[to].Status == d.rejections[from].Status {
			to++
		}
		nodes[d.rejections[from].Status] += to - from
		from = to
	}
	if rest := d.total - len(d.rejections); rest > 0 {
		nodes[d.absent] += rest
	}
	return nodes
}

// reasons counts every reason over all nodes.
func (d *Diagnosis) reasons() map[string]int {
	counts := map[string]int{}
	for st, nodes := range d.Statuses() {
		for _, reason := range st.Reasons() {
			counts[reason] += nodes
		}
	}
	return counts
}

// Message is the summary in one line, in the form of kube-scheduler's (framework/
// types.go FitError, 1.37.1): "0/3 nodes are available: 1 Insufficient cpu, 2
// node(s) had untolerated taint(s)."
func (d *Diagnosis) Message() string {
	msg := fmt.Sprintf("0/%v nodes are available:", d.total)
	if d.PreFilterMessage != "" {
		msg += " " + d.PreFilterMessage + "."
	} else if h := histogram(d.reasons()); h != "" {
		msg += " " + h + "."
	}
	if d.PostFilterMessage != "" {
		msg += " " + d.PostFilterMessage
	}
	return msg
}

// histogram is sorted by the finished strings, so "10 x" comes before "2 y".
func histogram(counts map[string]int) string {
	lines := make([]string, 0, len(counts))
	for reason, n := range counts {
		lines = append(lines, fmt.Sprintf("%v %v", n, reason))
	}
	sort.Strings(lines)
	return strings.Join(lines, ", ")
}
