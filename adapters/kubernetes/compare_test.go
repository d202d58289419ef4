package kubernetes_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	clienttesting "k8s.io/client-go/testing"

	kubernetes "github.com/berth-project/berth/adapters/kubernetes"
	"github.com/berth-project/berth/adapters/kubernetes/internal/kubetest"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/model"
)

// Whatever the engine may have missed is found, and mended when it is still there a
// minute later.
func TestWhatTheEngineHasMissedIsMended(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		placed, moved, waits := pod("placed", "1"), pod("moved", "1"), pod("waits", "100")
		placed.UID, placed.Spec.NodeName = "placed-uid", "n1"
		moved.UID, moved.Spec.NodeName = "moved-uid", "n1"
		waits.UID = "waits-uid"
		a, s := scheduleWith(t, node("n1", "4"), node("n2", "4"), placed, moved, waits)
		synctest.Wait()
		if list := a.Compare(); len(list) > 0 {
			t.Fatalf("differences from the beginning: %q", list)
		}
		for _, ch := range []engine.Change{
			engine.Remove("placed-uid"),
			engine.Remove("waits-uid"),
			engine.Confirm(model.Binding{Workload: "moved-uid", Node: "n2"}),
			engine.Adopt(&model.Workload{ID: "ghost"}, model.Binding{Node: "n2"}),
			engine.RemoveNode("n2"),
			engine.PutNode(&model.Node{Name: "n3"}),
		} {
			if err := s.engine.Apply(ch); err != nil {
				t.Logf("%v: %v", ch.String(), err)
			}
		}
		want := []string{
			"node n2 is missing in the engine",
			"node n3 is only there for the engine",
			"pod ghost (ghost) is only there for the engine",
			"pod default/placed (placed-uid) is missing in the engine",
			"pod default/waits (waits-uid) is missing in the engine",
		}
		got := a.Compare()
		for _, text := range want {
			if !slices.Contains(got, text) {
				t.Errorf("%q is not among %q", text, got)
			}
		}
		time.Sleep(3 * time.Minute)
		synctest.Wait()
		if list := a.Compare(); len(list) > 0 {
			t.Errorf("differences after some minutes: %q", list)
		}
		if w, ok := s.engine.View().Workload("placed-uid"); !ok || w.Node != "n1" {
			t.Errorf("the pod is %v on %q", ok, w.Node)
		}
	})
}

// A pod that nobody can place is not a fault of the record.
func TestAPodThatCannotBeUnderstoodIsNotMissed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := pod("a", "1")
		p.UID = "a-uid"
		p.Spec.Affinity = &v1.Affinity{PodAffinity: &v1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []v1.PodAffinityTerm{{
			TopologyKey: "zone", LabelSelector: &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Like"}}},
		}}}}
		a, _ := scheduleWith(t, node("n1", "4"), p)
		synctest.Wait()
		if list := a.Compare(); len(list) > 0 {
			t.Errorf("differences: %q", list)
		}
	})
}

// While the informers hear nothing, the room of what is bound meanwhile is not given
// away: the API server itself is asked.
func TestNothingIsMendedBecauseTheInformersAreBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first, second := pod("a", "1"), pod("b", "1")
		first.UID, second.UID = "a-uid", "b-uid"
		client := kubetest.NewServer(node("n1", "1"), first, second)
		client.PrependWatchReactor("pods", func(clienttesting.Action) (bool, watch.Interface, error) {
			return true, watch.NewFake(), nil // silent
		})
		a, s := start(t, client, kubernetes.Options{Client: &kubetest.Around{Interface: client, Call: func(_, _ string, call func() error) error { return call() }}})
		time.Sleep(10 * time.Minute)
		bound := 0
		for _, name := range []string{"a", "b"} {
			if s.pod(name).Spec.NodeName != "" {
				bound++
			}
		}
		if bound != 1 {
			t.Errorf("%d pods are on a node that has room for one", bound)
		}
		if list := a.Compare(); len(list) != 1 {
			t.Errorf("differences %q, want the one pod that the informers have not seen on its node", list)
		}
	})
}

// A comparison that comes too early does not say that everything is missing.
func TestNothingIsComparedBeforeTheAdapterIsReady(t *testing.T) {
	a, err := kubernetes.New(kubernetes.Options{Client: kubetest.NewServer(node("n1", "1")), Profiles: []string{v1.DefaultSchedulerName}})
	if err != nil {
		t.Fatal(err)
	}
	if list := a.Compare(); len(list) > 0 {
		t.Errorf("differences %q", list)
	}
}
