package podtopologyspread

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/extpoints/extpointstest"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/model/modeltest"
)

// seeded returns a generator that makes the same things every time.
func seeded(t *testing.T) *rand.Rand {
	t.Helper()
	return rand.New(rand.NewPCG(modeltest.Seed(t), 0))
}

func pick[T any](r *rand.Rand, choices ...T) T { return choices[r.IntN(len(choices))] }

// one is true once in n times.
func one(r *rand.Rand, n int) bool { return r.IntN(n) == 0 }

// world says how odd random situations are.
type world struct {
	// tame leaves out what the extensions and the hints, like those of the
	// reference, do not do justice to: terminating workloads, selectors
	// without requirements, conditions on nodes, and MatchLabelKeys.
	tame bool
}

// keys are the topology keys of random situations.
var keys = []string{"zone", "host", hostKey, zoneKey, "disk"}

func (o world) situation(r *rand.Rand) *extpointstest.Situation {
	view := &extpointstest.View{Nominating: map[string][]*extpoints.WorkloadInfo{}}
	for i := range 1 + r.IntN(8) {
		n := o.node(r, fmt.Sprintf("n%d", i))
		info := extpoints.NewNodeInfo(n)
		for j := range r.IntN(4) {
			info.AddWorkload(o.placed(r, fmt.Sprintf("%s-%d", n.Name, j)))
		}
		view.NodeInfos = append(view.NodeInfos, info)
	}
	// Slots are in no order, and some are not in use.
	for i, slot := range r.Perm(len(view.NodeInfos) + 2)[:len(view.NodeInfos)] {
		view.NodeInfos[i].Slot = int32(slot)
	}
	w := o.workload(r, "w")
	for range pick(r, 1, 1, 2, 3, 0) {
		w.Spread = append(w.Spread, o.constraint(r))
	}
	return &extpointstest.Situation{Workload: &extpoints.WorkloadInfo{Workload: w}, View: view}
}

func (o world) node(r *rand.Rand, name string) *model.Node {
	n := &model.Node{Name: name, Labels: map[string]string{"host": name}}
	if !one(r, 6) {
		n.Labels["zone"] = pick(r, "a", "b", "c")
	}
	if !one(r, 8) {
		n.Labels[hostKey] = pick(r, name, name, name, name, "shared")
	}
	if !one(r, 4) {
		n.Labels[zoneKey] = pick(r, "a", "b", "c", "")
	}
	if one(r, 2) {
		n.Labels["disk"] = pick(r, "ssd", "hdd", "")
	}
	for range r.IntN(2) {
		n.Taints = append(n.Taints, model.Taint{Key: pick(r, "dedicated", "spot"), Value: pick(r, "", "5"), Effect: pick(r, model.NoSchedule, model.NoExecute, model.PreferNoSchedule)})
	}
	return n
}

func (o world) placed(r *rand.Rand, id string) *extpoints.WorkloadInfo {
	return &extpoints.WorkloadInfo{Workload: o.workload(r, id), Terminating: !o.tame && one(r, 5)}
}

func (o world) workload(r *rand.Rand, id string) *model.Workload {
	w := &model.Workload{ID: id, Namespace: pick(r, "ns", "ns", "ns", ""), Labels: map[string]string{"app": pick(r, "web", "web", "db")}}
	if one(r, 2) {
		w.Labels["version"] = pick(r, "1", "2")
	}
	if one(r, 3) {
		w.Tolerations = []model.Toleration{pick(r, model.Toleration{Operator: model.Exists},
			model.Toleration{Operator: model.Gt, Value: "4"}, model.Toleration{Operator: model.Lt, Value: "4"})}
		w.Tolerations[0].Key = pick(r, "dedicated", "spot")
	}
	if one(r, 2) {
		w.OwnerSelector = o.selector(r)
	}
	if o.tame {
		return w
	}
	if one(r, 4) {
		w.NodeSelector = map[string]string{"disk": "ssd"}
	}
	if one(r, 4) {
		w.NodeAffinity = &model.NodeAffinity{Required: &model.NodeTerms{Terms: []model.NodeTerm{{Labels: []model.Requirement{
			{Key: "zone", Operator: pick(r, model.In, model.NotIn), Values: []string{pick(r, "a", "b")}},
		}}}}}
	}
	return w
}

func (o world) constraint(r *rand.Rand) model.SpreadConstraint {
	c := model.SpreadConstraint{
		TopologyKey:      pick(r, keys...),
		MaxSkew:          1 + r.Int32N(3),
		Mode:             pick(r, model.SpreadRequired, model.SpreadRequired, model.SpreadPreferred),
		Selector:         o.selector(r),
		NodeTaintsPolicy: pick(r, "", "", model.Honor, model.Ignore),
	}
	if c.Mode == model.SpreadRequired && one(r, 4) {
		c.MinDomains = 1 + r.Int32N(4)
	}
	if !o.tame {
		c.NodeAffinityPolicy = pick(r, "", "", model.Honor, model.Ignore)
		if c.Selector != nil && one(r, 4) {
			c.MatchLabelKeys = pick(r, []string{"version"}, []string{"version", "missing"}, []string{"missing"})
		}
	}
	return c
}

// selector makes one of several selectors that overlap.
func (o world) selector(r *rand.Rand) *model.Selector {
	app := model.Requirement{Key: "app", Operator: model.In, Values: []string{"web"}}
	switch r.IntN(8) {
	case 0:
		return &model.Selector{Requirements: []model.Requirement{{Key: "version", Operator: model.Exists}}}
	case 1:
		return &model.Selector{Requirements: []model.Requirement{{Key: "version", Operator: model.NotIn, Values: []string{"1"}}}}
	case 2:
		return &model.Selector{Requirements: []model.Requirement{app, {Key: "version", Operator: model.DoesNotExist}}}
	case 3:
		if !o.tame {
			return pick(r, &model.Selector{}, nil)
		}
	case 4:
		app.Values = []string{"web", "db"}
	}
	return &model.Selector{Requirements: []model.Requirement{app}}
}

// someArgs are those with which random situations are tried.
var someArgs = map[string]Args{
	"System":     {},
	"empty List": {DefaultingType: List},
	"List": {DefaultingType: List, DefaultConstraints: []model.SpreadConstraint{
		{TopologyKey: "zone", Mode: model.SpreadRequired, MaxSkew: 1},
		{TopologyKey: hostKey, Mode: model.SpreadRequired, MaxSkew: 2, MinDomains: 3, NodeTaintsPolicy: model.Honor},
		{TopologyKey: zoneKey, Mode: model.SpreadPreferred, MaxSkew: 2},
		{TopologyKey: hostKey, Mode: model.SpreadPreferred, MaxSkew: 1, NodeAffinityPolicy: model.Ignore},
	}},
}

func randomArgs(r *rand.Rand) Args { return someArgs[pick(r, "System", "empty List", "List")] }

func newPlugin(t testing.TB, args any) *PodTopologySpread {
	t.Helper()
	p, err := extpoints.FactoryOf(New)(args, extpointstest.NewHandle())
	if err != nil {
		t.Fatal(err)
	}
	return p.(*PodTopologySpread)
}

// keeping is a plugin with the default arguments and such hints.
func keeping(t testing.TB, compat extpoints.Compat) *PodTopologySpread {
	t.Helper()
	h := extpointstest.NewHandle()
	h.Mode = compat
	p, err := New(Args{}, h)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// The rest makes situations by hand.

// on makes a node with labels given as "key=value", and a workload "app=web" in
// the namespace "ns" for each of the count.
func on(name string, count int, labels ...string) *extpoints.NodeInfo {
	n := &model.Node{Name: name, Labels: labelled(labels...)}
	info := extpoints.NewNodeInfo(n)
	for i := range count {
		info.AddWorkload(&extpoints.WorkloadInfo{Workload: web(fmt.Sprintf("%s-%d", name, i))})
	}
	return info
}

// web makes a workload that the selector of constraints made with required and
// preferred selects.
func web(id string, spread ...model.SpreadConstraint) *model.Workload {
	return &model.Workload{ID: id, Namespace: "ns", Labels: labelled("app=web"), Spread: spread}
}

func labelled(pairs ...string) map[string]string {
	labels := map[string]string{}
	for _, pair := range pairs {
		i := slices.Index([]byte(pair), '=')
		labels[pair[:i]] = pair[i+1:]
	}
	return labels
}

func required(key string, maxSkew int32, more ...func(*model.SpreadConstraint)) model.SpreadConstraint {
	c := model.SpreadConstraint{TopologyKey: key, MaxSkew: maxSkew, Mode: model.SpreadRequired, Selector: model.SelectLabels(labelled("app=web"))}
	for _, f := range more {
		f(&c)
	}
	return c
}

func preferred(key string, maxSkew int32, more ...func(*model.SpreadConstraint)) model.SpreadConstraint {
	return required(key, maxSkew, append([]func(*model.SpreadConstraint){func(c *model.SpreadConstraint) { c.Mode = model.SpreadPreferred }}, more...)...)
}

func selecting(s *model.Selector) func(*model.SpreadConstraint) {
	return func(c *model.SpreadConstraint) { c.Selector = s }
}

func minDomains(n int32) func(*model.SpreadConstraint) {
	return func(c *model.SpreadConstraint) { c.MinDomains = n }
}

func affinityPolicy(p model.InclusionPolicy) func(*model.SpreadConstraint) {
	return func(c *model.SpreadConstraint) { c.NodeAffinityPolicy = p }
}

func taintsPolicy(p model.InclusionPolicy) func(*model.SpreadConstraint) {
	return func(c *model.SpreadConstraint) { c.NodeTaintsPolicy = p }
}

func matchLabels(keys ...string) func(*model.SpreadConstraint) {
	return func(c *model.SpreadConstraint) { c.MatchLabelKeys = keys }
}
