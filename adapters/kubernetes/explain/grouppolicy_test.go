package explain_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	schedulinglisters "k8s.io/client-go/listers/scheduling/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/berth-project/berth/adapters/kubernetes/convert"
	"github.com/berth-project/berth/adapters/kubernetes/explain"
	"github.com/berth-project/berth/adapters/kubernetes/explain/api"
)

// Whether the pods of a group may preempt is for them to say, or for the group with the
// feature gate; and the group has it from its class then.
func TestSimulateGroupsThatDoNotPreempt(t *testing.T) {
	never := v1.PreemptNever
	classes := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})
	if err := classes.Add(&schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: "polite"}, Value: 50, PreemptionPolicy: &never}); err != nil {
		t.Fatal(err)
	}
	member := yamlPod("x", "1", "  priorityClassName: polite\n  schedulingGroup: {podGroupName: gang}")
	for _, c := range []struct {
		name  string
		gate  bool
		group string // its priority
		fits  bool
		says  string
	}{
		{"off", false, "priority: 50", true, ""},
		{"off, and a class", false, "priorityClassName: polite", true, ""},
		{"on", true, "priority: 50", false, "got Never and PreemptLowerPriority"},
		{"on, and a class", true, "priorityClassName: polite", true, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			run(t, explain.Options{Gates: convert.Gates{PodGroupPreemptionPolicy: c.gate}, PriorityClasses: schedulinglisters.NewPriorityClassLister(classes)}, func(w *world) {
				w.node("a", "1")
				s := simulation[api.Simulation](w, fmt.Sprintf(group, 1, c.group)+member)
				text, err := json.Marshal(s)
				if err != nil || s.Fits != c.fits || !strings.Contains(string(text), c.says) {
					t.Errorf("%s %v", text, err)
				}
			})
		})
	}
}
