package kubernetes_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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
			{Remove: "placed-uid"},
			{Remove: "waits-uid"},
			{Confirm: &model.Binding{Workload: "moved-uid", Node: "n2"}},
			{Adopt: &engine.Placement{Workload: &model.Workload{ID: "ghost"}, Node: "n2"}},
			{RemoveNode: "n2"},
			{PutNode: &model.Node{Name: "n3"}},
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
