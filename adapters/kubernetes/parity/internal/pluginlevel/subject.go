package pluginlevel

import (
	"slices"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// Mutation is a mistake that is made on purpose, to see that it is noticed: the
// plugin's answers at the point are changed. The zero value changes nothing.
type Mutation struct {
	// Plugin is the plugin's name, and Point that of the point.
	Plugin, Point string
}

// Points are the points of a [Mutation].
var Points = []string{"PreEnqueue", "Less", "PreFilter", "Filter", "AddWorkload", "PreScore", "Score", "NormalizeScore", "Reserve", "Hint", "Sign"}

// subjectPlugin asks the subject's plugin, and makes the mistake if there is to
// be one. A point that the plugin does not have answers as if it had nothing to
// say.
type subjectPlugin struct {
	extpoints.Plugin
	mutation Mutation
}

// mutates reports whether the answer at the point is to be changed.
func (p subjectPlugin) mutates(point string) bool {
	return p.mutation == Mutation{p.Name(), point}
}

// status changes a status, if it is to be changed: no into yes and the other
// way round.
func (p subjectPlugin) status(point string, st *extpoints.Status) *extpoints.Status {
	switch {
	case !p.mutates(point):
		return st
	case st.IsSuccess():
		return extpoints.NewStatus(extpoints.Unschedulable, "changed on purpose")
	}
	return nil
}

func (p subjectPlugin) preEnqueue(w *model.Workload) (*extpoints.Status, bool) {
	point, ok := p.Plugin.(extpoints.PreEnqueuePlugin)
	if !ok {
		return nil, false
	}
	return p.status("PreEnqueue", point.PreEnqueue(w)), true
}

func (p subjectPlugin) less(a, b *extpoints.Queued) (bool, bool) {
	point, ok := p.Plugin.(extpoints.QueueSortPlugin)
	if !ok {
		return false, false
	}
	return point.Less(a, b) != p.mutates("Less"), true
}

// preFilter also says which nodes are left, nil for all.
func (p subjectPlugin) preFilter(s *extpoints.CycleState, w *extpoints.WorkloadInfo) (nodes map[string]struct{}, st *extpoints.Status, ok bool) {
	point, ok := p.Plugin.(extpoints.PreFilterPlugin)
	if !ok {
		return nil, nil, false
	}
	result, st := point.PreFilter(s, w)
	if result != nil {
		nodes = result.Nodes
	}
	return nodes, p.status("PreFilter", st), true
}

func (p subjectPlugin) filter(s *extpoints.CycleState, w *extpoints.WorkloadInfo, node *extpoints.NodeInfo) *extpoints.Status {
	point, ok := p.Plugin.(extpoints.FilterPlugin)
	if !ok {
		return nil
	}
	return p.status("Filter", point.Filter(s, w, node))
}

// change tries out that a workload comes to the node or goes from it.
func (p subjectPlugin) change(s *extpoints.CycleState, w, other *extpoints.WorkloadInfo, node *extpoints.NodeInfo, comes bool) *extpoints.Status {
	point, ok := p.Plugin.(extpoints.PreFilterExtensions)
	if !ok || p.mutates("AddWorkload") {
		return nil
	}
	if comes {
		return point.AddWorkload(s, w, other, node)
	}
	return point.RemoveWorkload(s, w, other, node)
}

func (p subjectPlugin) preScore(s *extpoints.CycleState, w *extpoints.WorkloadInfo, nodes []*extpoints.NodeInfo) *extpoints.Status {
	point, ok := p.Plugin.(extpoints.PreScorePlugin)
	if !ok {
		return p.status("PreScore", nil)
	}
	return p.status("PreScore", point.PreScore(s, w, nodes))
}

func (p subjectPlugin) score(s *extpoints.CycleState, w *extpoints.WorkloadInfo, node *extpoints.NodeInfo) (int64, *extpoints.Status) {
	score, st := p.Plugin.(extpoints.ScorePlugin).Score(s, w, node)
	if p.mutates("Score") {
		score++
	}
	return score, st
}

func (p subjectPlugin) normalize(s *extpoints.CycleState, w *extpoints.WorkloadInfo, nodes []*extpoints.NodeInfo, scores []int64) *extpoints.Status {
	var st *extpoints.Status
	if point, ok := p.Plugin.(extpoints.ScoreNormalizer); ok {
		st = point.NormalizeScore(s, w, nodes, scores)
	}
	if p.mutates("NormalizeScore") {
		scores[0]++
	}
	return st
}

// reserve also takes away what was decided, as a mistake.
func (p subjectPlugin) reserve(s *extpoints.CycleState, w *extpoints.WorkloadInfo, b *model.Binding) *extpoints.Status {
	point, ok := p.Plugin.(extpoints.ReservePlugin)
	if !ok {
		return nil
	}
	st := point.Reserve(s, w, b)
	if p.mutates("Reserve") {
		b.Decided = nil
	}
	return st
}

func (p subjectPlugin) unreserve(s *extpoints.CycleState, w *extpoints.WorkloadInfo, b *model.Binding) {
	if point, ok := p.Plugin.(extpoints.ReservePlugin); ok {
		point.Unreserve(s, w, b)
	}
}

// hint says what the plugin makes of an event: "-" where it has not registered
// for it.
func (p subjectPlugin) hint(w *model.Workload, c *extpoints.Event) (string, error) {
	point, ok := p.Plugin.(extpoints.EnqueueExtensions)
	if !ok {
		return "no extensions", nil
	}
	list, err := point.EventsToRegister()
	if err != nil {
		return "", err
	}
	answer := "-"
	for _, r := range list {
		if !r.Event.Matches(c.ClusterEvent) {
			continue
		}
		hint := extpoints.HintQueue
		if r.Hint != nil {
			if hint, err = r.Hint(w, c); err != nil {
				hint = extpoints.HintQueue
			}
		}
		if (hint == extpoints.HintQueue) != p.mutates("Hint") {
			return "queue", nil
		}
		answer = "skip"
	}
	return answer, nil
}

// sign is the plugin's part of a signature as one text; not ok where it cannot
// sign.
func (p subjectPlugin) sign(w *model.Workload) (text string, ok bool) {
	point, has := p.Plugin.(extpoints.SignPlugin)
	if !has {
		return "", false
	}
	if p.mutates("Sign") {
		return "the same for all", true
	}
	fragments, st := point.Sign(w)
	if !st.IsSuccess() {
		return "", false
	}
	fragments = slices.Clone(fragments)
	slices.SortFunc(fragments, func(a, b extpoints.SignFragment) int {
		if a.Key < b.Key {
			return -1
		}
		return 1
	})
	for _, f := range fragments {
		text += f.Key + "=" + f.Value + ";"
	}
	return text, true
}
