package pluginlevel

import (
	"context"
	"fmt"
	"slices"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"github.com/berth-project/berth/extpoints"
)

// asked is one pair of plugins in one cycle of one pod, with each side's state.
type asked struct {
	*comparison
	*pair
	*question
	ctx      context.Context
	refState fwk.CycleState
	subState *extpoints.CycleState
}

// compareCycle asks a pair of plugins all that a scheduling cycle asks.
func (c *comparison) compareCycle(p *pair, q *question) {
	a := &asked{comparison: c, pair: p, question: q, ctx: c.Twin.Reference.Context, refState: framework.NewCycleState()}
	a.subState = extpoints.NewCycle(extpoints.CycleOptions{View: c.views.Subject, Now: c.Now(), Seed: 1}).State()
	var feasible []int
	filters, scores := a.preFilter()
	if filters {
		for i := range c.views.Reference {
			if a.filter("Filter", a.refState, a.subState, c.views.Reference[i], c.views.Subject.Nodes().At(i)) {
				feasible = append(feasible, i)
			}
		}
		a.extensions()
	}
	if scored := q.scored; scores {
		if a.Devices && filters { // what a node that was not let through is worth nobody knows
			scored = slices.DeleteFunc(slices.Clone(scored), func(i int) bool { return !slices.Contains(feasible, i) })
		}
		a.scores(scored)
	}
	a.reserve(feasible)
}

// same compares two answers of the pair.
func (a *asked) same(point, ref, sub string, node *v1.Node) bool {
	if ref != sub {
		point += a.miscounted(point) + a.ofOneRoom()
	}
	return a.report.Compare(a.name+" "+point, ref, sub, a.detail(a.pair, a.pod, node))
}

// preFilter reports whether Filter is to be asked, and what is about scores: not
// by plugins that are about objects and have none to talk about.
func (a *asked) preFilter() (filters, scores bool) {
	ref, ok := a.reference.(fwk.PreFilterPlugin)
	nodes, st, subOK := a.subject.preFilter(a.subState, a.info)
	if !ok && !subOK {
		return true, true
	}
	refText := ofReference(nil) + ", " + nodeSet[int](nil)
	goesOn, rejects := true, false
	if ok {
		result, status := ref.PreFilter(a.ctx, a.refState, a.pod, a.views.Reference)
		refText = ofReference(status) + ", " + referenceSet(result)
		goesOn, rejects = status.IsSuccess(), !status.IsSuccess() && !status.IsSkip()
	}
	a.same("PreFilter", refText, ofSubject(st)+", "+nodeSet(nodes), nil)
	passes := st.IsSuccess() || a.Custom && st.Code() == extpoints.Skip // all nodes must pass then
	return goesOn && passes, !rejects || !a.Storage && !a.Devices && !a.Custom
}

// filter reports whether the node was let through.
func (a *asked) filter(point string, refState fwk.CycleState, subState *extpoints.CycleState, ref fwk.NodeInfo, sub *extpoints.NodeInfo) bool {
	plugin, ok := a.reference.(fwk.FilterPlugin)
	if !ok {
		return false
	}
	status := plugin.Filter(a.ctx, refState, a.pod, ref)
	return a.same(point+a.beyond(ref, sub)+a.sums(ref, sub), ofReference(status), ofSubject(a.subject.filter(subState, a.info, sub)), ref.Node()) && status.IsSuccess()
}

// extensions lets pods come to a node and go from it, and asks Filter after
// each, on that node and on its neighbour.
func (a *asked) extensions() {
	plugin, ok := a.reference.(fwk.PreFilterPlugin)
	if !ok || plugin.PreFilterExtensions() == nil {
		return
	}
	refState, subState := a.refState.Clone(), a.subState.Clone()
	ref, sub := a.views.Reference[a.tried].Snapshot(), a.views.Subject.Nodes().At(a.tried).Clone()
	for _, comes := range a.changes {
		if comes == nil && len(ref.GetPods()) == 0 {
			continue
		}
		refStatus, subStatus := a.change(plugin.PreFilterExtensions(), refState, subState, ref, sub, comes)
		if !a.same("AddPod and RemovePod", refStatus, subStatus, ref.Node()) {
			return
		}
		a.filter("Filter after AddPod and RemovePod", refState, subState, ref, sub)
		other := (a.tried + 1) % len(a.views.Reference)
		if other != a.tried {
			a.filter("Filter after AddPod and RemovePod", refState, subState, a.views.Reference[other], a.views.Subject.Nodes().At(other))
		}
	}
}

// change adds the pod to both nodes, or removes the first one where there is
// none to add, and tells the plugins.
func (a *asked) change(ext fwk.PreFilterExtensions, refState fwk.CycleState, subState *extpoints.CycleState, ref fwk.NodeInfo, sub *extpoints.NodeInfo, comes *v1.Pod) (refText, subText string) {
	if comes == nil {
		gone := ref.GetPods()[0]
		info := sub.Workloads[0]
		if err := ref.RemovePod(a.Twin.Reference.Logger(), gone.GetPod()); err != nil {
			return err.Error(), ""
		}
		sub.RemoveWorkload(info.ID)
		return ofReference(ext.RemovePod(a.ctx, refState, a.pod, gone, ref)), ofSubject(a.subject.change(subState, a.info, info, sub, false))
	}
	added, err := framework.NewPodInfo(comes)
	if err != nil {
		return err.Error(), ""
	}
	info := &extpoints.WorkloadInfo{Workload: a.Convert(comes), PlacedAt: a.Now(), Terminating: comes.DeletionTimestamp != nil}
	ref.AddPodInfo(added)
	sub.AddWorkload(info)
	return ofReference(ext.AddPod(a.ctx, refState, a.pod, added, ref)), ofSubject(a.subject.change(subState, a.info, info, sub, true))
}

// scores asks PreScore, Score and NormalizeScore about some of the nodes.
func (a *asked) scores(scored []int) {
	plugin, ok := a.reference.(fwk.ScorePlugin)
	if !ok || len(scored) == 0 {
		return
	}
	var refNodes []fwk.NodeInfo
	var subNodes []*extpoints.NodeInfo
	for _, i := range scored {
		refNodes = append(refNodes, a.views.Reference[i])
		subNodes = append(subNodes, a.views.Subject.Nodes().At(i))
	}
	var status *fwk.Status
	if pre, ok := a.reference.(fwk.PreScorePlugin); ok {
		status = pre.PreScore(a.ctx, a.refState, a.pod, refNodes)
	}
	st := a.subject.preScore(a.subState, a.info, subNodes)
	skipped := status.IsSuccess() && st.Code() == extpoints.Skip // all scores must be 0 then
	if !skipped && !a.same("PreScore", ofReference(status), ofSubject(st), nil) || !status.IsSuccess() {
		return
	}
	var refScores fwk.NodeScoreList
	var subScores []int64
	for i, n := range refNodes {
		ref, status := plugin.Score(a.ctx, a.refState, a.pod, n)
		var sub int64
		var st *extpoints.Status
		if !skipped {
			sub, st = a.subject.score(a.subState, a.info, subNodes[i])
		}
		refText, subText := fmt.Sprint(ref, " ", ofReference(status)), fmt.Sprint(sub, " ", ofSubject(st))
		a.same("Score"+a.beyond(n, subNodes[i])+a.sums(n, subNodes[i]), refText, subText, n.Node())
		refScores = append(refScores, fwk.NodeScore{Name: n.Node().Name, Score: ref})
		subScores = append(subScores, sub)
	}
	if skipped {
		return
	}
	a.normalize(plugin, refNodes, subNodes, refScores, subScores)
}

func (a *asked) normalize(plugin fwk.ScorePlugin, refNodes []fwk.NodeInfo, subNodes []*extpoints.NodeInfo, refScores fwk.NodeScoreList, subScores []int64) {
	if plugin.ScoreExtensions() == nil {
		return
	}
	point := "NormalizeScore" + ofRange(refScores)
	for i, n := range refNodes {
		if refScores[i].Score != subScores[i] {
			point = "NormalizeScore" + a.sums(n, subNodes[i])
		}
	}
	status := plugin.ScoreExtensions().NormalizeScore(a.ctx, a.refState, a.pod, refScores)
	st := a.subject.normalize(a.subState, a.info, subNodes, subScores)
	a.same("NormalizeScore status", ofReference(status), ofSubject(st), nil)
	for i, n := range refNodes {
		a.same(point, fmt.Sprint(refScores[i].Score), fmt.Sprint(subScores[i]), n.Node())
	}
}
