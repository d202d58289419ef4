package convert

import (
	"math"
	"testing"
	"time"

	schedulingv1 "k8s.io/api/scheduling/v1"

	"github.com/berth-project/berth/model"
)

// Known answers of upstream's plugin: preemption_toleration_policy_test.go, all rows (commit 903da7df), the
// annotations of a class of value 1; and, by its rules, those of other classes.
func TestTolerationOfPriorityClass(t *testing.T) {
	for _, c := range []struct {
		name    string
		value   int32
		minimum string // - for none
		seconds string
		want    model.PreemptionToleration
		problem string
	}{
		{"upstream: none", 1, "-", "-", model.PreemptionToleration{}, ""}, // there 2 and 0 s, which protects from nobody either
		{"upstream: both", 1, "100", "10", model.PreemptionToleration{MinPriority: 100, For: 10 * time.Second}, ""},
		{"upstream: a minimum that is no number", 1, "a", "-", model.PreemptionToleration{},
			`priority class "c": metadata.annotations[` + minPriorityAnnotation + `]: "a" is not a number of 32 bits`},
		{"upstream: a time that is no number", 1, "-", "a", model.PreemptionToleration{},
			`priority class "c": metadata.annotations[` + tolerationAnnotation + `]: "a" is not a number of 64 bits`},
		{"upstream: for good", 1, "100", "-1", model.PreemptionToleration{MinPriority: 100, For: -1}, ""},
		{"none", 8000, "-", "-", model.PreemptionToleration{}, ""},
		{"both", 8000, "10000", "3600", model.PreemptionToleration{MinPriority: 10000, For: time.Hour}, ""},
		{"no minimum: any that is higher", 8000, "-", "3600", model.PreemptionToleration{MinPriority: 8001, For: time.Hour}, ""},
		{"no time", 8000, "10000", "-", model.PreemptionToleration{}, ""},
		{"no time, in a number", 8000, "10000", "0", model.PreemptionToleration{}, ""},
		{"for good", 8000, "10000", "-1", model.PreemptionToleration{MinPriority: 10000, For: -1}, ""},
		{"longer than there is time", 8000, "10000", "9223372037", model.PreemptionToleration{MinPriority: 10000, For: -1}, ""},
		{"the highest priority", math.MaxInt32, "-", "1", model.PreemptionToleration{MinPriority: math.MaxInt32, For: time.Second}, ""},
		{"a minimum that is no number", 8000, "high", "3600", model.PreemptionToleration{},
			`priority class "c": metadata.annotations[` + minPriorityAnnotation + `]: "high" is not a number of 32 bits`},
		{"a time that is no number", 8000, "10000", "1h", model.PreemptionToleration{},
			`priority class "c": metadata.annotations[` + tolerationAnnotation + `]: "1h" is not a number of 64 bits`},
	} {
		class := &schedulingv1.PriorityClass{Value: c.value}
		class.Name, class.Annotations = "c", map[string]string{}
		for name, value := range map[string]string{minPriorityAnnotation: c.minimum, tolerationAnnotation: c.seconds} {
			if value != "-" {
				class.Annotations[name] = value
			}
		}
		got, err := PriorityClassOf(class)
		if got.Toleration != c.want || text(err) != c.problem {
			t.Errorf("%s: %+v, want %+v; %v", c.name, got.Toleration, c.want, err)
		}
	}
}
