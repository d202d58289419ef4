package convert

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"

	"github.com/berth-project/berth/model"
)

// What is kept of a toleration, with the gate of its operators off and on. One that
// tolerates nothing is left out.
func TestTolerations(t *testing.T) {
	t.Parallel()
	const emptyKey = "may only be empty, for every key, where operator is Exists"
	for _, c := range []struct {
		toleration v1.Toleration
		off, on    string // what is kept, or what is wrong with spec.tolerations[0]
	}{
		{v1.Toleration{Key: "k", Value: "v"}, "k  v", "k  v"},
		{v1.Toleration{Key: "k", Operator: v1.TolerationOpEqual, Value: "1", Effect: v1.TaintEffectNoExecute}, "k Equal 1 NoExecute", "k Equal 1 NoExecute"},
		{v1.Toleration{Operator: v1.TolerationOpExists, Value: "v"}, "Exists", "Exists"},
		{v1.Toleration{Value: "v"}, "key: " + emptyKey, "key: " + emptyKey},
		{v1.Toleration{Key: "k", Operator: "gt", Value: "1"}, `operator: "gt" is not an operator of a toleration`, `operator: "gt" is not an operator of a toleration`},

		{v1.Toleration{Key: "k", Operator: v1.TolerationOpGt, Value: "900", Effect: v1.TaintEffectNoSchedule}, "", "k Gt 900 NoSchedule"},
		{v1.Toleration{Key: "k", Operator: v1.TolerationOpLt, Value: "-5"}, "", "k Lt -5"},
		{v1.Toleration{Key: "k", Operator: v1.TolerationOpLt, Value: "9223372036854775807"}, "", "k Lt 9223372036854775807"},
		{v1.Toleration{Key: "k", Operator: v1.TolerationOpGt, Value: "9223372036854775808"}, "", ""},
		{v1.Toleration{Key: "k", Operator: v1.TolerationOpGt, Value: "high"}, "", ""},
		{v1.Toleration{Key: "k", Operator: v1.TolerationOpGt, Value: ""}, "", ""},
		{v1.Toleration{Key: "k", Operator: v1.TolerationOpGt, Value: "+5"}, "", ""},
		{v1.Toleration{Key: "k", Operator: v1.TolerationOpLt, Value: "05"}, "", ""},
		{v1.Toleration{Key: "k", Operator: v1.TolerationOpLt, Value: "-0"}, "", ""},
		{v1.Toleration{Key: "k", Operator: v1.TolerationOpGt, Value: "900", Effect: "Sometimes"}, "", `effect: "Sometimes" is not an effect of a taint`},
		{v1.Toleration{Operator: v1.TolerationOpGt, Value: "900"}, "", "key: " + emptyKey},
	} {
		for on, want := range map[bool]string{false: c.off, true: c.on} {
			if got := keptOf(t, c.toleration, on); got != want {
				t.Errorf("%+v, gate %t: got %q, want %q", c.toleration, on, got, want)
			}
		}
	}
}

// The others of a pod's tolerations do not mind.
func TestTolerationsAmongOthers(t *testing.T) {
	t.Parallel()
	equal := v1.Toleration{Key: "dedicated", Operator: v1.TolerationOpEqual, Value: "user1", Effect: v1.TaintEffectNoSchedule}
	above := v1.Toleration{Key: "level", Operator: v1.TolerationOpGt, Value: "750", Effect: v1.TaintEffectNoSchedule}
	for on, want := range map[bool]int{false: 1, true: 2} {
		w, err := podWith(on, above, equal)
		if err != nil {
			t.Fatal(err)
		}
		if n := len(w.Tolerations); n != want || w.Tolerations[n-1].Key != "dedicated" {
			t.Errorf("gate %t: got %+v", on, w.Tolerations)
		}
	}
}

// keptOf is what happens to a pod's toleration, or what is wrong with it.
func keptOf(t *testing.T, toleration v1.Toleration, gate bool) string {
	w, err := podWith(gate, toleration)
	if invalid := w.Validate(); invalid != nil {
		t.Errorf("%+v: %v", toleration, invalid)
	}
	var problems *model.ValidationError
	switch {
	case errors.As(err, &problems):
		return strings.TrimPrefix(problems.Problems[0].Field, "spec.tolerations[0].") + ": " + problems.Problems[0].Message
	case len(w.Tolerations) == 0:
		return ""
	}
	o := w.Tolerations[0]
	return strings.TrimSpace(fmt.Sprintf("%s %s %s %s", o.Key, o.Operator, o.Value, o.Effect))
}

func podWith(gate bool, tolerations ...v1.Toleration) (*model.Workload, error) {
	return Gates{TaintTolerationComparisonOperators: gate}.Pod(&v1.Pod{
		ObjectMeta: metav1.ObjectMeta{UID: "u", Name: "p", Namespace: "default"}, Spec: v1.PodSpec{Tolerations: tolerations}})
}

// Workloads tolerate what the pods tolerate that they are made of, by the API's own
// rule, for all pairs of odd and plain values and for every state of the gate.
func TestTolerationsMeanTheSame(t *testing.T) {
	t.Parallel()
	numbers := []string{"", "0", "-0", "00", "1", "01", "+1", "-1", "-01", "--1", "-", "9", "10", "1.5", "1e1", "0x1", "1_0", " 1", "1 ", "high", "\u0661",
		"9223372036854775806", "9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775809"}
	operators := []v1.TolerationOperator{"", v1.TolerationOpEqual, v1.TolerationOpExists, v1.TolerationOpGt, v1.TolerationOpLt}
	tolerated := 0
	for _, operator := range operators {
		for _, of := range numbers {
			for _, effect := range []v1.TaintEffect{"", v1.TaintEffectNoSchedule, v1.TaintEffectNoExecute} {
				for _, gate := range []bool{false, true} {
					toleration := v1.Toleration{Key: "k", Operator: operator, Value: of, Effect: effect}
					w, err := podWith(gate, toleration)
					if err != nil {
						t.Fatal(err)
					}
					for _, value := range numbers {
						taint := v1.Taint{Key: "k", Value: value, Effect: v1.TaintEffectNoSchedule}
						want := toleration.ToleratesTaint(klog.Logger{}, &taint, gate)
						got := slices.ContainsFunc(w.Tolerations, func(o model.Toleration) bool {
							return o.Tolerates(&model.Taint{Key: "k", Value: value, Effect: model.NoSchedule})
						})
						if got != want {
							t.Errorf("%+v, gate %t, taint %+v: got %t, want %t", toleration, gate, taint, got, want)
						}
						if want {
							tolerated++
						}
					}
				}
			}
		}
	}
	if tolerated < 1000 {
		t.Errorf("only %d of the pairs tolerate: they show nothing", tolerated)
	}
}
