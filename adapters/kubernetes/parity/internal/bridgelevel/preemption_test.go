package bridgelevel

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"

	"github.com/berth-project/berth/adapters/kubernetes/bridge"
	"github.com/berth-project/berth/adapters/kubernetes/parity/internal/answer"
	"github.com/berth-project/berth/adapters/kubernetes/parity/internal/decisionlevel"
	"github.com/berth-project/berth/adapters/kubernetes/parity/internal/differences"
	"github.com/berth-project/berth/adapters/kubernetes/parity/internal/reference"
	"github.com/berth-project/berth/adapters/kubernetes/parity/internal/subject"
	"github.com/berth-project/berth/adapters/kubernetes/parity/internal/twin"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins"
	"github.com/berth-project/berth/plugins/defaultpreemption"
)

// recorded is a history, and the objects of what the engine was told in it, in order.
type recorded struct {
	lines   []subject.Line
	objects []runtime.Object // nil where a change has none
	without []string
	percent *int32
}

// record runs a case without a bridge.
func record(t *testing.T, number uint64) *recorded {
	t.Helper()
	report, err := differences.New()
	if err != nil {
		t.Fatal(err)
	}
	r, s, tape := &recorded{}, &side{}, &subject.Tape{}
	o := decisionlevel.Options{Tape: tape, Beside: func(ref *reference.Scheduler) { s.ref = ref }, Deaf: func(c engine.Change) bool {
		if c.ID() != "parity-probe" {
			r.objects = append(r.objects, s.objectOf(c.Value()))
		}
		return false
	}}
	if err := decisionlevel.Run(*seed, number, report, o); err != nil {
		t.Fatal(err)
	}
	for text := range strings.Lines(tape.String()) {
		var line subject.Line
		if err := json.Unmarshal([]byte(text), &line); err != nil {
			t.Fatal(err)
		}
		r.lines = append(r.lines, line)
	}
	r.without, r.percent = tape.Without, tape.PercentageOfNodesToScore
	return r
}

// bridgedNames are those that are bridged here: they need no informers but those of pods and
// budgets.
var bridgedNames = []string{
	plugins.PrioritySort, plugins.NodeAffinity, plugins.NodePorts, plugins.NodeResourcesFit, plugins.TaintToleration,
	plugins.NodeUnschedulable, plugins.DefaultPreemption,
}

// cluster is the API server's part of a replay.
type cluster struct {
	objects *bridge.Objects
	factory informers.SharedInformerFactory
	pods    map[string]*v1.Pod
}

// put notes the object of a change.
func (c *cluster) put(t *testing.T, change engine.Change, object runtime.Object) {
	t.Helper()
	var err error
	switch o := object.(type) {
	case *v1.Pod:
		c.pods[string(o.UID)] = o
		err = c.factory.Core().V1().Pods().Informer().GetIndexer().Add(o)
	case *policyv1.PodDisruptionBudget:
		err = c.factory.Policy().V1().PodDisruptionBudgets().Informer().GetIndexer().Add(o)
	}
	if gone := c.pods[change.ID()]; gone != nil && change.Verb() == "remove" {
		err = c.factory.Core().V1().Pods().Informer().GetIndexer().Delete(gone)
	}
	if err != nil {
		t.Fatal(err)
	}
	if object != nil {
		c.objects.Put(change.Value(), object)
	}
}

// replay makes two engines of a history: one with Berth's own plugins, which waits for evictions
// as kube-scheduler without SchedulerAsyncPreemption does, and one with kube-scheduler's.
func (r *recorded) replay(t *testing.T, report *differences.Report) {
	t.Helper()
	args := func() map[string]any {
		return map[string]any{plugins.DefaultPreemption: defaultpreemption.Args{Synchronous: true, MinCandidateNodesPercentage: new(int32(100))}}
	}
	client := fake.NewClientset()
	c := &cluster{objects: bridge.NewObjects(), factory: informers.NewSharedInformerFactory(client, 0), pods: map[string]*v1.Pod{}}
	host, err := bridge.New(bridge.Options{Objects: c.objects, Client: client, Informers: c.factory})
	if err != nil {
		t.Fatal(err)
	}
	s := &side{names: bridgedNames, host: host, args: map[string]runtime.Object{
		plugins.DefaultPreemption: &config.DefaultPreemptionArgs{MinCandidateNodesPercentage: 100, MinCandidateNodesAbsolute: 100},
	}}
	without := append(slices.Clone(r.without), plugins.DynamicResources)
	cfg := subject.Config{Now: twin.Start, Args: args(), Without: slices.Compact(slices.Sorted(slices.Values(without))), PercentageOfNodesToScore: r.percent}
	native, err := subject.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Args, cfg.Change = args(), s.change
	bridged, err := subject.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	h := &both{report: report, native: native, bridged: bridged}
	next := 0
	for i := range r.lines {
		line := &r.lines[i]
		native.SetTime(line.At)
		bridged.SetTime(line.At)
		for _, change := range line.Apply {
			c.put(t, change, r.objects[next])
			next++
			h.note(change)
			// Where the cluster has gone another way than in the recording, a change may be
			// refused, and then by both.
			a, b := native.Raw.Apply(line.At, change), bridged.Raw.Apply(line.At, change)
			h.compare("change", fmt.Sprint(a), fmt.Sprint(b))
		}
		switch {
		case line.Tick:
			native.Tick()
			bridged.Tick()
		case line.Schedule != nil:
			h.schedule()
		}
		h.places()
		if report.Unexplained() > 0 {
			return
		}
	}
}

// both are the two engines.
type both struct {
	report          *differences.Report
	native, bridged *subject.Engine
	ids             []string
}

func (h *both) note(change engine.Change) {
	if _, is := change.Value().(*model.Workload); is && !slices.Contains(h.ids, change.ID()) {
		h.ids = append(h.ids, change.ID())
	}
}

func (h *both) compare(what, a, b string) {
	h.report.Count(what)
	if a != b {
		h.report.Add(differences.Difference{Where: what, Reference: a, Subject: b})
	}
}

func (h *both) schedule() {
	a, aOK := h.native.ScheduleOne()
	b, bOK := h.bridged.ScheduleOne()
	a.Neutral, b.Neutral = "", "" // one has its words from kube-scheduler
	if what := answer.Compare(a, b); what != "" || aOK != bOK {
		h.compare("decision, "+what, fmt.Sprint(aOK, a), fmt.Sprint(bOK, b))
	}
	h.report.Count("decision")
	if len(a.Victims) > 0 {
		h.report.Count("(made room)")
	}
	h.plan()
}

// plan compares plans on branches for those that wait.
func (h *both) plan() {
	for _, id := range h.ids {
		w, ok := h.native.View().Workload(id)
		if !ok || w.Phase != model.Pending || h.report.Counted("plan") > 4*h.report.Counted("decision") {
			continue
		}
		now := twin.Start.AddDate(1, 0, 0)
		a, errA := h.native.Branch().Schedule(now, id)
		b, errB := h.bridged.Branch().Schedule(now, id)
		describe := func(d engine.Decision, err error) string {
			var victims []string
			for _, e := range d.Evictions {
				victims = append(victims, e.ID)
			}
			slices.Sort(victims)
			return fmt.Sprint(d.Binding.Node, d.Evaluated, d.Feasible, d.Ties, d.Plugins, d.Nominated, victims, err)
		}
		h.compare("plan", describe(a, errA), describe(b, errB))
		if len(a.Evictions) > 0 {
			h.report.Count("(planned to make room)")
		}
	}
}

// places compares where everybody is.
func (h *both) places() {
	describe := func(e *subject.Engine, id string) string {
		w, ok := e.View().Workload(id)
		if !ok {
			return "gone"
		}
		position, _ := e.Queue(id)
		return fmt.Sprint(w.Phase, w.Node, w.Nominated, position.Place)
	}
	for _, id := range h.ids {
		h.compare("place of a pod", describe(h.native, id), describe(h.bridged, id))
	}
}

// kube-scheduler's DefaultPreemption makes the same room as Berth's, by the engine, and plans the
// same on branches.
func TestBridgedPreemption(t *testing.T) {
	n := uint64(6)
	if *cases > 0 {
		n = *cases
	}
	report, err := differences.Cases(n, func(number uint64, r *differences.Report) error {
		r.Name(fmt.Sprintf("-seed %d, case %d of a replay", *seed, number))
		record(t, number).replay(t, r)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if testing.Verbose() {
		t.Log(text(report))
	}
	if report.Unexplained() > 0 {
		t.Error(text(report))
	}
	for _, kind := range []string{"(made room)", "(planned to make room)"} {
		if report.Counted(kind) == 0 {
			t.Errorf("%s never came up", kind)
		}
	}
}
