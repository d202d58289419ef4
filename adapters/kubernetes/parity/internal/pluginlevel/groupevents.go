package pluginlevel

import (
	"time"

	v1 "k8s.io/api/core/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"
	fwk "k8s.io/kube-scheduler/framework"

	"github.com/berth-project/berth/adapters/kubernetes/convert"
	"github.com/berth-project/berth/adapters/kubernetes/parity/generate"
	"github.com/berth-project/berth/adapters/kubernetes/parity/internal/subject"
	"github.com/berth-project/berth/adapters/kubernetes/words"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins"
)

// compareGroupEvent lets something happen to a group while a member waits.
func (g *groupCase) compareGroupEvent() {
	pod, added, object := g.anyMember(), g.anyMember(), g.anyGroup()
	if pod == nil || added == nil || object == nil {
		return
	}
	h := &happening{}
	switch g.IntN(4) {
	case 0:
		h.refEvents, h.new = []fwk.ClusterEvent{{Resource: fwk.UnscheduledPod, ActionType: fwk.Add}}, added
		h.subEvents = []extpoints.ClusterEvent{{Resource: extpoints.UnscheduledWorkload, Action: extpoints.Add}}
		h.change.NewWorkload = g.infoOf(added)
	case 1:
		added = g.Source.Placed(added.DeepCopy(), generate.NodeName(0), g.Now())
		h.refEvents, h.new = []fwk.ClusterEvent{{Resource: fwk.AssignedPod, ActionType: fwk.Add}}, added
		h.subEvents = []extpoints.ClusterEvent{{Resource: extpoints.AssignedWorkload, Action: extpoints.Add}}
		h.change.NewWorkload = g.infoOf(added)
	case 2:
		h.refEvents, h.new = []fwk.ClusterEvent{{Resource: fwk.PodGroup, ActionType: fwk.Add}}, object
		if _, ok := object.(*schedulingv1alpha3.CompositePodGroup); ok {
			h.refEvents[0].Resource = fwk.CompositePodGroup
		}
		h.subEvents = []extpoints.ClusterEvent{{Resource: extpoints.GroupResource, Action: extpoints.Add}}
		h.change.NewGroup = groupOf(object)
	case 3:
		old, ok := object.(*schedulingv1beta1.PodGroup)
		if !ok {
			return
		}
		changed := g.ChangeGroup(old)
		h.refEvents, h.old, h.new = []fwk.ClusterEvent{{Resource: fwk.PodGroup, ActionType: fwk.Update}}, old, changed
		h.subEvents = []extpoints.ClusterEvent{{Resource: extpoints.GroupResource, Action: extpoints.Update}}
		h.change.OldGroup, h.change.NewGroup = groupOf(old), groupOf(changed)
	}
	for _, p := range g.pairs {
		if p.subject.Name() != plugins.GangScheduling {
			continue
		}
		h.change.ClusterEvent = h.subEvents[0]
		sub, err := p.subject.hint(g.Convert(pod), &h.change)
		if err != nil {
			sub = words.Text(err.Error())
		}
		g.report.Compare(p.name+" hint for "+eventName(h.refEvents[0])+g.without(pod), g.hint(p.reference, pod, h.refEvents[0], h), sub, g.detail(p, pod, nil))
	}
}

// without says of a member that its group is not there.
func (g *groupCase) without(pod *v1.Pod) string {
	if g.views.Subject.Groups().Get(g.Convert(pod).Group) == nil {
		return ", for a member of a group that is not there"
	}
	return ""
}

// anyMember draws a member that waits, nil where there is none.
func (g *groupCase) anyMember() *v1.Pod {
	tree := g.trees[g.IntN(len(g.trees))]
	for range 10 {
		if list := g.members[generate.Pick(g.Source, tree.Leaves...).Name]; len(list) > 0 {
			return list[g.IntN(len(list))]
		}
		tree = g.trees[g.IntN(len(g.trees))]
	}
	return nil
}

// anyGroup draws a group that is there, nil where there is none.
func (g *groupCase) anyGroup() runtime.Object {
	tree := g.trees[g.IntN(len(g.trees))]
	if len(tree.Groups) == 0 {
		return nil
	}
	return tree.Groups[g.IntN(len(tree.Groups))]
}

func groupOf(object runtime.Object) *model.Group {
	change, err := subject.Put(object, convert.Gates{PodGroupPreemptionPolicy: true})
	if err != nil {
		panic(err)
	}
	return change.Value().(*model.Group)
}

// GroupPoints are the points of a [Mutation] that are about groups.
var GroupPoints = []string{"PreEnqueue", "Permit", "PlacementFeasible", "GeneratePlacements", "ScorePlacement", "NormalizePlacementScore", "Hint"}

func (p subjectPlugin) permit(w *extpoints.WorkloadInfo) (*extpoints.Status, time.Duration) {
	point, ok := p.Plugin.(extpoints.PermitPlugin)
	if !ok {
		return nil, 0
	}
	st, wait := point.Permit(nil, w, &model.Binding{Workload: w.ID, Node: generate.NodeName(0)})
	return p.status("Permit", st), wait
}

func (p subjectPlugin) feasible(s *extpoints.CycleState, g *extpoints.GroupInfo, progress extpoints.PlacementProgress) *extpoints.Status {
	point, ok := p.Plugin.(extpoints.PlacementFeasiblePlugin)
	if !ok {
		return nil
	}
	return p.status("PlacementFeasible", point.PlacementFeasible(s, g, progress))
}

// placements also loses one, as a mistake.
func (p subjectPlugin) placements(s *extpoints.CycleState, g *extpoints.GroupInfo, parent *extpoints.Placement) ([]extpoints.Placement, *extpoints.Status) {
	list, st := p.Plugin.(extpoints.PlacementGeneratePlugin).GeneratePlacements(s, g, parent)
	if len(list) > 0 && p.mutates("GeneratePlacements") {
		list = list[1:]
	}
	return list, st
}

func (p subjectPlugin) scorePlacement(s *extpoints.CycleState, g *extpoints.GroupInfo, a *extpoints.Assignments) (int64, *extpoints.Status) {
	score, st := p.Plugin.(extpoints.PlacementScorePlugin).ScorePlacement(s, g, a)
	if p.mutates("ScorePlacement") {
		score++
	}
	return score, st
}

func (p subjectPlugin) normalizePlacements(s *extpoints.CycleState, g *extpoints.GroupInfo, scores []int64) *extpoints.Status {
	var st *extpoints.Status
	if point, ok := p.Plugin.(extpoints.PlacementScoreNormalizer); ok {
		st = point.NormalizePlacementScore(s, g, scores)
	}
	if p.mutates("NormalizePlacementScore") {
		scores[0]++
	}
	return st
}
