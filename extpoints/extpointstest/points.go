package extpointstest

import (
	"maps"
	"slices"
	"sync"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// verdict is what PreFilter and Filter of a plugin say together.
type verdict struct {
	state *extpoints.CycleState
	// pre is PreFilter's status, named the nodes that it names (nil: all).
	pre   *extpoints.Status
	named map[string]struct{}
	// nodes has Filter's status for each node in visiting order; nil where
	// PreFilter rejected the workload.
	nodes []*extpoints.Status
}

// judge runs PreFilter and, unless that rejects, Filter for every node, also
// for those that PreFilter leaves out or after a Skip.
func judge(p extpoints.Plugin, s *Situation) verdict { return judgeIn(p, s, s.State()) }

// judgeIn is judge with a state.
func judgeIn(p extpoints.Plugin, s *Situation, state *extpoints.CycleState) verdict {
	v := verdict{state: state}
	if pre, ok := p.(extpoints.PreFilterPlugin); ok {
		result, status := pre.PreFilter(v.state, s.Workload)
		v.pre = status
		if result != nil {
			v.named = result.Nodes
		}
		if !status.IsSuccess() && status.Code() != extpoints.Skip {
			return v
		}
	}
	if f, ok := p.(extpoints.FilterPlugin); ok {
		v.nodes = filterAll(f, v.state, s)
	}
	return v
}

func filterAll(f extpoints.FilterPlugin, state *extpoints.CycleState, s *Situation) []*extpoints.Status {
	statuses := make([]*extpoints.Status, len(s.View.NodeInfos))
	for i, n := range s.View.NodeInfos {
		statuses[i] = f.Filter(state, s.Workload, n)
	}
	return statuses
}

// leavesOut reports whether PreFilter says not to look at the node.
func (v *verdict) leavesOut(node string) bool {
	_, in := v.named[node]
	return v.named != nil && !in
}

// accepts reports whether the plugin lets the workload onto the i-th node.
func (v *verdict) accepts(s *Situation, i int) bool {
	switch {
	case v.pre.Code() == extpoints.Skip:
		return true
	case !v.pre.IsSuccess() || v.leavesOut(s.View.NodeInfos[i].Node.Name):
		return false
	}
	return v.nodes == nil || v.nodes[i].IsSuccess()
}

// feasible are the nodes that the plugin accepts.
func (v *verdict) feasible(s *Situation) []*extpoints.NodeInfo {
	var nodes []*extpoints.NodeInfo
	for i, n := range s.View.NodeInfos {
		if v.accepts(s, i) {
			nodes = append(nodes, n)
		}
	}
	return nodes
}

// sameStatus compares what people and the queue see of two statuses.
func sameStatus(a, b *extpoints.Status) bool {
	return a.Code() == b.Code() && slices.Equal(a.Reasons(), b.Reasons())
}

func sameVerdict(a, b verdict) bool {
	return sameStatus(a.pre, b.pre) && maps.Equal(a.named, b.named) && (a.named == nil) == (b.named == nil) &&
		slices.EqualFunc(a.nodes, b.nodes, sameStatus)
}

func tryFilter(tr *trial) {
	filter, isFilter := tr.plugin.(extpoints.FilterPlugin)
	_, isPreFilter := tr.plugin.(extpoints.PreFilterPlugin)
	if !isFilter && !isPreFilter {
		return
	}
	accepted, rejected := 0, 0
	tr.each(func(s *Situation) {
		v := judge(tr.plugin, s)
		if !tr.allowed(s, "PreFilter", v.pre, extpoints.Success, extpoints.Skip, extpoints.Unschedulable, extpoints.UnschedulableAndUnresolvable) {
			return
		}
		for i, status := range v.nodes {
			name := s.View.NodeInfos[i].Node.Name
			tr.allowed(s, "Filter", status, orRejected(extpoints.Success)...)
			if v.pre.Code() == extpoints.Skip && !status.IsSuccess() {
				tr.failf(s, "PreFilter says Skip, but Filter would say %v for node %s", status, name)
			}
			if v.leavesOut(name) && status.IsSuccess() {
				tr.failf(s, "PreFilter leaves out node %s, but Filter would accept it", name)
			}
		}
		for i := range s.View.NodeInfos {
			if v.accepts(s, i) {
				accepted++
			} else {
				rejected++
			}
		}
		if again := judge(tr.plugin, s); !sameVerdict(v, again) {
			tr.failf(s, "asked again the plugin says %v, %v and not %v, %v", again.pre, again.nodes, v.pre, v.nodes)
		}
		if isFilter && v.nodes != nil {
			tr.tryFilterAtOnce(filter, s, v)
		}
	})
	if isFilter {
		tr.mustGive("Filter", given{"accepted", accepted}, given{"rejected", rejected})
	}
}

// tryFilterAtOnce asks about all nodes at the same time, on one state.
func (tr *trial) tryFilterAtOnce(filter extpoints.FilterPlugin, s *Situation, v verdict) {
	before := fingerprint(v.state)
	atOnce(2*len(v.nodes), func(i int) {
		i %= len(v.nodes)
		if status := filter.Filter(v.state, s.Workload, s.View.NodeInfos[i]); !sameStatus(status, v.nodes[i]) {
			panic("Filter says " + status.String() + " among others and " + v.nodes[i].String() + " alone")
		}
	}, func(what any) { tr.failf(s, "%v", what) })
	if fingerprint(v.state) != before {
		tr.failf(s, "Filter changes the state")
	}
}

// atOnce calls f for 0 to n-1, each on its own goroutine, and reports what they
// panic with.
func atOnce(n int, f func(i int), report func(any)) {
	var wait sync.WaitGroup
	var mu sync.Mutex
	for i := range n {
		wait.Go(func() {
			defer func() {
				if what := recover(); what != nil {
					mu.Lock()
					defer mu.Unlock()
					report(what)
				}
			}()
			f(i)
		})
	}
	wait.Wait()
}

func tryScore(tr *trial) {
	scorer, ok := tr.plugin.(extpoints.ScorePlugin)
	if !ok {
		return
	}
	apart := 0
	tr.each(func(s *Situation) {
		v := judge(tr.plugin, s)
		nodes := v.feasible(s)
		if len(nodes) < 2 {
			return
		}
		if pre, ok := tr.plugin.(extpoints.PreScorePlugin); ok {
			status := pre.PreScore(v.state, s.Workload, nodes)
			if !tr.allowed(s, "PreScore", status, extpoints.Success, extpoints.Skip) || status.Code() == extpoints.Skip {
				return
			}
		}
		before := fingerprint(v.state)
		scores := make([]int64, len(nodes))
		for i, n := range nodes {
			score, status := scorer.Score(v.state, s.Workload, n)
			if !tr.allowed(s, "Score", status, extpoints.Success) {
				return
			}
			scores[i] = score
		}
		atOnce(2*len(nodes), func(i int) {
			i %= len(nodes)
			if score, _ := scorer.Score(v.state, s.Workload, nodes[i]); score != scores[i] {
				panic("Score of node " + nodes[i].Node.Name + " is another among others than alone")
			}
		}, func(what any) { tr.failf(s, "%v", what) })
		if fingerprint(v.state) != before {
			tr.failf(s, "Score changes the state")
		}
		tr.tryNormalize(s, v.state, nodes, scores)
		if slices.Min(scores) != slices.Max(scores) {
			apart++
		}
	})
	tr.mustGive("Score", given{"told nodes apart", apart})
}

func (tr *trial) tryNormalize(s *Situation, state *extpoints.CycleState, nodes []*extpoints.NodeInfo, raw []int64) {
	scores := slices.Clone(raw)
	if n, ok := tr.plugin.(extpoints.ScoreNormalizer); ok {
		again := slices.Clone(raw)
		tr.allowed(s, "NormalizeScore", n.NormalizeScore(state, s.Workload, nodes, scores), extpoints.Success)
		n.NormalizeScore(state, s.Workload, nodes, again)
		if !slices.Equal(scores, again) {
			tr.failf(s, "NormalizeScore makes %v and then %v of %v", scores, again, raw)
		}
	}
	for i, score := range scores {
		if score < extpoints.MinScore || score > extpoints.MaxScore {
			tr.failf(s, "the score of node %s is %d (raw %d), out of range", nodes[i].Node.Name, score, raw[i])
		}
	}
}

func tryExtensions(tr *trial) {
	ext, ok := tr.plugin.(extpoints.PreFilterExtensions)
	if !ok {
		return
	}
	filter, ok := tr.plugin.(extpoints.FilterPlugin)
	if !ok {
		tr.failf(nil, "there are extensions of PreFilter, but no Filter that they could be for")
		return
	}
	tried := 0
	tr.each(func(s *Situation) {
		v := judge(tr.plugin, s)
		if v.nodes == nil || v.pre.Code() == extpoints.Skip {
			return
		}
		node := pick(tr.random, s.View.NodeInfos)
		if len(node.Workloads) == 0 {
			return
		}
		tried++
		before := fingerprint(v.state)
		gone := pick(tr.random, node.Workloads)
		less := s.copy()
		changed := node.Clone()
		changed.RemoveWorkload(gone.ID)
		less.replace(changed)
		state := v.state.Clone()
		tr.allowed(s, "RemoveWorkload", ext.RemoveWorkload(state, s.Workload, gone, changed), extpoints.Success)
		tr.compare(less, "after RemoveWorkload of "+gone.ID, filterAll(filter, state, less), judge(tr.plugin, less).nodes)
		changed.AddWorkload(gone)
		tr.allowed(s, "AddWorkload", ext.AddWorkload(state, s.Workload, gone, changed), extpoints.Success)
		tr.compare(s, "after RemoveWorkload and AddWorkload of "+gone.ID, filterAll(filter, state, s), v.nodes)
		if fingerprint(v.state) != before {
			tr.failf(s, "extensions on a clone change the state that it was made from")
		}
	})
	tr.notef("tried the extensions %d times", tried)
}

// compare reports nodes on which Filter says another code than it would say in
// a cycle that began with things as they are now.
func (tr *trial) compare(s *Situation, when string, got, want []*extpoints.Status) {
	for i := range want {
		if got[i].Code() != want[i].Code() {
			tr.failf(s, "%s Filter says %v for node %s, and %v in a cycle of its own", when, got[i], s.View.NodeInfos[i].Node.Name, want[i])
		}
	}
}

// statuses are the statuses of a verdict, for PostFilter.
type statuses struct {
	s *Situation
	v verdict
}

func (l statuses) Get(node string) *extpoints.Status {
	for i, n := range l.s.View.NodeInfos {
		if n.Node.Name == node {
			return l.at(i)
		}
	}
	return nil
}

func (l statuses) at(i int) *extpoints.Status {
	if l.v.nodes == nil || l.v.leavesOut(l.s.View.NodeInfos[i].Node.Name) {
		return extpoints.NewStatus(extpoints.UnschedulableAndUnresolvable, "ruled out before Filter")
	}
	if status := l.v.nodes[i]; !status.IsSuccess() {
		return status
	}
	return extpoints.NewStatus(extpoints.Unschedulable, "ruled out by somebody else")
}

func (l statuses) WithCode(c extpoints.Code) []*extpoints.NodeInfo {
	var nodes []*extpoints.NodeInfo
	for i, n := range l.s.View.NodeInfos {
		if l.at(i).Code() == c {
			nodes = append(nodes, n)
		}
	}
	return nodes
}

func tryPostFilter(tr *trial) {
	post, ok := tr.plugin.(extpoints.PostFilterPlugin)
	if !ok {
		return
	}
	tr.each(func(s *Situation) {
		v := judge(tr.plugin, s)
		result, status := post.PostFilter(v.state, s.Workload, statuses{s, v})
		tr.allowed(s, "PostFilter", status, extpoints.Success, extpoints.Unschedulable, extpoints.UnschedulableAndUnresolvable)
		switch {
		case result == nil || result.Nominate == "":
		case result.Clear:
			tr.failf(s, "PostFilter nominates node %q, and takes the nomination back", result.Nominate)
		case s.View.Nodes().Get(result.Nominate) == nil:
			tr.failf(s, "PostFilter nominates node %q, which is not there", result.Nominate)
		}
	})
}

func tryReserve(tr *trial) {
	reserve, ok := tr.plugin.(extpoints.ReservePlugin)
	if !ok {
		return
	}
	tr.each(func(s *Situation) {
		v := judge(tr.plugin, s)
		nodes := v.feasible(s)
		if len(nodes) == 0 {
			return
		}
		node := pick(tr.random, nodes).Node.Name
		binding := func() *model.Binding { return &model.Binding{Workload: s.Workload.ID, Node: node} }
		reserve.Unreserve(v.state, s.Workload, binding())
		first := binding()
		status := reserve.Reserve(v.state, s.Workload, first)
		tr.allowed(s, "Reserve", status, orRejected(extpoints.Success)...)
		reserve.Unreserve(v.state, s.Workload, first)
		reserve.Unreserve(v.state, s.Workload, first)
		second := binding()
		again := reserve.Reserve(v.state, s.Workload, second)
		if !sameStatus(status, again) || !slices.Equal(first.Devices, second.Devices) && status.IsSuccess() && len(first.Devices) > 0 {
			tr.failf(s, "Reserve after Unreserve says %v %v, and said %v %v before", again, second, status, first)
		}
		reserve.Unreserve(v.state, s.Workload, second)
	})
}
