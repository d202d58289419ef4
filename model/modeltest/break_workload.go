package modeltest

import (
	"math"
	"math/rand/v2"

	"github.com/berth-project/berth/model"
)

var workloadBreakers = []breaker[model.Workload]{
	{"no id", func(_ *rand.Rand, w *model.Workload) string { w.ID = ""; return "id" }},
	{"empty label key", func(_ *rand.Rand, w *model.Workload) string {
		w.Labels = set(w.Labels, "", "x")
		return "labels"
	}},
	{"preemption", func(_ *rand.Rand, w *model.Workload) string { w.Preemption = "Always"; return "preemption" }},
	{"bad requests", func(r *rand.Rand, w *model.Workload) string {
		return "requests." + breakResources(r, &w.Requests)
	}},
	{"bad estimate", func(r *rand.Rand, w *model.Workload) string {
		w.Estimate = &model.Resources{CPU: 1}
		return "estimate." + breakResources(r, w.Estimate)
	}},
	{"empty node selector key", func(_ *rand.Rand, w *model.Workload) string {
		w.NodeSelector = set(w.NodeSelector, "", "x")
		return "nodeSelector"
	}},
	{"bad requirement", breakRequirement},
	{"bad field", breakField},
	{"no required terms", func(_ *rand.Rand, w *model.Workload) string {
		nodeAffinity(w).Required = &model.NodeTerms{}
		return "nodeAffinity.required.terms"
	}},
	{"weight", breakWeight},
	{"topology key", breakTopologyKey},
	{"bad spread", breakSpread},
	{"bad toleration", breakToleration},
	{"bad port", breakPort},
	{"empty image", func(_ *rand.Rand, w *model.Workload) string { return add(&w.Images, "images", "") }},
	{"bad device request", breakDeviceRequest},
	{"empty gate", func(_ *rand.Rand, w *model.Workload) string { return add(&w.Gates, "gates", "") }},
	{"duplicate gate", func(_ *rand.Rand, w *model.Workload) string {
		w.Gates = append(w.Gates, fresh)
		return add(&w.Gates, "gates", fresh)
	}},
}

// breakRequirement puts a bad requirement into one of the places that have some.
func breakRequirement(r *rand.Rand, w *model.Workload) string {
	bad, field := badRequirement(r)
	requirements := []model.Requirement{{Key: "app", Operator: model.Exists}, bad}
	selector := &model.Selector{Requirements: requirements}
	term := model.NodeTerm{Labels: requirements}
	switch r.IntN(6) {
	case 0:
		a := nodeAffinity(w)
		if a.Required == nil {
			a.Required = &model.NodeTerms{}
		}
		return join("nodeAffinity.required", add(&a.Required.Terms, "terms", term), "labels[1]", field)
	case 1:
		preferred := model.PreferredNodeTerm{Weight: 1, NodeTerm: term}
		return join("nodeAffinity", add(&nodeAffinity(w).Preferred, "preferred", preferred), "labels[1]", field)
	case 2:
		t := model.AffinityTerm{Selector: selector, TopologyKey: "zone"}
		return join("affinity", add(&affinity(&w.Affinity).Required, "required", t), "selector.requirements[1]", field)
	case 3:
		t := model.AffinityTerm{NamespaceSelector: selector, TopologyKey: "zone"}
		return join("antiAffinity", add(&affinity(&w.AntiAffinity).Required, "required", t), "namespaceSelector.requirements[1]", field)
	case 4:
		t := model.WeightedAffinityTerm{Weight: 1, AffinityTerm: model.AffinityTerm{Selector: selector, TopologyKey: "zone"}}
		return join("antiAffinity", add(&affinity(&w.AntiAffinity).Preferred, "preferred", t), "selector.requirements[1]", field)
	}
	s := model.SpreadConstraint{TopologyKey: fresh, MaxSkew: 1, Mode: model.SpreadRequired, Selector: selector}
	return join(add(&w.Spread, "spread", s), "selector.requirements[1]", field)
}

// breakField puts a bad field requirement into the preferred node affinity.
func breakField(r *rand.Rand, w *model.Workload) string {
	f := model.Requirement{Key: model.FieldName, Operator: model.In, Values: []string{"n1"}}
	var field string
	switch r.IntN(3) {
	case 0:
		f.Key, field = pick(r, []string{"", "Name", "metadata.name"}), "key"
	case 1:
		f.Operator, field = pick(r, []model.Operator{"", model.Exists, model.Gt}), "operator"
	case 2:
		f.Values, field = pick(r, [][]string{nil, {}, {"n1", "n2"}}), "values"
	}
	preferred := model.PreferredNodeTerm{Weight: 1, NodeTerm: model.NodeTerm{Fields: []model.Requirement{f}}}
	return join("nodeAffinity", add(&nodeAffinity(w).Preferred, "preferred", preferred), "fields[0]", field)
}

// breakWeight adds a preference of a weight out of range.
func breakWeight(r *rand.Rand, w *model.Workload) string {
	weight := pick(r, []int32{0, -1, 101, math.MaxInt32, math.MinInt32})
	if r.IntN(2) == 0 {
		preferred := model.PreferredNodeTerm{Weight: weight}
		return join("nodeAffinity", add(&nodeAffinity(w).Preferred, "preferred", preferred), "weight")
	}
	t := model.WeightedAffinityTerm{Weight: weight, AffinityTerm: model.AffinityTerm{TopologyKey: "zone"}}
	return join("affinity", add(&affinity(&w.Affinity).Preferred, "preferred", t), "weight")
}

// breakTopologyKey adds an affinity term without one.
func breakTopologyKey(r *rand.Rand, w *model.Workload) string {
	if r.IntN(2) == 0 {
		return join("affinity", add(&affinity(&w.Affinity).Required, "required", model.AffinityTerm{}), "topologyKey")
	}
	t := model.WeightedAffinityTerm{Weight: 1}
	return join("antiAffinity", add(&affinity(&w.AntiAffinity).Preferred, "preferred", t), "topologyKey")
}

// breakSpread adds a constraint with one thing wrong.
func breakSpread(r *rand.Rand, w *model.Workload) string {
	s := model.SpreadConstraint{TopologyKey: fresh, MaxSkew: 1, Mode: model.SpreadRequired, Selector: &model.Selector{}}
	var field string
	switch r.IntN(10) {
	case 0:
		s.TopologyKey, field = "", "topologyKey"
	case 1:
		s.MaxSkew, field = pick(r, []int32{0, -1, math.MinInt32}), "maxSkew"
	case 2:
		s.Mode, field = pick(r, []model.SpreadMode{"", "DoNotSchedule"}), "mode"
	case 3:
		s.MinDomains, field = -1, "minDomains"
	case 4:
		s.Mode, s.MinDomains, field = model.SpreadPreferred, 2, "minDomains"
	case 5:
		s.NodeAffinityPolicy, field = "honor", "nodeAffinityPolicy"
	case 6:
		s.NodeTaintsPolicy, field = "None", "nodeTaintsPolicy"
	case 7:
		s.Selector, s.MatchLabelKeys, field = nil, []string{"app"}, "matchLabelKeys"
	case 8:
		s.MatchLabelKeys, field = []string{"app", ""}, "matchLabelKeys[1]"
	case 9:
		w.Spread = append(w.Spread, s)
		s.MaxSkew = 2
	}
	return join(add(&w.Spread, "spread", s), field)
}

// breakToleration adds a toleration with one thing wrong.
func breakToleration(r *rand.Rand, w *model.Workload) string {
	var t model.Toleration
	var field string
	compare := pick(r, []model.Operator{model.Gt, model.Lt})
	switch r.IntN(6) {
	case 0:
		t, field = model.Toleration{Operator: maybe(r, model.Equal), Value: maybe(r, "x")}, "key"
	case 1:
		t, field = model.Toleration{Key: fresh, Operator: pick(r, []model.Operator{"exists", ">", "In"})}, "operator"
	case 2:
		t, field = model.Toleration{Key: maybe(r, fresh), Operator: model.Exists, Value: "x"}, "value"
	case 3:
		t, field = model.Toleration{Key: fresh, Effect: "noSchedule"}, "effect"
	case 4:
		t, field = model.Toleration{Operator: compare, Value: "1"}, "key"
	case 5:
		t, field = model.Toleration{Key: fresh, Operator: compare, Value: pick(r, []string{"", "x", "+2", "01", "1.5", "9223372036854775808"})}, "value"
	}
	return join(add(&w.Tolerations, "tolerations", t), field)
}

// breakPort adds a port that is out of range, of an unknown protocol, or there
// already.
func breakPort(r *rand.Rand, w *model.Workload) string {
	p := model.HostPort{IP: fresh, Port: 80}
	var field string
	switch r.IntN(3) {
	case 0:
		p.Port, field = pick(r, []int32{0, -1, 65536, math.MaxInt32}), "port"
	case 1:
		p.Protocol, field = pick(r, []model.Protocol{"tcp", "ICMP"}), "protocol"
	case 2:
		w.Ports = append(w.Ports, p)
		p.Protocol = maybe(r, model.TCP) // implied in the other
	}
	return join(add(&w.Ports, "ports", p), field)
}

// breakDeviceRequest adds a device request with one thing wrong.
func breakDeviceRequest(r *rand.Rand, w *model.Workload) string {
	q := model.DeviceRequest{Class: "gpu", Count: 1, Share: model.WholeDevice}
	var field string
	switch r.IntN(5) {
	case 0:
		q.Class, field = "", "class"
	case 1:
		q.Count, field = pick(r, []int64{0, -1, math.MinInt64}), "count"
	case 2:
		q.Share, field = pick(r, []int64{0, -1, model.WholeDevice + 1, math.MaxInt64}), "share"
	case 3:
		q.Count, q.Share, field = pick(r, []int64{2, math.MaxInt64}), pick(r, []int64{1, 999}), "count"
	case 4:
		q.Models, field = []string{""}, "models[0]"
	}
	return join(add(&w.Devices, "devices", q), field)
}

func nodeAffinity(w *model.Workload) *model.NodeAffinity {
	if w.NodeAffinity == nil {
		w.NodeAffinity = &model.NodeAffinity{}
	}
	return w.NodeAffinity
}

func affinity(a **model.WorkloadAffinity) *model.WorkloadAffinity {
	if *a == nil {
		*a = &model.WorkloadAffinity{}
	}
	return *a
}

// BreakWorkload makes a valid workload invalid in one random way.
func BreakWorkload(r *rand.Rand, w *model.Workload) Breakage {
	return breakOne(r, w, workloadBreakers)
}
