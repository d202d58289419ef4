package pluginlevel

import (
	"fmt"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"github.com/berth-project/berth/adapters/kubernetes/convert"
	"github.com/berth-project/berth/adapters/kubernetes/parity/generate"
	"github.com/berth-project/berth/adapters/kubernetes/parity/internal/differences"
	"github.com/berth-project/berth/adapters/kubernetes/parity/internal/reference"
	"github.com/berth-project/berth/adapters/kubernetes/parity/internal/subject"
	"github.com/berth-project/berth/adapters/kubernetes/parity/internal/twin"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/extpoints/extpointstest"
	"github.com/berth-project/berth/plugins"
)

// How much one case about groups does.
const (
	treesPerCase = 5
	progresses   = 6
	groupEvents  = 12
)

// groupCase is a case about groups under way.
type groupCase struct {
	*comparison
	trees   []*generate.GroupTree
	members map[string][]*v1.Pod // of each leaf, by name, that wait
}

// RunGroups runs one case about groups: trees of them come with their members,
// and the plugins that are about groups are asked about each. In every second
// case groups are in no trees, and kube-scheduler knows of none.
func RunGroups(seed, number uint64, report *differences.Report, mutation Mutation) error {
	gates := reference.Groups
	if number%2 == 1 {
		gates = reference.Gangs
	}
	source := generate.New(seed, number, generate.Mood{Nodes: 12, Tame: true, Unrelated: true})
	t, err := twin.New(source, reference.Config{Gates: gates}, subject.Config{})
	if err != nil {
		return err
	}
	defer t.Close()
	g := &groupCase{comparison: &comparison{beside: beside{Twin: t}, report: report, handle: extpointstest.NewHandle()}, members: map[string][]*v1.Pod{}}
	for _, v := range ofGroups(source) {
		p, err := newPair(t, g.handle, v, mutation)
		if err != nil {
			return err
		}
		g.pairs = append(g.pairs, p)
	}
	t.Populate(3 + t.IntN(source.Nodes-3))
	for i := range treesPerCase {
		g.grow(fmt.Sprintf("g%d", i), number%2 == 1)
		g.look()
		for _, p := range t.Pods() {
			g.compareMember(t.Object(p))
		}
		for _, tree := range g.trees {
			for _, root := range g.roots(tree) {
				g.compareGroup(root)
			}
		}
		for range groupEvents {
			g.compareGroupEvent()
		}
	}
	return nil
}

// ofGroups are the plugins that are about groups.
func ofGroups(s *generate.Source) []variant {
	return append(fits(s), variant{plugin: plugins.GangScheduling}, variant{plugin: plugins.TopologyPlacementGenerator}, variant{plugin: plugins.PodGroupPodsCount})
}

// grow draws a tree with its members, some of which are on nodes. Some of its
// groups are not there.
func (g *groupCase) grow(name string, flat bool) {
	tree := g.GroupTree(name, g.Now())
	for flat && len(tree.Groups) > 1 {
		tree = g.GroupTree(name, g.Now())
	}
	tree.Groups = slices.DeleteFunc(tree.Groups, func(runtime.Object) bool { return g.Percent(5) })
	for _, object := range tree.Groups {
		g.PutObject(object)
	}
	together := g.AnyNode() // so that members on nodes often agree on their topology
	for _, leaf := range tree.Leaves {
		for range g.IntN(leaf.Members + 1) {
			p := g.NewPod()
			g.Member(p, tree, leaf.Name)
			if g.Percent(30) {
				node := together
				if g.Percent(10) {
					node = g.AnyNode()
				}
				p = g.Source.Placed(p, node, g.Now())
			} else {
				g.members[leaf.Name] = append(g.members[leaf.Name], p)
			}
			g.Put(p)
		}
	}
	g.trees = append(g.trees, tree)
}

// compareMember asks what keeps a member from the queue, and what at Permit.
func (g *groupCase) compareMember(p *v1.Pod) {
	for _, pair := range g.pairs {
		detail := g.detail(pair, p, nil)
		if ref, ok := pair.reference.(fwk.PreEnqueuePlugin); ok {
			st, _ := pair.subject.preEnqueue(g.Convert(p))
			g.report.Compare(pair.name+" PreEnqueue", ofReference(ref.PreEnqueue(g.Reference.Context, p)), ofSubject(st), detail)
		}
		if ref, ok := pair.reference.(fwk.PermitPlugin); ok {
			status, wait := ref.Permit(g.Reference.Context, framework.NewCycleState(), p, generate.NodeName(0))
			st, subWait := pair.subject.permit(&extpoints.WorkloadInfo{Workload: g.Convert(p)})
			g.report.Compare(pair.name+" Permit", fmt.Sprint(ofReference(status), " ", wait), fmt.Sprint(ofSubject(st), " ", subWait), detail)
		}
	}
}

// groupBoth is a group as both sides have it in its cycle.
type groupBoth struct {
	reference *framework.PodGroupInfo
	subject   *extpoints.GroupInfo
}

// roots lists all groups of the tree that are there, each with what is below it.
func (g *groupCase) roots(tree *generate.GroupTree) []groupBoth {
	var list []groupBoth
	for _, object := range tree.Groups {
		change, err := subject.Put(object, convert.Gates{PodGroupPreemptionPolicy: true})
		if err != nil {
			panic(err)
		}
		list = append(list, g.both(change.ID()))
	}
	return list
}

func (g *groupCase) both(id string) groupBoth {
	group := g.views.Subject.Groups().Get(id)
	b := groupBoth{&framework.PodGroupInfo{Namespace: generate.Namespaces[0], Name: id[strings.LastIndex(id, "/")+1:], Type: fwk.PodGroupKeyType}, &extpoints.GroupInfo{Group: group}}
	if group.Composite {
		b.reference.Type = fwk.CompositePodGroupKeyType
		c := &schedulingv1alpha3.CompositePodGroup{}
		c.Namespace, c.Name = b.reference.Namespace, b.reference.Name
		b.reference.CompositePodGroup = g.Reference.Get(c).(*schedulingv1alpha3.CompositePodGroup)
		for _, child := range g.views.Subject.Groups().Children(id) {
			below := g.both(child.ID)
			b.reference.Children = append(b.reference.Children, below.reference)
			b.subject.Children = append(b.subject.Children, below.subject)
		}
		return b
	}
	p := &schedulingv1beta1.PodGroup{}
	p.Namespace, p.Name = b.reference.Namespace, b.reference.Name
	b.reference.PodGroup = g.Reference.Get(p).(*schedulingv1beta1.PodGroup)
	b.reference.UnscheduledPods = g.members[p.Name]
	for _, pod := range g.members[p.Name] {
		b.subject.Members = append(b.subject.Members, &extpoints.WorkloadInfo{Workload: g.Convert(pod)})
	}
	return b
}

// compareGroup asks what a group's cycle asks.
func (g *groupCase) compareGroup(b groupBoth) {
	refState := framework.NewCycleState()
	subState := extpoints.NewCycle(extpoints.CycleOptions{View: g.views.Subject, Now: g.Now(), Seed: 1}).State()
	parent := g.parent()
	placements := []placementBoth{parent}
	for _, p := range g.pairs {
		detail := func() string {
			return fmt.Sprintf("group %s; %d nodes", twin.JSON(b.subject.Group), len(parent.reference.Nodes))
		}
		if ref, ok := p.reference.(framework.PlacementFeasiblePlugin); ok {
			for range progresses {
				scheduled, remaining := g.IntN(4), g.IntN(4)
				status := ref.PlacementFeasible(g.Reference.Context, refState, b.reference, framework.PlacementProgress{Scheduled: scheduled, Remaining: remaining})
				st := p.subject.feasible(subState, b.subject, extpoints.PlacementProgress{Scheduled: scheduled, Remaining: remaining})
				g.report.Compare(p.name+" PlacementFeasible", ofReference(status), ofSubject(st), detail)
			}
		}
		if ref, ok := p.reference.(fwk.PlacementGeneratePlugin); ok {
			result, status := ref.GeneratePlacements(g.Reference.Context, refState, b.reference, parent.reference)
			list, st := p.subject.placements(subState, b.subject, parent.subject)
			if g.report.Compare(p.name+" GeneratePlacements", anyMemberOf(ofReference(status))+" "+referencePlacements(result), anyMemberOf(ofSubject(st))+" "+subjectPlacements(list), detail) && status.IsSuccess() {
				placements = append(placements, inPairs(result, list)...)
			}
		}
	}
	g.compareScores(b, placements)
}

// anyMemberOf cuts off of an error which members it is about: of several kube-scheduler
// comes upon one in the order of a map.
func anyMemberOf(status string) string {
	const about = "cannot determine domain for already scheduled pods"
	if i := strings.Index(status, about); i >= 0 {
		return status[:i+len(about)]
	}
	return status
}

// placementBoth is a placement as both sides have it.
type placementBoth struct {
	reference *fwk.Placement
	subject   *extpoints.Placement
}

// parent draws a placement of all nodes or of some.
func (g *groupCase) parent() placementBoth {
	p := placementBoth{&fwk.Placement{Name: "parent"}, &extpoints.Placement{Name: "parent"}}
	share := generate.Pick(g.Source, 100, 100, 60)
	for i, n := range g.views.Reference {
		if g.Percent(share) {
			p.reference.Nodes = append(p.reference.Nodes, n)
			p.subject.Nodes = append(p.subject.Nodes, g.views.Subject.Nodes().At(i))
		}
	}
	return p
}

// inPairs pairs placements by name.
func inPairs(result *fwk.GeneratePlacementsResult, list []extpoints.Placement) []placementBoth {
	var pairs []placementBoth
	for i := range list {
		for _, ref := range result.Placements {
			if ref.Name == list[i].Name {
				pairs = append(pairs, placementBoth{ref, &list[i]})
			}
		}
	}
	return pairs
}

func referencePlacements(result *fwk.GeneratePlacementsResult) string {
	var words []string
	if result != nil {
		for _, p := range result.Placements {
			var names []string
			for _, n := range p.Nodes {
				names = append(names, n.Node().Name)
			}
			words = append(words, fmt.Sprint(p.Name, names))
		}
	}
	slices.Sort(words)
	return fmt.Sprint(words)
}

func subjectPlacements(list []extpoints.Placement) string {
	var words []string
	for _, p := range list {
		var names []string
		for _, n := range p.Nodes {
			names = append(names, n.Node.Name)
		}
		words = append(words, fmt.Sprint(p.Name, names))
	}
	slices.Sort(words)
	return fmt.Sprint(words)
}

// proposal is a node proposed for a member, for the reference.
type proposal struct {
	info *framework.PodInfo
	node string
}

func (p proposal) GetPod() *v1.Pod               { return p.info.Pod }
func (p proposal) GetPodInfo() fwk.PodInfo       { return p.info }
func (p proposal) GetNodeName() string           { return p.node }
func (p proposal) GetCycleState() fwk.CycleState { return framework.NewCycleState() }

// compareScores asks how good the placements are, with some of the members on
// some of the nodes.
func (g *groupCase) compareScores(b groupBoth, placements []placementBoth) {
	var refs []*fwk.PodGroupAssignments
	var subs []*extpoints.Assignments
	for _, p := range placements {
		if len(p.reference.Nodes) == 0 {
			continue
		}
		ref, sub := &fwk.PodGroupAssignments{Placement: p.reference}, &extpoints.Assignments{Placement: p.subject}
		for _, pod := range b.reference.GetUnscheduledPods() {
			if g.Percent(25) {
				continue
			}
			info, err := framework.NewPodInfo(pod)
			if err != nil {
				panic(err)
			}
			node := p.reference.Nodes[g.IntN(len(p.reference.Nodes))].Node().Name
			ref.ProposedAssignments = append(ref.ProposedAssignments, proposal{info, node})
			w := &extpoints.WorkloadInfo{Workload: g.Convert(pod)}
			made := extpoints.Proposal{Workload: w}
			made.Binding.Workload, made.Binding.Node = w.ID, node
			sub.Proposals = append(sub.Proposals, made)
		}
		refs, subs = append(refs, ref), append(subs, sub)
	}
	for _, p := range g.pairs {
		if ref, ok := p.reference.(fwk.PlacementScorePlugin); ok {
			g.comparePlacementScores(p, ref, b, refs, subs)
		}
	}
}

func (g *groupCase) comparePlacementScores(p *pair, ref fwk.PlacementScorePlugin, b groupBoth, refs []*fwk.PodGroupAssignments, subs []*extpoints.Assignments) {
	state := extpoints.NewCycle(extpoints.CycleOptions{View: g.views.Subject, Now: g.Now(), Seed: 1}).State()
	var refScores []fwk.PlacementScore
	var subScores []int64
	detail := func() string { return "args " + p.args + "; group " + twin.JSON(b.subject.Group) }
	for i := range refs {
		score, status := ref.ScorePlacement(g.Reference.Context, framework.NewCycleState(), b.reference, refs[i])
		sub, st := p.subject.scorePlacement(state, b.subject, subs[i])
		g.report.Compare(p.name+" ScorePlacement", fmt.Sprint(score, " ", ofReference(status)), fmt.Sprint(sub, " ", ofSubject(st)), detail)
		refScores, subScores = append(refScores, fwk.PlacementScore{Placement: refs[i].Placement, Score: score}), append(subScores, sub)
	}
	if ref.PlacementScoreExtensions() == nil || len(refs) == 0 {
		return
	}
	status := ref.PlacementScoreExtensions().NormalizePlacementScore(g.Reference.Context, framework.NewCycleState(), b.reference, refScores)
	st := p.subject.normalizePlacements(state, b.subject, subScores)
	var normalized []int64
	for _, s := range refScores {
		normalized = append(normalized, s.Score)
	}
	g.report.Compare(p.name+" NormalizePlacementScore", fmt.Sprint(normalized, ofReference(status)), fmt.Sprint(subScores, ofSubject(st)), detail)
}
