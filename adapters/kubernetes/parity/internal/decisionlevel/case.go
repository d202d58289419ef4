package decisionlevel

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"

	"github.com/berth-project/berth/adapters/kubernetes/cel"
	"github.com/berth-project/berth/adapters/kubernetes/parity/generate"
	"github.com/berth-project/berth/adapters/kubernetes/parity/internal/answer"
	"github.com/berth-project/berth/adapters/kubernetes/parity/internal/differences"
	"github.com/berth-project/berth/adapters/kubernetes/parity/internal/reference"
	"github.com/berth-project/berth/adapters/kubernetes/parity/internal/subject"
	"github.com/berth-project/berth/adapters/kubernetes/parity/internal/twin"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/plugins"
	"github.com/berth-project/berth/plugins/defaultpreemption"
	"github.com/berth-project/berth/plugins/dynamicresources"
)

// plan is what a case is like.
type plan struct {
	generate.Plan
	// groups: pods come in groups. gates are the feature gates about them.
	groups bool
	gates  reference.Gates
}

// About is what the cases of a run are about.
type About string

// What cases can be about: nodes and pods alone, or these besides.
const (
	Pods    About = "decision"
	Storage About = "storage"
	Devices About = "devices"
	Groups  About = "group"
)

// newPlanAbout draws the plan of a case about storage, devices or groups.
func newPlanAbout(about About, s *generate.Source) plan {
	p := plan{Plan: generate.Plan{Size: 2 + s.IntN(8), Steps: 25, Adopted: 2, Prompt: true}}
	p.Tame, p.Crowded, p.Unrelated = true, s.Percent(50), s.Percent(70)
	switch about {
	case Storage:
		p.Storage = true
	case Devices:
		p.Devices = true
	case Groups:
		p.groups, p.gates = true, drawGates(s)
		p.Uniform, p.Devices = s.Percent(30), s.Percent(20)
		p.Crowded = true
	}
	p.Nodes, p.PlainChanges = p.Size+5, true
	return p
}

// drawGates draws what feature gates about groups are on: all in half of the cases.
func drawGates(s *generate.Source) reference.Gates {
	if s.Percent(50) {
		return reference.Groups
	}
	return generate.Pick(s, reference.Combinations()...)
}

// history is a case under way.
type history struct {
	*twin.Twin
	plan
	report *differences.Report
	with   string // a plugin; see Options
	tell   io.Writer
	over   bool // the two sides went apart

	trees []*tree
	named int   // trees
	left  *tree // that a waiting member has just left
}

// Options change a case.
type Options struct {
	// About is what it is about; empty: pods.
	About About
	// Gates are the feature gates about groups; nil: all or some of them.
	Gates reference.Gates
	// Change and Deaf make mistakes on purpose; see [subject.Config].
	Change func(*engine.Config)
	Deaf   func(engine.Change) bool
	// Plan changes what the case is like.
	Plan func(*generate.Plan)
	// Beside is told of the reference; see [subject.Config]. Reference changes its
	// configuration, and may draw for that.
	Beside    func(*reference.Scheduler)
	Reference func(*generate.Source, *reference.Config)
	// Begin tells both sides of what is there before all else.
	Begin func(*twin.Twin) error
	// With is a plugin that both sides run besides. Its decisions are counted by themselves.
	With string
	// Tape writes down the case.
	Tape *subject.Tape
	// Small keeps the case short, and DynamicResources out of one that is not
	// about devices.
	Small bool
	// Tell, where not nil, is told everything that happens, for people.
	Tell io.Writer
}

// Run runs one case.
func Run(seed, number uint64, report *differences.Report, o Options) error {
	source := generate.New(seed, number, generate.Mood{})
	h := &history{report: report, with: o.With, tell: o.Tell}
	if h.Plan = generate.NewPlan(number, source); o.About != "" && o.About != Pods {
		h.plan = newPlanAbout(o.About, source)
	}
	switch {
	case o.Gates != nil:
		h.gates = o.Gates
	case o.Tape != nil && h.groups: // who replays it has no gates
		h.gates = reference.Groups
	}
	if o.Plan != nil {
		o.Plan(&h.Plan)
	}
	if o.Small {
		h.Size, h.Steps = min(h.Size, 5), 6
	}
	// In one case of three the feature gate is off.
	h.plan.Comparing, h.plan.ComparingOff = true, number%3 == 0
	zones := source.Zones
	source.Mood = h.plan.Mood
	source.Zones = zones
	var err error
	if h.Twin, err = newTwin(source, &h.plan, o); err != nil {
		return err
	}
	defer h.Close()
	h.Subject.Tape = o.Tape
	if o.Begin != nil {
		if err := o.Begin(h.Twin); err != nil {
			return err
		}
	}
	h.begin()
	for range h.Steps {
		h.step()
		if h.over {
			return nil
		}
	}
	h.Look().Compare(report)
	return nil
}

// newTwin makes both sides with the same arguments.
func newTwin(s *generate.Source, p *plan, o Options) (*twin.Twin, error) {
	ref := reference.Config{Args: map[string]runtime.Object{}}
	sub := subject.Config{Change: o.Change, Deaf: o.Deaf, Beside: o.Beside, Args: map[string]any{
		plugins.DynamicResources: dynamicresources.Args{Evaluator: cel.New()},
	}}
	ref.Gates = p.gates
	if ref.Gates.Has(reference.Placements) {
		ref.Tie, sub.Tie = generate.TieScore, generate.TieScore
	} else if o.About == Groups {
		sub.Without = []string{plugins.TopologyPlacementGenerator, plugins.PodGroupPodsCount}
	}
	// It fails where nothing has asked its PreFilter, and then nobody else is
	// asked to make room.
	without := o.About == Groups && !s.Devices && s.Percent(75)
	if without || o.Small && !s.Devices && (o.About == Groups || o.About == Storage) {
		ref.Without, sub.Without = []string{plugins.DynamicResources}, append(sub.Without, plugins.DynamicResources)
		delete(sub.Args, plugins.DynamicResources)
	}
	if o.Tape != nil {
		o.Tape.Without = sub.Without
		if sub.Tie != nil {
			sub.Tie = o.Tape.Tie(sub.Tie)
		}
	}
	if s.Percent(25) {
		percentage := generate.Pick(s, int32(0), 1, 5, 20, 60, 99, 100)
		ref.PercentageOfNodesToScore, sub.PercentageOfNodesToScore = &percentage, &percentage
		if o.Tape != nil {
			o.Tape.PercentageOfNodesToScore = &percentage
		}
	}
	if p.Size > 90 { // with more than 100 candidates the reference would start anywhere
		ref.Args[plugins.DefaultPreemption] = &config.DefaultPreemptionArgs{MinCandidateNodesPercentage: 100, MinCandidateNodesAbsolute: 100}
		sub.Args[plugins.DefaultPreemption] = defaultpreemption.Args{MinCandidateNodesPercentage: new(int32(100))}
	}
	if o.Reference != nil {
		o.Reference(s, &ref)
	}
	return twin.New(s, ref, sub)
}

// begin fills the cluster.
func (h *history) begin() {
	h.Populate(h.Size)
	for range h.IntN(h.Adopted*h.Size + 1) {
		h.Adopt()
	}
	for range h.IntN(4) {
		h.putBudget()
	}
}

// putBudget adds a budget or changes one.
func (h *history) putBudget() {
	var names []string
	for _, p := range h.Pods() {
		names = append(names, p.Name)
	}
	// One in each namespace: where two protect the same pod, kube-scheduler's answer
	// depends on which it comes upon first, in the order of a map (framework/
	// preemption/util.go FilterVictimsWithPDBViolation, 1.37.1).
	h.PutBudget(h.Budget(0, names, h.Now()))
}

// step lets something happen and then schedules.
func (h *history) step() {
	for range h.IntN(3) {
		if what := h.Disturb(h.Size); !h.compareWaiting(what) {
			return
		}
	}
	if what := h.changeWaiting(); !h.compareWaiting(what) {
		return
	}
	if h.Percent(25) {
		h.leaveNominated()
	}
	if h.Percent(15) {
		h.putBudget()
	}
	if h.groups && !h.stepGroups() {
		return
	}
	h.submit(1 + h.IntN(4))
	if !h.compareWaiting("new pods") {
		return
	}
	h.Pass(time.Duration(h.IntN(6000)) * time.Millisecond)
	if !h.compareWaiting("some time") {
		return
	}
	for range 6 {
		if !h.schedule() {
			break
		}
	}
	if !h.over {
		h.letVictimsGo()
	}
}

func (h *history) submit(n int) {
	var pods []*v1.Pod
	for range n {
		p := h.NewPod()
		if h.Wild(10) {
			h.Gate(p)
		}
		pods = append(pods, p)
	}
	h.put(pods)
}

// put adds pods, in batches of any size.
func (h *history) put(pods []*v1.Pod) {
	for len(pods) > 0 {
		n := 1 + h.IntN(len(pods))
		h.PutTogether(pods[:n]...)
		pods = pods[n:]
	}
}

// changeWaiting changes or removes one of the pods that wait, and says what it
// did.
func (h *history) changeWaiting() string {
	p := h.AnyPod(twin.Waiting)
	h.left = nil
	switch {
	case p == nil:
	case h.Percent(15):
		h.Update(p, h.ChangePod(h.Object(p)))
		return "a change of " + p.ID
	case h.Percent(15):
		h.left = h.treeOf(p)
		h.Remove(p)
		return "removal of " + p.ID
	}
	return ""
}

// leaveNominated tells a pod to go that is on a node to which another is
// nominated, and is not its victim.
func (h *history) leaveNominated() {
	p := h.AnyPod(twin.Waiting)
	if p == nil {
		return
	}
	node := h.Object(p).Status.NominatedNodeName
	for _, other := range h.Pods() {
		if node != "" && other.Node == node && other.Place == twin.Placed && !other.Going {
			h.Terminate(other)
			return
		}
	}
}

// letVictimsGo ends some of those that were told to go.
func (h *history) letVictimsGo() {
	for _, p := range slices.Clone(h.Pods()) {
		if p.Going && h.Percent(60) {
			h.Remove(p)
			if !h.compareWaiting("removal of " + p.ID) {
				return
			}
		}
	}
}

// schedule runs one cycle; false where there was none or all is over.
func (h *history) schedule() bool {
	ref, sub, ok := h.ScheduleOne()
	if !ok {
		return false
	}
	if h.Subject.Tape != nil {
		h.Subject.Tape.Schedule(ref.WithNeutral(sub))
	}
	h.countOutcome(ref)
	if h.tell != nil {
		fmt.Fprintf(h.tell, "%s cycle\n  reference: %s\n  subject:   %s\n", h.Now().Format(time.StampMicro), ref, sub)
	}
	h.report.Count("decision")
	if h.with != "" {
		h.report.Count("decision with " + h.with)
	}
	if what := answer.Compare(ref, sub); what != "" {
		what = cmp.Or(h.excuse(ref, sub), what)
		h.apart("decision, "+what, ref.String(), sub.String(), ref.Workload)
		// After another message everything else may still be the same.
		h.over = !strings.HasPrefix(what, "message") || ref.Nominated != sub.Nominated || !slices.Equal(ref.Plugins, sub.Plugins)
	}
	if h.over || h.leftToChance(ref) {
		h.over = true
		return false
	}
	for _, id := range append(memberIDs(ref), ref.Workload) {
		if p := h.Find(id); p != nil && h.Prompt && p.Place == twin.Assumed {
			h.Confirm(p)
		}
	}
	return h.compareWaiting("a cycle for " + ref.Workload)
}

// countOutcome counts what kinds of decisions there are.
func (h *history) countOutcome(d answer.Decision) {
	for _, what := range d.Decided {
		switch {
		case strings.HasPrefix(what, "volume for claim"):
			h.report.Count("(volume asked for)")
		case strings.HasPrefix(what, "volume"):
			h.report.Count("(volume given)")
		default:
			h.report.Count("(devices given)")
		}
	}
	if len(d.Members) > 0 {
		h.countGroup(d)
		return
	}
	switch {
	case d.Node != "":
		h.report.Count("(placed)")
	case len(d.Victims) > 0:
		h.report.Count("(made room)")
	case d.Nominated != "":
		h.report.Count("(nominated without victims)")
	default:
		h.report.Count("(fits nowhere)")
	}
}

// apart reports that the two sides are not the same any more, which ends the
// case.
func (h *history) apart(where, ref, sub, id string) {
	h.over = true
	detail := fmt.Sprintf("%d nodes, at %s", len(h.Nodes()), h.Now().Format(time.StampMicro))
	if p := h.Find(id); p != nil {
		detail += "; " + twin.Describe(h.Object(p), nil)
	}
	detail += h.describeTree(id)
	h.report.Add(differences.Difference{Where: where, Reference: ref, Subject: sub, Detail: detail})
}
