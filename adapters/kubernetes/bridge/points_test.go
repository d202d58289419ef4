package bridge

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// The codes of both sides are the same numbers, so that they need not be translated.
func TestCodes(t *testing.T) {
	for code := fwk.Success; code <= fwk.Pending; code++ {
		if code.String() != extpoints.Code(code).String() {
			t.Errorf("%d is %s there and %s here", code, code, extpoints.Code(code))
		}
	}
}

// A pod goes through all points in kube-scheduler's order, and is bound by the plugin.
func TestAllPoints(t *testing.T) {
	w := newWorld(t)
	w.putNode(node("n1", "4", nil))
	w.putNode(node("n2", "4", map[string]string{"liked": ""}))
	w.submit(pod("a", "1", 0))
	if !w.schedule() {
		t.Fatal("nothing to schedule")
	}
	want := `PreEnqueue a
PreFilter a [n1 n2], lister has 2 <nil>
PreScore a 2
NormalizeScore a [{n1 0} {n2 100}]
Reserve a on n2, pod has n2
Permit a on n2
PreBindPreFlight a on n2
PreBind a on n2
Bind a to n2
PostBind a on n2`
	if got := w.take(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if len(w.bound) != 1 || w.bound[0] != "a to n2" {
		t.Errorf("bound: %v", w.bound)
	}
}

// The queue is in the plugin's order.
func TestQueueSort(t *testing.T) {
	w := newWorld(t)
	w.putNode(node("n1", "40", nil))
	w.submit(pod("a", "1", 0), pod("b", "1", 0), pod("c", "1", 5))
	for w.schedule() {
	}
	if got := strings.Join(w.bound, ", "); got != "c to n1, b to n1, a to n1" {
		t.Error(got)
	}
}

// What the plugin rejects waits for its events, and its hints see the objects before and
// after.
func TestHints(t *testing.T) {
	w := newWorld(t)
	w.filter = func(_ *cycle, _ *v1.Pod, n fwk.NodeInfo) *fwk.Status {
		if n.Node().Labels["good"] == "" {
			return fwk.NewStatus(fwk.UnschedulableAndUnresolvable, "not good")
		}
		return nil
	}
	w.putNode(node("n1", "4", nil))
	w.submit(pod("a", "1", 0))
	w.schedule()
	if !strings.Contains(w.message, "1 not good") {
		t.Errorf("message: %q", w.message)
	}
	w.take()
	better := node("n1", "4", nil)
	better.Labels["good"] = "yes"
	w.putNode(better)
	has(t, w.take(), "hint a: node n1 map[kubernetes.io/hostname:n1] map[] -> node n1 map[good:yes kubernetes.io/hostname:n1] map[]")
	w.now = w.now.Add(time.Minute)
	w.Tick(w.now)
	w.schedule()
	if len(w.bound) != 1 {
		t.Errorf("bound: %v", w.bound)
	}
}

// A pod that leaves is shown with the node that it was on, also where the API object that is
// known of it has none.
func TestHintsOfPods(t *testing.T) {
	w := newWorld(t)
	full := false
	w.filter = func(_ *cycle, _ *v1.Pod, n fwk.NodeInfo) *fwk.Status {
		if full = len(n.GetPods()) > 0; full {
			return fwk.NewStatus(fwk.Unschedulable, "full")
		}
		return nil
	}
	w.putNode(node("n1", "4", nil))
	w.submit(pod("a", "1", 0))
	w.schedule()
	w.submit(pod("b", "1", 0))
	w.schedule()
	w.take()
	w.apply(engine.Remove("a"))
	has(t, w.take(), "hint b: pod a on n1 -> nothing")
}

// A pod that waits on Permit is found, allowed and rejected by the plugin's handle.
func TestPermit(t *testing.T) {
	w := newWorld(t)
	w.permit = func(*v1.Pod) (*fwk.Status, time.Duration) { return fwk.NewStatus(fwk.Wait), time.Minute }
	w.putNode(node("n1", "4", nil))
	w.submit(pod("a", "1", 0), pod("b", "1", 0))
	w.schedule()
	w.schedule()
	var waiting []string
	w.handle.IterateOverWaitingPods(func(p fwk.WaitingPod) {
		waiting = append(waiting, p.GetPod().Name+" on "+p.GetPod().Spec.NodeName+" for "+strings.Join(p.GetPendingPlugins(), ","))
	})
	if got := strings.Join(waiting, "; "); got != "a on n1 for Journal; b on n1 for Journal" {
		t.Fatal(got)
	}
	w.handle.GetWaitingPod("a").Allow("Journal")
	if !w.handle.GetWaitingPod("b").Reject("Journal", "no") {
		t.Error("b was not rejected")
	}
	if w.handle.GetWaitingPod("nobody") != nil {
		t.Error("nobody waits")
	}
	w.Settle(w.now)
	w.finish()
	if len(w.bound) != 1 || w.bound[0] != "a to n1" {
		t.Errorf("bound: %v", w.bound)
	}
	has(t, w.take(), "Unreserve b on n1")
}

// In PostFilter a deletion is an eviction by the engine, the plugin's filters are asked about
// copies by way of the engine, and the result nominates.
func TestPostFilter(t *testing.T) {
	w := newWorld(t)
	w.postFilter = func(ctx context.Context, s fwk.CycleState, p *v1.Pod, m fwk.NodeToStatusReader) (*fwk.PostFilterResult, *fwk.Status) {
		if st := m.Get("n1"); st.Code() != fwk.Unschedulable || st.Plugin() != "NodeResourcesFit" {
			return nil, fwk.AsStatus(errors.New("another status: " + st.String()))
		}
		nodes, err := m.NodesForStatusCode(nil, fwk.Unschedulable)
		if err != nil || len(nodes) != 1 {
			return nil, fwk.AsStatus(errors.Join(errTest, err))
		}
		copied, state := nodes[0].Snapshot(), s.Clone()
		victim := copied.GetPods()[0]
		if st := w.handle.RunFilterPluginsWithNominatedPods(ctx, state, p, copied); st.Code() != fwk.Unschedulable {
			return nil, fwk.AsStatus(errors.New("it fits with the victim: " + st.String()))
		}
		if err := copied.RemovePod(klog.Background(), victim.GetPod()); err != nil {
			return nil, fwk.AsStatus(err)
		}
		if st := w.handle.RunPreFilterExtensionRemovePod(ctx, state, p, victim, copied); !st.IsSuccess() {
			return nil, st
		}
		if st := w.handle.RunFilterPluginsWithNominatedPods(ctx, state, p, copied); !st.IsSuccess() {
			return nil, fwk.AsStatus(errors.New("it does not fit without the victim: " + st.String()))
		}
		copied.AddPodInfo(victim)
		if st := w.handle.RunPreFilterExtensionAddPod(ctx, state, p, victim, copied); !st.IsSuccess() {
			return nil, st
		}
		if st := w.handle.RunFilterPlugins(ctx, state, p, copied); st.Code() != fwk.Unschedulable {
			return nil, fwk.AsStatus(errors.New("it fits with the victim again: " + st.String()))
		}
		if got := len(nodes[0].GetPods()); got != 1 {
			return nil, fwk.AsStatus(errors.New("the snapshot has changed"))
		}
		err = w.handle.ClientSet().CoreV1().Pods("default").Delete(ctx, victim.GetPod().Name, metav1.DeleteOptions{})
		return &fwk.PostFilterResult{NominatingInfo: &fwk.NominatingInfo{NominatedNodeName: "n1", NominatingMode: fwk.ModeOverride}}, fwk.AsStatus(err)
	}
	w.putNode(node("n1", "1", nil))
	w.submit(pod("a", "1", 0))
	w.schedule()
	w.submit(pod("b", "1", 10))

	// On a branch it is planned, if the plugin is one that can be, and not done.
	plan, err := w.Branch().Schedule(w.now, "b")
	if err != nil || plan.Placed() || len(plan.Evictions) > 0 {
		t.Errorf("on a branch: %+v %v", plan, err)
	}
	if strings.Contains(w.take(), "PostFilter") {
		t.Error("PostFilter was called on a branch")
	}
	w.host.plans["Journal"] = true
	plan, err = w.Branch().Schedule(w.now, "b")
	if err != nil || plan.Nominated != "n1" || len(plan.Evictions) != 1 || plan.Evictions[0].ID != "a" {
		t.Errorf("on a branch: %+v %v", plan, err)
	}
	has(t, w.take(), "PostFilter b")
	if len(w.evicted) > 0 {
		t.Fatalf("evicted for a branch: %v", w.evicted)
	}

	w.schedule()
	if len(w.evicted) != 1 || w.evicted[0] != "a" {
		t.Errorf("evicted: %v; %s; %v", w.evicted, w.message, w.take())
	}
	if len(w.client.Actions()) > 0 {
		t.Errorf("the API server was asked: %v", w.client.Actions())
	}
	if got, _ := w.View().Workload("b"); got.Nominated != "n1" {
		t.Errorf("nominated to %q", got.Nominated)
	}
}

// What is not served says so, with its name, as the failure of the plugin.
func TestNotServed(t *testing.T) {
	w := newWorld(t)
	w.filter = func(*cycle, *v1.Pod, fwk.NodeInfo) *fwk.Status {
		w.handle.PodGroupManager()
		return nil
	}
	w.putNode(node("n1", "1", nil))
	w.submit(pod("a", "1", 0))
	w.schedule()
	if want := "Handle.PodGroupManager is not served"; !strings.Contains(w.message, want) {
		t.Errorf("message %q, want %q in it", w.message, want)
	}
	for name, call := range map[string]func(){
		"AddNominatedPod":                   func() { w.handle.AddNominatedPod(klog.Background(), nil, nil) },
		"KubeConfig":                        func() { w.handle.KubeConfig() },
		"SharedDRAManager().ResourceClaims": func() { w.handle.SharedDRAManager().ResourceClaims() },
	} {
		func() {
			defer func() {
				err, is := recover().(*NotServedError)
				if !is || err.Method != "Handle."+name {
					t.Errorf("%s: %v", name, err)
				}
			}()
			call()
			t.Errorf("%s: served", name)
		}()
	}
	if st := w.handle.RunPreScorePlugins(t.Context(), nil, nil, nil); !strings.Contains(st.Message(), "RunPreScorePlugins") {
		t.Error(st)
	}
}

// The snapshot is the engine's, and a plugin that changes it is told so.
func TestSnapshotIsShared(t *testing.T) {
	w := newWorld(t)
	w.filter = func(_ *cycle, p *v1.Pod, n fwk.NodeInfo) *fwk.Status {
		if err := n.RemovePod(klog.Background(), p); err != nil {
			return fwk.AsStatus(err)
		}
		return nil
	}
	w.putNode(node("n1", "1", nil))
	w.submit(pod("a", "1", 0))
	w.schedule()
	if !strings.Contains(w.message, "call Snapshot and change the copy") {
		t.Error(w.message)
	}
	if err := w.handle.MutableSnapshotSharedLister().StartMutations(); !errors.Is(err, errMutable) {
		t.Error(err)
	}
}

// Changes of nodes and pods reach the NodeInfos, on branches and beside them.
func TestNodesFollow(t *testing.T) {
	w := newWorld(t)
	var saw []string
	w.filter = func(_ *cycle, _ *v1.Pod, n fwk.NodeInfo) *fwk.Status {
		var names []string
		for _, p := range n.GetPods() {
			names = append(names, p.GetPod().Name+"@"+p.GetPod().Spec.NodeName)
		}
		saw = append(saw, n.Node().Name+" has "+strings.Join(names, ","))
		return nil
	}
	look := func(branch *engine.Branch, id, want string) {
		t.Helper()
		saw = nil
		branch.Schedule(w.now, id)
		if got := strings.Join(saw, "; "); got != want {
			t.Errorf("saw %q, want %q", got, want)
		}
	}
	w.putNode(node("n1", "9", nil))
	w.submit(pod("a", "1", 0), pod("b", "1", 0), pod("c", "1", 0))
	old := w.Branch()
	w.schedule() // c
	look(old, "a", "n1 has ")
	look(w.Branch(), "a", "n1 has c@n1")
	look(old, "b", "n1 has a@n1") // the branch has planned a
	w.apply(engine.Remove("c"))
	look(w.Branch(), "a", "n1 has ")
}

// Arguments are decoded by kube-scheduler's scheme, with its defaults; others come as they
// are.
func TestArguments(t *testing.T) {
	raw := func(text string) *runtime.Unknown {
		return &runtime.Unknown{Raw: []byte(text), ContentType: runtime.ContentTypeJSON}
	}
	args, err := decode("InterPodAffinity", raw(`{"ignorePreferredTermsOfExistingPods":true}`))
	if err != nil {
		t.Fatal(err)
	}
	if a, ok := args.(*config.InterPodAffinityArgs); !ok || a.HardPodAffinityWeight != 1 || !a.IgnorePreferredTermsOfExistingPods {
		t.Errorf("%T %+v", args, args)
	}
	if _, err := decode("InterPodAffinity", raw(`{"nonsense":1}`)); err == nil || !strings.Contains(err.Error(), "nonsense") {
		t.Errorf("an unknown field: %v", err)
	}
	if args, err := decode("Somebodys", raw(`{"a":1}`)); err != nil || string(args.(*runtime.Unknown).Raw) != `{"a":1}` {
		t.Errorf("%v %v", args, err)
	}
	if args, err := decode("Somebodys", nil); args != nil || err != nil {
		t.Errorf("%v %v", args, err)
	}
	if args, err := decode("InterPodAffinity", nil); err != nil || args.(*config.InterPodAffinityArgs).HardPodAffinityWeight != 1 {
		t.Errorf("%v %v", args, err)
	}
	if _, err := decode("Somebodys", 1); err == nil {
		t.Error("a number will do")
	}
}

// A plugin that fails names itself.
func TestFactoryFails(t *testing.T) {
	w := newWorld(t)
	make := func(p fwk.Plugin, err error) extpoints.Factory {
		return w.host.Factory("X", func(context.Context, runtime.Object, fwk.Handle) (fwk.Plugin, error) { return p, err })
	}
	if _, err := make(nil, errTest)(nil, nil); !errors.Is(err, errTest) {
		t.Error(err)
	}
	if _, err := make(nil, nil)(nil, nil); err == nil {
		t.Error("no plugin will do")
	}
	if _, err := New(Options{}); err == nil || strings.Count(err.Error(), "there is none") != 3 {
		t.Error(err)
	}
}

// A plugin that listens to a kind of objects that the engine does not know is told of its
// changes, and those that it has rejected are tried again.
func TestForeignObjects(t *testing.T) {
	w := newWorld(t)
	var changed func(old, now any)
	w.host.opts.Watch = func(resource fwk.EventResource, f func(old, now any)) error {
		if resource != "quotas.v1.example.org" {
			t.Errorf("watched: %s", resource)
		}
		changed = f
		return nil
	}
	h := &handle{host: w.host, ours: activator{activated: map[string]bool{}}, name: "Quota"}
	p := newPlugin(h, &quota{})
	if err := h.register(p); err != nil {
		t.Fatal(err)
	}
	big, small := w.workload(pod("big", "8", 0)), w.workload(pod("small", "1", 0))
	h.rejected("", big)
	h.rejected("", small)
	changed(nil, &v1.ConfigMap{Data: map[string]string{"for": "small"}}) // added: not listened to
	if n := len(h.ours.(activator).activated); n != 0 {
		t.Errorf("%d woken by an addition", n)
	}
	changed(&v1.ConfigMap{}, &v1.ConfigMap{Data: map[string]string{"for": "small"}})
	if got := h.ours.(activator).activated; len(got) != 1 || !got["small"] {
		t.Errorf("woken: %v", got)
	}
	_ = []*model.Workload{big, small} // they are remembered as long as somebody has them
}

type activator struct {
	extpoints.Handle
	activated map[string]bool
}

func (a activator) Activate(ids ...string) {
	for _, id := range ids {
		a.activated[id] = true
	}
}

// quota is a plugin that listens to objects of its own.
type quota struct{}

func (*quota) Name() string { return "Quota" }
func (*quota) PreFilter(context.Context, fwk.CycleState, *v1.Pod, []fwk.NodeInfo) (*fwk.PreFilterResult, *fwk.Status) {
	return nil, nil
}
func (*quota) PreFilterExtensions() fwk.PreFilterExtensions { return nil }
func (*quota) EventsToRegister(context.Context) ([]fwk.ClusterEventWithHint, error) {
	return []fwk.ClusterEventWithHint{{
		Event: fwk.ClusterEvent{Resource: "quotas.v1.example.org", ActionType: fwk.Update},
		QueueingHintFn: func(_ klog.Logger, p *v1.Pod, _, now any) (fwk.QueueingHint, error) {
			if now.(*v1.ConfigMap).Data["for"] == p.Name {
				return fwk.Queue, nil
			}
			return fwk.QueueSkip, nil
		},
	}}, nil
}
