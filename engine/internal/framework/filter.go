package framework

import (
	"fmt"
	"maps"

	"github.com/berth-project/berth/extpoints"
)

// PreFiltered is the outcome of all PreFilter plugins.
type PreFiltered struct {
	// Nodes are the names of the nodes to look at; nil: all.
	Nodes map[string]struct{}
	// Narrowing are the plugins that narrowed Nodes, sorted. They count as
	// rejecting plugins where the workload does not fit.
	Narrowing []string
	// Status is success, the rejection, or the error.
	Status *extpoints.Status
}

// PreFilter runs the PreFilter plugins. Semantics: kube-scheduler framework/
// runtime/framework.go RunPreFilterPlugins, 1.37.1.
func (f *Framework) PreFilter(s *extpoints.CycleState, w *extpoints.WorkloadInfo) PreFiltered {
	r := f.begin(s)
	var out PreFiltered
	for i := range f.preFilters {
		p := &f.preFilters[i]
		var result *extpoints.PreFilterResult
		st := f.timed(r.timer, "PreFilter", p.Name(), func() (st *extpoints.Status) {
			result, st = p.PreFilter(s, w)
			return st
		})
		if st.Code() != extpoints.Skip {
			f.evaluated(s, "PreFilter", p.Name())
		}
		switch st.Code() {
		case extpoints.Success:
		case extpoints.Skip:
			r.skipExtension[i] = true
			if p.filter >= 0 {
				r.skipFilter[p.filter] = true
			}
			continue
		case extpoints.Unschedulable:
			// PostFilter may want to displace others, and then needs the state
			// of all PreFilters: go on.
			out.Status = st.WithPlugin(p.Name())
			continue
		case extpoints.UnschedulableAndUnresolvable:
			return PreFiltered{Status: st.WithPlugin(p.Name())}
		default:
			return PreFiltered{Status: failed("PreFilter", p.Name(), about(w), st)}
		}
		if result == nil || result.Nodes == nil {
			continue
		}
		out.narrow(p.Name(), result.Nodes)
		if len(out.Nodes) == 0 {
			out.Status = extpoints.NewStatus(extpoints.UnschedulableAndUnresolvable, out.emptyMessage())
			return out
		}
	}
	return out
}

// narrow intersects the nodes with those of one more plugin.
func (p *PreFiltered) narrow(plugin string, nodes map[string]struct{}) {
	p.Narrow(plugin)
	if p.Nodes == nil {
		p.Nodes = maps.Clone(nodes)
		return
	}
	for name := range p.Nodes {
		if _, ok := nodes[name]; !ok {
			delete(p.Nodes, name)
		}
	}
}

// Narrow adds a plugin to those that narrowed the nodes.
func (p *PreFiltered) Narrow(plugin string) { p.Narrowing = insertSorted(p.Narrowing, plugin) }

func (p *PreFiltered) emptyMessage() string {
	if len(p.Narrowing) == 1 {
		return fmt.Sprintf("node(s) didn't satisfy plugin %v", p.Narrowing[0])
	}
	return fmt.Sprintf("node(s) didn't satisfy plugin(s) %v simultaneously", p.Narrowing)
}

// AbsentStatus is the status of the nodes that the narrowing left out.
func (p *PreFiltered) AbsentStatus() *extpoints.Status {
	return extpoints.NewStatus(extpoints.UnschedulableAndUnresolvable,
		fmt.Sprintf("node(s) didn't satisfy plugin(s) %v", p.Narrowing))
}

// filterNode is the inner loop. One deferred recover serves all plugins of the
// node: at says which of them was running.
func (f *Framework) filterNode(r *run, s *extpoints.CycleState, w *extpoints.WorkloadInfo, node *extpoints.NodeInfo) (v Verdict) {
	at := 0
	defer func() {
		if cause := recover(); cause != nil {
			v = f.verdict(at, w, node, panicked("Filter", f.filters[at].Name(), cause))
		}
	}()
	for ; at < len(r.filters); at++ {
		if r.skipFilter[at] {
			continue
		}
		if st := r.filters[at].Filter(s, w, node); !st.IsSuccess() {
			return f.verdict(at, w, node, st)
		}
	}
	return Verdict{}
}

func (f *Framework) verdict(at int, w *extpoints.WorkloadInfo, node *extpoints.NodeInfo, st *extpoints.Status) Verdict {
	if !st.IsRejected() {
		st = failed("Filter", f.filters[at].Name(), on(w, node), st)
	}
	return Verdict{Status: st, plugin: int32(at), f: f}
}

// FilterEach runs every filter on the node, also after a rejection, and
// returns one status for each, with names; nil for success and for skipped
// filters.
func (f *Framework) FilterEach(s *extpoints.CycleState, w *extpoints.WorkloadInfo, node *extpoints.NodeInfo) []*extpoints.Status {
	r := f.current(s)
	only := &run{filters: f.filters, skipFilter: make([]bool, len(f.filters))}
	statuses := make([]*extpoints.Status, len(f.filters))
	for i := range f.filters {
		if r.skipFilter[i] {
			continue
		}
		for j := range only.skipFilter {
			only.skipFilter[j] = j != i
		}
		statuses[i] = f.filterNode(only, s, w, node).Named()
	}
	return statuses
}

// FilterWithNominated runs the filters twice where workloads to which w must yield, of the
// same or a higher priority or by the queues, are nominated to the node: once as if they were there, and
// once without them. Both must pass. (kube-scheduler framework/runtime/
// framework.go RunFilterPluginsWithNominatedPods, 1.37.1.)
func (f *Framework) FilterWithNominated(s *extpoints.CycleState, w *extpoints.WorkloadInfo, node *extpoints.NodeInfo) Verdict {
	r := f.current(s)
	twice := false
	if nominated := s.View().Nominated(node.Node.Name); len(nominated) > 0 {
		var with supposition
		var added bool
		// The guard is for the Clone methods of what plugins keep in the state.
		st := guard("Filter", "CycleState.Clone", func() (st *extpoints.Status) {
			with, added, st = f.addNominated(r, s, w, node, nominated)
			return st
		})
		if st != nil {
			return Verdict{Status: st}
		}
		if added {
			if v := f.filterNode(r, with.state, w, with.node); v.Status != nil {
				return v
			}
			twice = true
		}
	}
	v := f.filterNode(r, s, w, node)
	v.twice = twice
	return v
}

type supposition struct {
	state *extpoints.CycleState
	node  *extpoints.NodeInfo
}

// addNominated supposes that the nominated workloads to which w must yield are
// on the node.
func (f *Framework) addNominated(r *run, s *extpoints.CycleState, w *extpoints.WorkloadInfo, node *extpoints.NodeInfo, nominated []*extpoints.WorkloadInfo) (supposition, bool, *extpoints.Status) {
	var with supposition
	for _, other := range nominated {
		if !MustYield(s, w, other) {
			continue
		}
		if with.state == nil {
			with = supposition{s.Clone(), node.Clone()}
		}
		with.node.AddWorkload(other)
		if st := f.addWorkload(r, with.state, w, other, with.node); st != nil {
			return with, false, st
		}
	}
	return with, with.state != nil, nil
}

// AddWorkload tells the PreFilter extensions to suppose that added is on the
// node.
func (f *Framework) AddWorkload(s *extpoints.CycleState, w, added *extpoints.WorkloadInfo, node *extpoints.NodeInfo) *extpoints.Status {
	return f.addWorkload(f.current(s), s, w, added, node)
}

func (f *Framework) addWorkload(r *run, s *extpoints.CycleState, w, added *extpoints.WorkloadInfo, node *extpoints.NodeInfo) *extpoints.Status {
	return f.extend(r, "PreFilter extension AddWorkload", on(w, node), func(ext extpoints.PreFilterExtensions) *extpoints.Status {
		return ext.AddWorkload(s, w, added, node)
	})
}

// RemoveWorkload tells the PreFilter extensions to suppose that removed is
// gone from the node.
func (f *Framework) RemoveWorkload(s *extpoints.CycleState, w, removed *extpoints.WorkloadInfo, node *extpoints.NodeInfo) *extpoints.Status {
	return f.extend(f.current(s), "PreFilter extension RemoveWorkload", on(w, node), func(ext extpoints.PreFilterExtensions) *extpoints.Status {
		return ext.RemoveWorkload(s, w, removed, node)
	})
}

func (f *Framework) extend(r *run, point string, s subject, call func(extpoints.PreFilterExtensions) *extpoints.Status) *extpoints.Status {
	for i := range f.preFilters {
		p := &f.preFilters[i]
		if p.ext == nil || r.skipExtension[i] {
			continue
		}
		st := f.timed(r.extensions.timer(), point, p.Name(), func() *extpoints.Status { return call(p.ext) })
		if !st.IsSuccess() {
			return failed(point, p.Name(), s, st)
		}
	}
	return nil
}
