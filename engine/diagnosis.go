package engine

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	"github.com/berth-project/berth/engine/internal/framework"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// Diagnosis says why a workload fits nowhere: node by node, by reason, and in one
// line. It can only be read. The zero value is that of an attempt that was not about
// nodes. It holds on to the state of the whole cluster, so it must not be kept.
type Diagnosis struct {
	d *framework.Diagnosis // nil for the zero value
}

// IsZero reports whether nothing is known about nodes.
func (d Diagnosis) IsZero() bool { return d.d == nil }

// Message is the summary in one line, in the form of kube-scheduler's (framework/
// types.go FitError, 1.37.1): "0/3 nodes are available: 1 Insufficient cpu, 2
// node(s) had untolerated taint(s)."
func (d Diagnosis) Message() string {
	if d.d == nil {
		return ""
	}
	return d.d.Message()
}

// Plugins lists the plugins that must change their mind, sorted: those that have
// rejected the workload on some node, and those that have left nodes out.
func (d Diagnosis) Plugins() []string {
	if d.d == nil {
		return nil
	}
	return slices.Clone(d.d.UnschedulablePlugins())
}

// Nodes yields the nodes that were ruled out one by one, with what ruled them out,
// in the order in which they were looked at. None where PreFilter has rejected the
// workload, which goes for all nodes; see [Diagnosis.Status].
func (d Diagnosis) Nodes() iter.Seq2[*model.Node, *extpoints.Status] {
	return func(yield func(*model.Node, *extpoints.Status) bool) {
		if d.d == nil {
			return
		}
		for _, r := range d.d.Rejections() {
			if !yield(r.Node.Node, r.Status) {
				return
			}
		}
	}
}

// Status is what rules out the node with the name. Nodes that were not ruled out one
// by one share one, which any other name gets too: that of PreFilter where it has
// rejected the workload or left them out. It is Success for the zero value.
func (d Diagnosis) Status(node string) *extpoints.Status {
	if d.d == nil {
		return nil
	}
	return d.d.Get(node)
}

// Reasons lists what speaks against the nodes, the most common first.
func (d Diagnosis) Reasons() []Reason {
	if d.d == nil {
		return nil
	}
	t := tally{}
	for st, nodes := range d.d.Statuses() {
		t.add(verdict(st), nodes)
	}
	return t.reasons()
}

// Reason is something that speaks against nodes.
type Reason struct {
	// Plugin says so; [extpoints.ExtenderPlugin] stands for the extenders. Empty
	// where several plugins do together.
	Plugin string
	Code   extpoints.Code // what the plugin said: Unschedulable, for example
	// Text is the plugin's; empty where it gave none.
	Text string
	// Nodes is how many nodes it speaks against; 0 where it is not about nodes.
	Nodes int
}

// tally counts reasons: nodes by reason, whose Nodes is not set.
type tally map[Reason]int

func (t tally) add(v Verdict, nodes int) {
	if len(v.Reasons) == 0 && v.Plugin != "" {
		t[Reason{Plugin: v.Plugin, Code: v.Code}] += nodes
	}
	for _, text := range v.Reasons {
		t[Reason{Plugin: v.Plugin, Code: v.Code, Text: text}] += nodes
	}
}

// reasons lists them, the most common first.
func (t tally) reasons() []Reason {
	list := make([]Reason, 0, len(t))
	for r, nodes := range t {
		r.Nodes = nodes
		list = append(list, r)
	}
	slices.SortFunc(list, func(a, b Reason) int {
		return cmp.Or(b.Nodes-a.Nodes, strings.Compare(a.Plugin, b.Plugin), strings.Compare(a.Text, b.Text), cmp.Compare(a.Code, b.Code))
	})
	return list
}

// Verdict is one plugin's rejection of a node; [extpoints.ExtenderPlugin] stands
// for the extenders.
type Verdict struct {
	Plugin  string         // its name
	Code    extpoints.Code // Unschedulable: others could leave to make room; UnschedulableAndUnresolvable: that would not help
	Reasons []string       // in the words of the plugin; empty where it gave none
}

func verdict(st *extpoints.Status) Verdict {
	return Verdict{Plugin: st.Plugin(), Code: st.Code(), Reasons: st.Reasons()}
}
