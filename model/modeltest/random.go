package modeltest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/berth-project/berth/model"
)

// RandomNode returns a valid node.
func RandomNode(r *rand.Rand) *model.Node {
	n := &model.Node{
		Name:          nodeName(r.IntN(50)),
		Labels:        RandomLabels(r),
		Zone:          pick(r, zones),
		Allocatable:   RandomResources(r),
		Capacity:      maybe(r, RandomResources(r)),
		MaxWorkloads:  pick(r, []int64{model.Unlimited, model.NoWorkloads, 1, 2, 110, math.MaxInt64}),
		Unschedulable: r.IntN(10) == 0,
	}
	n.Taints = unique(list(r, 3, func() model.Taint { return RandomTaint(r) }), func(a, b model.Taint) bool {
		return a.Key == b.Key && a.Effect == b.Effect
	})
	n.Images = list(r, 3, func() model.NodeImage {
		return model.NodeImage{Names: picks(r, 3, images), Size: RandomAmount(r)}
	})
	n.Devices = list(r, 8, func() model.Device {
		return model.Device{Class: pick(r, classes), Model: pick(r, append([]string{""}, models...))}
	})
	n.Features = features(r)
	return n
}

// features are sometimes there.
func features(r *rand.Rand) []string {
	if r.IntN(6) > 0 {
		return nil
	}
	return unique(picks(r, 2, []string{"RestartAllContainers", "Swap"}), func(a, b string) bool { return a == b })
}

// RandomWorkload returns a valid workload.
func RandomWorkload(r *rand.Rand) *model.Workload {
	w := &model.Workload{
		ID:         workloadID(r.IntN(200)),
		Namespace:  pick(r, namespaces),
		Name:       maybe(r, "web"),
		Labels:     RandomLabels(r),
		Profile:    maybe(r, "batch"),
		Group:      maybe(r, pick(r, groups)),
		Priority:   pick(r, []int32{0, 0, 0, 1, -1, 10, math.MaxInt32, math.MinInt32}),
		Preemption: pick(r, preemption),
		Requests:   RandomResources(r),
		CreatedAt:  randomTime(r),
	}
	if r.IntN(4) == 0 {
		estimate := RandomResources(r)
		w.Estimate = &estimate
	}
	if r.IntN(3) == 0 {
		w.UsageLimits = RandomResources(r)
	}
	if r.IntN(20) == 0 {
		load := RandomResources(r)
		w.FitLoad = &load
	}
	if r.IntN(8) == 0 {
		w.NodeName = nodeName(r.IntN(50))
	}
	if r.IntN(4) == 0 {
		w.NodeSelector = RandomLabels(r)
	}
	if r.IntN(3) == 0 {
		w.NodeAffinity = RandomNodeAffinity(r)
	}
	if r.IntN(4) == 0 {
		w.Affinity = RandomWorkloadAffinity(r)
	}
	if r.IntN(4) == 0 {
		w.AntiAffinity = RandomWorkloadAffinity(r)
	}
	w.Spread = unique(list(r, 2, func() model.SpreadConstraint { return RandomSpread(r) }), func(a, b model.SpreadConstraint) bool {
		return a.TopologyKey == b.TopologyKey && a.Mode == b.Mode
	})
	w.Tolerations = list(r, 3, func() model.Toleration { return RandomToleration(r) })
	w.Ports = unique(list(r, 3, func() model.HostPort { return randomPort(r) }), func(a, b model.HostPort) bool {
		return a.IP == b.IP && a.Port == b.Port // whatever the protocol, which may be implied
	})
	w.Images = picks(r, 3, images)
	w.Devices = list(r, 2, func() model.DeviceRequest { return RandomDeviceRequest(r) })
	w.VolumeClaims = randomVolumeClaims(r)
	w.Disks = randomDisks(r)
	w.Features = features(r)
	if n := len(w.Ports); n > 0 { // no draw of its own
		w.Syscalls = []string{"bind", "clone", "open"}[:n]
	}
	if r.IntN(4) == 0 {
		w.OwnerSelector = RandomSelector(r)
	}
	if r.IntN(20) == 0 {
		w.Limit, w.Data = time.Duration(1+r.IntN(3))*time.Hour, "the orchestrator's own"
		w.MinLimit = maybe(r, w.Limit/2)
	}
	if r.IntN(10) == 0 {
		w.Gates = unique(picks(r, 2, []string{"quota", "review"}), func(a, b string) bool { return a == b })
	}
	return w
}

// RandomGroup returns a valid group.
func RandomGroup(r *rand.Rand) *model.Group {
	g := &model.Group{
		ID:          pick(r, groups),
		Namespace:   pick(r, namespaces),
		Parent:      maybe(r, "parent"),
		Policy:      pick(r, []model.GroupPolicy{"", model.Basic, model.Gang, model.Gang}),
		TopologyKey: maybe(r, pick(r, labelKeys)),
		Priority:    pick(r, []int32{0, 1, -1, math.MaxInt32, math.MinInt32}),
		Preemption:  pick(r, preemption),
		Disruption:  pick(r, []model.DisruptionMode{"", model.DisruptSingle, model.DisruptAll}),
		CreatedAt:   randomTime(r),
	}
	if g.Policy == model.Gang {
		g.MinCount = pick(r, []int32{1, 1, 2, 3, 8, math.MaxInt32})
		g.PermitTimeout = pick(r, []time.Duration{0, 0, time.Second, math.MaxInt64})
		if g.MinCount == 8 {
			g.MinResources = model.Resources{CPU: 8000, Scalars: []model.Scalar{{Name: "licences", Amount: 8}}}
		}
	}
	return g
}

// RandomBudget returns a valid budget.
func RandomBudget(r *rand.Rand) *model.Budget {
	return &model.Budget{
		ID:        fmt.Sprintf("b%d", r.IntN(10)),
		Namespace: pick(r, namespaces),
		Selector:  RandomSelector(r),
		Allowed:   pick(r, []int32{0, 0, 1, 2, math.MaxInt32}),
		Displaced: list(r, 3, func() string { return workloadID(r.IntN(200)) }),
	}
}

// RandomNamespace returns a valid namespace.
func RandomNamespace(r *rand.Rand) *model.Namespace {
	return &model.Namespace{Name: pick(r, namespaces[1:]), Labels: RandomLabels(r)}
}

// Cluster is a number of objects that belong together: identities are unique,
// and the groups that workloads name exist.
type Cluster struct {
	Nodes      []*model.Node      // named n0, n1 and so on
	Workloads  []*model.Workload  // on no node; some name one of Groups
	Groups     []*model.Group     // all that a workload may name; none has a parent
	Budgets    []*model.Budget    // two at most
	Namespaces []*model.Namespace // some; the others may be in a namespace that is not there
}

// RandomCluster returns a cluster with the given numbers of nodes and workloads.
// The workloads are on no node yet.
func RandomCluster(r *rand.Rand, nodes, workloads int) *Cluster {
	c := &Cluster{}
	for i := range nodes {
		n := RandomNode(r)
		n.Name = nodeName(i)
		c.Nodes = append(c.Nodes, n)
	}
	for i := range workloads {
		w := RandomWorkload(r)
		w.ID = workloadID(i)
		c.Workloads = append(c.Workloads, w)
	}
	for _, id := range groups {
		g := RandomGroup(r)
		g.ID, g.Parent = id, ""
		c.Groups = append(c.Groups, g)
	}
	for i := range r.IntN(3) {
		b := RandomBudget(r)
		b.ID = fmt.Sprintf("b%d", i)
		c.Budgets = append(c.Budgets, b)
	}
	for _, name := range namespaces[1:] {
		if r.IntN(2) == 0 {
			c.Namespaces = append(c.Namespaces, &model.Namespace{Name: name, Labels: RandomLabels(r)})
		}
	}
	return c
}
