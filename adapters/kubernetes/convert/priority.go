package convert

import (
	"fmt"
	"math"
	"strconv"
	"time"

	v1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/berth-project/berth/model"
)

// PriorityClass is what a priority class gives to its pods.
type PriorityClass struct {
	Name  string // what a pod names as spec.priorityClassName
	Value int32  // the priority of its pods
	// Preemption is empty where the class does not say.
	Preemption model.PreemptionPolicy
	// Default: pods that name no class are of this one.
	Default bool
	// Toleration is that of its pods where the plugin PreemptionToleration is used.
	Toleration model.PreemptionToleration
}

// PriorityClassOf translates a priority class. The error, a
// [*model.ValidationError], says what cannot be translated; the rest is there
// even so.
func PriorityClassOf(c *schedulingv1.PriorityClass) (PriorityClass, error) {
	var p problems
	class := PriorityClass{
		Name:       c.Name,
		Value:      c.Value,
		Preemption: p.preemption(field.NewPath("preemptionPolicy"), c.PreemptionPolicy),
		Default:    c.GlobalDefault,
		Toleration: p.toleration(c),
	}
	return class, p.err("priority class", c.Name)
}

// Prioritize gives the workload, which [Pod] made of the pod, the priority and
// the preemption policy that the API server gives to a pod when it is created.
// It is for pods that have not been there, such as those in a file that
// somebody asks about; any other has a priority, and is left as it is. (The
// scheduler itself takes a pod without a priority for one of priority 0.)
//
// A policy that the pod has itself stays. Where several classes are the
// default, the one of the lowest value is; where none is, the priority is 0.
// That there is no class with the name is an error.
//
// Rules: kube-apiserver plugin/pkg/admission/priority/admission.go, 1.37.1.
func Prioritize(w *model.Workload, p *v1.Pod, classes []PriorityClass) error {
	if p.Spec.Priority != nil {
		return nil
	}
	class := classOf(p.Spec.PriorityClassName, classes)
	if class == nil {
		if p.Spec.PriorityClassName == "" {
			return nil
		}
		return fmt.Errorf("pod %q: spec.priorityClassName: there is no priority class %q", p.Namespace+"/"+p.Name, p.Spec.PriorityClassName)
	}
	w.Priority = class.Value
	if p.Spec.PreemptionPolicy == nil {
		w.Preemption = class.Preemption
	}
	return nil
}

// classOf finds the class with the name, or the default one where the name is
// empty; nil where there is none.
func classOf(name string, classes []PriorityClass) *PriorityClass {
	var found *PriorityClass
	for i := range classes {
		c := &classes[i]
		switch {
		case name != "" && c.Name == name:
			return c
		case name == "" && c.Default && (found == nil || c.Value < found.Value):
			found = c
		}
	}
	return found
}

// The annotations of a priority class that say whom its pods tolerate.
const (
	minPriorityAnnotation = "preemption-toleration.scheduling.x-k8s.io/minimum-preemptable-priority"
	tolerationAnnotation  = "preemption-toleration.scheduling.x-k8s.io/toleration-seconds"
)

// toleration is what the annotations of the class say. By default it is no more than the
// class's priority says; where one cannot be read, neither counts.
//
// Rules: kubernetes-sigs/scheduler-plugins pkg/preemptiontoleration/
// preemption_toleration_policy.go, commit 903da7df.
func (p *problems) toleration(c *schedulingv1.PriorityClass) model.PreemptionToleration {
	annotations := field.NewPath("metadata", "annotations")
	number := func(name string, otherwise int64, bits int) (int64, bool) {
		text, said := c.Annotations[name]
		if !said {
			return otherwise, true
		}
		n, err := strconv.ParseInt(text, 10, bits)
		if err != nil {
			p.report(annotations.Key(name), "%q is not a number of %d bits", text, bits)
		}
		return n, err == nil
	}
	least, ok := number(minPriorityAnnotation, min(int64(c.Value)+1, math.MaxInt32), 32)
	seconds, ok2 := number(tolerationAnnotation, 0, 64)
	if !ok || !ok2 || seconds == 0 {
		return model.PreemptionToleration{}
	}
	t := model.PreemptionToleration{MinPriority: int32(least), For: -1}
	if seconds > 0 && seconds <= math.MaxInt64/int64(time.Second) {
		t.For = time.Duration(seconds) * time.Second
	}
	return t
}
