package bridge

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"github.com/berth-project/berth/adapters/kubernetes/convert"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/extpoints/extpointstest"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins"
)

// journal is a plugin of kube-scheduler's kind that serves every point, and writes down what it
// sees. What it says can be changed.
type journal struct {
	handle fwk.Handle
	args   runtime.Object

	mu    sync.Mutex
	lines []string

	filter     func(*cycle, *v1.Pod, fwk.NodeInfo) *fwk.Status
	permit     func(*v1.Pod) (*fwk.Status, time.Duration)
	postFilter func(context.Context, fwk.CycleState, *v1.Pod, fwk.NodeToStatusReader) (*fwk.PostFilterResult, *fwk.Status)
	preEnqueue func(*v1.Pod) *fwk.Status
	skipBind   bool
}

const journalKey fwk.StateKey = "journal"

// seen is what the journal keeps in the state: how many pods are on which node.
type seen struct{ pods map[string]int }

func (s *seen) Clone() fwk.StateData {
	c := &seen{pods: map[string]int{}}
	for k, v := range s.pods {
		c.pods[k] = v
	}
	return c
}

func (j *journal) write(format string, args ...any) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.lines = append(j.lines, fmt.Sprintf(format, args...))
}

func (j *journal) take() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	text := strings.Join(j.lines, "\n")
	j.lines = nil
	return text
}

func (j *journal) Name() string { return "Journal" }

func (j *journal) PreEnqueue(_ context.Context, p *v1.Pod) *fwk.Status {
	j.write("PreEnqueue %s", p.Name)
	if j.preEnqueue != nil {
		return j.preEnqueue(p)
	}
	return nil
}

func (j *journal) EventsToRegister(context.Context) ([]fwk.ClusterEventWithHint, error) {
	hint := func(_ any, p *v1.Pod, old, now any) (fwk.QueueingHint, error) {
		a, b := "nothing", "nothing"
		if old != nil {
			a = describe(old)
		}
		if now != nil {
			b = describe(now)
		}
		j.write("hint %s: %s -> %s", p.Name, a, b)
		return fwk.Queue, nil
	}
	return []fwk.ClusterEventWithHint{
		{Event: fwk.ClusterEvent{Resource: fwk.Node, ActionType: fwk.Add | fwk.UpdateNodeLabel}, QueueingHintFn: wrapHint(hint)},
		{Event: fwk.ClusterEvent{Resource: fwk.AssignedPod, ActionType: fwk.Delete}, QueueingHintFn: wrapHint(hint)},
	}, nil
}

func describe(object any) string {
	switch o := object.(type) {
	case *v1.Node:
		return fmt.Sprint("node ", o.Name, " ", o.Labels, " ", o.Annotations)
	case *v1.Pod:
		return fmt.Sprint("pod ", o.Name, " on ", o.Spec.NodeName)
	}
	return fmt.Sprintf("%T", object)
}

func (j *journal) PreFilter(_ context.Context, s fwk.CycleState, p *v1.Pod, nodes []fwk.NodeInfo) (*fwk.PreFilterResult, *fwk.Status) {
	state := &seen{pods: map[string]int{}}
	var names []string
	for _, n := range nodes {
		names = append(names, n.Node().Name)
		state.pods[n.Node().Name] = len(n.GetPods())
	}
	listed, err := j.handle.SnapshotSharedLister().NodeInfos().List()
	j.write("PreFilter %s %v, lister has %d %v", p.Name, names, len(listed), err)
	s.Write(journalKey, state)
	return nil, nil
}

func (j *journal) PreFilterExtensions() fwk.PreFilterExtensions { return j }

func (j *journal) AddPod(_ context.Context, s fwk.CycleState, _ *v1.Pod, added fwk.PodInfo, n fwk.NodeInfo) *fwk.Status {
	state, err := s.Read(journalKey)
	if err != nil {
		return fwk.AsStatus(err)
	}
	state.(*seen).pods[n.Node().Name]++
	j.write("AddPod %s to %s", added.GetPod().Name, n.Node().Name)
	return nil
}

func (j *journal) RemovePod(_ context.Context, s fwk.CycleState, _ *v1.Pod, removed fwk.PodInfo, n fwk.NodeInfo) *fwk.Status {
	state, err := s.Read(journalKey)
	if err != nil {
		return fwk.AsStatus(err)
	}
	state.(*seen).pods[n.Node().Name]--
	j.write("RemovePod %s from %s", removed.GetPod().Name, n.Node().Name)
	return nil
}

func (j *journal) Filter(_ context.Context, s fwk.CycleState, p *v1.Pod, n fwk.NodeInfo) *fwk.Status {
	state, err := s.Read(journalKey)
	if err != nil {
		return fwk.AsStatus(err)
	}
	if got, want := state.(*seen).pods[n.Node().Name], len(n.GetPods()); got != want {
		return fwk.AsStatus(fmt.Errorf("node %s: %d pods by the state, %d on the node", n.Node().Name, got, want))
	}
	if j.filter != nil {
		return j.filter(s.(*cycle), p, n)
	}
	return nil
}

func (j *journal) PostFilter(ctx context.Context, s fwk.CycleState, p *v1.Pod, m fwk.NodeToStatusReader) (*fwk.PostFilterResult, *fwk.Status) {
	j.write("PostFilter %s", p.Name)
	if j.postFilter == nil {
		return nil, fwk.NewStatus(fwk.Unschedulable)
	}
	return j.postFilter(ctx, s, p, m)
}

func (j *journal) PreScore(_ context.Context, _ fwk.CycleState, p *v1.Pod, nodes []fwk.NodeInfo) *fwk.Status {
	j.write("PreScore %s %d", p.Name, len(nodes))
	return nil
}

func (j *journal) Score(_ context.Context, _ fwk.CycleState, _ *v1.Pod, n fwk.NodeInfo) (int64, *fwk.Status) {
	return int64(len(n.Node().Annotations)) * 1000, nil // beyond what is allowed before it is normalized
}

func (j *journal) ScoreExtensions() fwk.ScoreExtensions { return j }

func (j *journal) NormalizeScore(_ context.Context, _ fwk.CycleState, p *v1.Pod, scores fwk.NodeScoreList) *fwk.Status {
	for i := range scores {
		scores[i].Score = min(scores[i].Score, 100)
	}
	j.write("NormalizeScore %s %v", p.Name, scores)
	return nil
}

func (j *journal) Reserve(_ context.Context, _ fwk.CycleState, p *v1.Pod, node string) *fwk.Status {
	j.write("Reserve %s on %s, pod has %s", p.Name, node, p.Spec.NodeName)
	return nil
}

func (j *journal) Unreserve(_ context.Context, _ fwk.CycleState, p *v1.Pod, node string) {
	j.write("Unreserve %s on %s", p.Name, node)
}

func (j *journal) Permit(_ context.Context, s fwk.CycleState, p *v1.Pod, node string) (*fwk.Status, time.Duration) {
	j.write("Permit %s on %s", p.Name, node)
	if value, err := s.Read(framework.PodsToActivateKey); err == nil {
		value.(*framework.PodsToActivate).Map["default/other"] = &v1.Pod{ObjectMeta: metav1.ObjectMeta{UID: "other"}}
	}
	if j.permit != nil {
		return j.permit(p)
	}
	return nil, 0
}

func (j *journal) PreBindPreFlight(_ context.Context, _ fwk.CycleState, p *v1.Pod, node string) (*fwk.PreBindPreFlightResult, *fwk.Status) {
	j.write("PreBindPreFlight %s on %s", p.Name, node)
	return &fwk.PreBindPreFlightResult{AllowParallel: true}, nil
}

func (j *journal) PreBind(_ context.Context, _ fwk.CycleState, p *v1.Pod, node string) *fwk.Status {
	j.write("PreBind %s on %s", p.Name, node)
	return nil
}

func (j *journal) Bind(ctx context.Context, _ fwk.CycleState, p *v1.Pod, node string) *fwk.Status {
	if j.skipBind {
		return fwk.NewStatus(fwk.Skip)
	}
	j.write("Bind %s to %s", p.Name, node)
	err := j.handle.ClientSet().CoreV1().Pods(p.Namespace).Bind(ctx, &v1.Binding{
		ObjectMeta: metav1.ObjectMeta{Namespace: p.Namespace, Name: p.Name, UID: p.UID}, Target: v1.ObjectReference{Kind: "Node", Name: node},
	}, metav1.CreateOptions{})
	return fwk.AsStatus(err)
}

func (j *journal) PostBind(_ context.Context, _ fwk.CycleState, p *v1.Pod, node string) {
	j.write("PostBind %s on %s", p.Name, node)
}

func (j *journal) Less(a, b fwk.QueuedEntityInfo) bool {
	x, y := a.(*framework.QueuedPodInfo), b.(*framework.QueuedPodInfo)
	if x.GetPriority() != y.GetPriority() {
		return x.GetPriority() > y.GetPriority()
	}
	return x.Pod.Name > y.Pod.Name // the other way round than they come
}

// world is an engine with the journal beside the default plugins.
type world struct {
	t *testing.T
	*engine.Raw
	*journal
	host    *Host
	objects *Objects
	client  *fake.Clientset
	bound   []string
	evicted []string
	now     time.Time
	message string
}

func newWorld(t *testing.T) *world {
	w := &world{t: t, journal: &journal{}, objects: NewObjects(), client: fake.NewClientset(), now: extpointstest.Now}
	factory := informers.NewSharedInformerFactory(w.client, 0)
	var err error
	if w.host, err = New(Options{Objects: w.objects, Client: w.client, Informers: factory}); err != nil {
		t.Fatal(err)
	}
	profile := plugins.DefaultProfile()
	profile.Remove(plugins.PrioritySort, plugins.DefaultPreemption, plugins.DynamicResources, plugins.VolumeBinding)
	profile.Plugins = append([]extpoints.Entry{{Name: "Journal", New: w.host.Factory("Journal",
		func(_ context.Context, args runtime.Object, h fwk.Handle) (fwk.Plugin, error) {
			w.journal.handle, w.journal.args = h, args
			return w.journal, nil
		}), Weight: 1000}}, profile.Plugins...)
	w.Raw, err = engine.NewRaw(engine.Config{
		Profiles: []extpoints.Profile{profile}, Orchestrator: w,
		Listener: engine.Listener{Rejected: func(r engine.RejectedEvent) { w.message = r.Message }},
	})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// Bind implements [extpoints.Orchestrator].
func (w *world) Bind(_ context.Context, m *model.Workload, b model.Binding) error {
	w.bound = append(w.bound, m.Name+" to "+b.Node)
	return nil
}

// Evict implements [extpoints.Orchestrator].
func (w *world) Evict(_ context.Context, m *model.Workload, _ string) error {
	w.evicted = append(w.evicted, m.Name)
	return nil
}

func (w *world) apply(changes ...engine.Change) {
	w.t.Helper()
	w.now = w.now.Add(time.Second)
	if err := w.Apply(w.now, changes...); err != nil {
		w.t.Fatal(err)
	}
}

func node(name, cpu string, annotations map[string]string) *v1.Node {
	return &v1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{v1.LabelHostname: name}, Annotations: annotations},
		Status: v1.NodeStatus{Allocatable: v1.ResourceList{
			v1.ResourceCPU: resource.MustParse(cpu), v1.ResourceMemory: resource.MustParse("8Gi"), v1.ResourcePods: resource.MustParse("110"),
		}},
	}
}

func (w *world) putNode(n *v1.Node) {
	w.t.Helper()
	m, err := convert.Node(n)
	if err != nil {
		w.t.Fatal(err)
	}
	w.objects.Put(m, n)
	w.apply(engine.PutNode(m))
}

func pod(name, cpu string, priority int32) *v1.Pod {
	return &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID(name)},
		Spec: v1.PodSpec{Priority: &priority, Containers: []v1.Container{{Name: "c", Image: "i", Resources: v1.ResourceRequirements{
			Requests: v1.ResourceList{v1.ResourceCPU: resource.MustParse(cpu)},
		}}}},
	}
}

func (w *world) workload(p *v1.Pod) *model.Workload {
	w.t.Helper()
	m, err := convert.Gates{}.Pod(p)
	if err != nil {
		w.t.Fatal(err)
	}
	w.objects.Put(m, p)
	return m
}

func (w *world) submit(pods ...*v1.Pod) {
	w.t.Helper()
	var changes []engine.Change
	for _, p := range pods {
		changes = append(changes, engine.Submit(w.workload(p)))
	}
	w.apply(changes...)
}

// schedule schedules one and does what comes of it.
func (w *world) schedule() bool {
	w.now = w.now.Add(time.Second)
	if !w.Schedule(w.now) {
		return false
	}
	w.finish()
	return true
}

func (w *world) finish() {
	for t := w.NextTask(); t != nil; t = w.NextTask() {
		t.Run(context.Background())
		w.Finish(w.now, t)
	}
}

func wrapHint(f func(any, *v1.Pod, any, any) (fwk.QueueingHint, error)) fwk.QueueingHintFn {
	return func(_ klog.Logger, p *v1.Pod, old, now any) (fwk.QueueingHint, error) { return f(nil, p, old, now) }
}

var errTest = errors.New("a mistake")

func has(t *testing.T, text string, lines ...string) {
	t.Helper()
	have := strings.Split(text, "\n")
	for _, line := range lines {
		if !slices.Contains(have, line) {
			t.Errorf("%q is missing in\n%s", line, text)
		}
	}
}
