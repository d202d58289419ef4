package model_test

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/model/modeltest"
)

// demands is the part of a workload that SameDemands speaks of.
func demands(w *model.Workload) *model.Workload {
	return (&model.Workload{
		Namespace: w.Namespace, Profile: w.Profile, Priority: w.Priority, Preemption: w.Preemption,
		NodeName: w.NodeName, NodeSelector: w.NodeSelector, NodeAffinity: w.NodeAffinity,
		Affinity: w.Affinity, AntiAffinity: w.AntiAffinity, Spread: w.Spread, Ports: w.Ports,
		VolumeClaims: w.VolumeClaims, Disks: w.Disks, Limit: w.Limit,
	}).Clone()
}

// TestSameDemands compares it with reflection, on workloads of which one has a
// single field of another.
func TestSameDemands(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	equal, different := 0, 0
	for range 3000 {
		w, other := modeltest.RandomWorkload(r), modeltest.RandomWorkload(r)
		changed := w.Clone()
		field := r.IntN(reflect.TypeFor[model.Workload]().NumField())
		reflect.ValueOf(changed).Elem().Field(field).Set(reflect.ValueOf(other).Elem().Field(field))
		a, b := demands(w), demands(changed)
		a.Preemption, b.Preemption = mayPreempt(a), mayPreempt(b) // the default has two spellings
		want := reflect.DeepEqual(a, b) || len(w.NodeSelector) == 0 && len(changed.NodeSelector) == 0 && reflect.TypeFor[model.Workload]().Field(field).Name == "NodeSelector"
		if got := w.SameDemands(changed); got != want && !emptyOrNil(a, b) {
			t.Fatalf("field %s: %v, want %v\n%+v\n%+v", reflect.TypeFor[model.Workload]().Field(field).Name, got, want, a, b)
		}
		if want {
			equal++
		} else {
			different++
		}
	}
	if equal < 500 || different < 500 {
		t.Errorf("%d equal, %d different", equal, different)
	}
}

func mayPreempt(w *model.Workload) model.PreemptionPolicy {
	if w.MayPreempt() {
		return model.PreemptLower
	}
	return model.PreemptNever
}

// emptyOrNil reports whether the two only differ in whether an empty list is nil,
// which printing does not show.
func emptyOrNil(a, b *model.Workload) bool {
	text := func(w *model.Workload) string { return asJSON(w) }
	return text(a) == text(b)
}

func asJSON(w *model.Workload) string {
	c := w.Clone()
	text, err := json.Marshal(c)
	if err != nil {
		panic(err)
	}
	return strings.ReplaceAll(strings.ReplaceAll(string(text), "[]", "null"), "{}", "null")
}
