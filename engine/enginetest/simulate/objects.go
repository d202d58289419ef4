package simulate

import (
	"fmt"
	"slices"
	"time"

	"github.com/berth-project/berth/engine/enginetest/faults"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/model/modeltest"
)

// Labels and taints of simulated objects come from small pools, so that
// selectors do find something and taints do keep somebody away.
var (
	simTiers  = []string{"", "gold", "iron"}
	simModels = []string{"A100", "T4"}
	simTaints = []model.Taint{
		{Key: "own", Value: "a", Effect: model.NoSchedule}, {Key: "own", Value: "b", Effect: model.NoExecute},
		{Key: "slow", Effect: model.PreferNoSchedule}, {Key: "errors", Value: "7", Effect: model.NoSchedule},
	}
	simAmounts = []int64{0, 100, 250, 500, 500, 1000, 1500, 3000, 9000}
)

// mostOf is the largest amount that a workload asks for: sums of it do not
// overflow, beyond which the sums of a node do not say what is on it.
const mostOf = 1 << 50

// newNode makes a node with a new name, or with that of one that was there; nil
// where there are enough.
func (s *sim) newNode() *model.Node {
	names := s.o.Nodes + 5
	if len(s.world.nodes) >= names {
		return nil
	}
	name := faults.NodeName(s.rng.IntN(names))
	for i := 0; s.world.nodes[name] != nil; i++ {
		name = faults.NodeName(i)
	}
	n := &model.Node{
		Name: name, Zone: pickOf(s, simZones),
		Labels:       s.nodeLabels(name),
		Allocatable:  s.capacity(),
		MaxWorkloads: pickOf(s, []int64{0, 0, 0, 110, 1, 2, 5, model.NoWorkloads}),
	}
	if s.o.Crowded {
		n.MaxWorkloads = 0
		return n
	}
	if s.chance(15) {
		n.Taints = []model.Taint{pickOf(s, simTaints)}
	}
	if s.chance(40) {
		n.Devices = s.newDevices()
	}
	n.Unschedulable = s.chance(5)
	if s.chance(30) {
		n.Features = []string{"Swap"}
	}
	return n
}

// nodeLabels are those of the node with the name: some nodes lack a zone, or the
// label of the host itself.
func (s *sim) nodeLabels(name string) map[string]string {
	labels := map[string]string{"tier": pickOf(s, simTiers)}
	if s.chance(85) {
		labels["zone"] = pickOf(s, simZones[1:])
	}
	if s.chance(90) {
		labels["kubernetes.io/hostname"] = name
	}
	if s.networked && s.chance(80) {
		labels["region"] = pickOf(s, simRegions)
	}
	return labels
}

func (s *sim) capacity() model.Resources {
	r := model.Resources{CPU: 1000 * s.rng.Int64N(7), Memory: 1000 * (1 + s.rng.Int64N(7))}
	if s.chance(40) {
		r.Set("licences", s.rng.Int64N(4))
	}
	return r
}

func (s *sim) newDevices() []model.Device {
	list := make([]model.Device, s.rng.IntN(5))
	for i := range list {
		list[i] = model.Device{Class: "gpu", Model: pickOf(s, simModels)}
	}
	return list
}

// newWorkload makes a workload: mostly one that fits small nodes, sometimes one
// with everything that there can be in a workload.
func (s *sim) newWorkload() *model.Workload {
	w := &model.Workload{
		Namespace: pickOf(s, simNamespaces),
		Priority:  int32(s.rng.IntN(4)),
		Requests:  model.Resources{CPU: pickOf(s, simAmounts), Memory: pickOf(s, simAmounts)},
		Labels:    map[string]string{},
	}
	if s.chance(12) && !s.o.Crowded && !s.o.Measured {
		w = modeltest.RandomWorkload(s.rng)
		s.tame(w)
	}
	w.ID = s.nextWorkload()
	w.Limit = time.Duration(s.made%6) * 10 * time.Second // some have none, and many run over
	w.MinLimit = min(w.MinLimit, w.Limit)
	w.Profile = pickOf(s, []string{"", "", simProfile, batchProfile})
	if s.made%25 == 0 {
		w.Profile = goneProfile
	}
	if s.chance(15) {
		s.join(w)
	}
	s.enqueueIn(w)
	if s.o.Crowded {
		w.Labels["app"] = pickOf(s, simApps)
		return w
	}
	s.claim(w)
	s.demand(w)
	s.relate(w)
	s.limit(w)
	s.needZones(w)
	s.talk(w)
	if s.chance(12) {
		w.Labels["hold"] = "yes"
	}
	if s.chance(10) {
		w.Labels["nominate"] = "yes"
	}
	if s.chance(12) {
		w.Gates = []string{"quota", "review"}[:1+s.rng.IntN(2)]
	}
	return w
}

// demand adds special wishes to some workloads.
func (s *sim) demand(w *model.Workload) {
	if s.chance(15) {
		w.Requests.Set("licences", 1+s.rng.Int64N(2))
	}
	if s.chance(15) {
		w.Tolerations = append(w.Tolerations, s.newToleration())
	}
	if s.chance(12) {
		w.Ports = []model.HostPort{{Port: int32(80 + s.rng.IntN(3)), IP: pickOf(s, []string{"", "10.0.0.1"})}}
	}
	if s.chance(20) {
		w.Devices = []model.DeviceRequest{s.newDeviceRequest()}
	}
	switch {
	case s.chance(10):
		w.NodeSelector = map[string]string{"tier": pickOf(s, simTiers)}
	case s.chance(10):
		w.NodeAffinity = &model.NodeAffinity{Required: &model.NodeTerms{Terms: []model.NodeTerm{{Labels: []model.Requirement{
			{Key: "tier", Operator: pickOf(s, []model.Operator{model.In, model.NotIn}), Values: []string{"gold"}},
		}}}}}
	case s.chance(5):
		w.NodeName = s.anyNode()
	case s.chance(10):
		term := model.AffinityTerm{Selector: &model.Selector{}, TopologyKey: "tier"}
		w.AntiAffinity = &model.WorkloadAffinity{Required: []model.AffinityTerm{term}}
	}
}

// needZones has some workloads need zones.
func (s *sim) needZones(w *model.Workload) {
	if !s.o.Measured || !s.chance(70) {
		return
	}
	w.QoS = model.Guaranteed
	if s.chance(30) && len(w.Requests.Scalars) == 0 {
		half := model.Resources{CPU: w.Requests.CPU / 2, Memory: w.Requests.Memory / 2}
		rest := model.Resources{CPU: w.Requests.CPU - half.CPU, Memory: w.Requests.Memory - half.Memory}
		w.Containers = []model.Container{{Name: "start", Requests: half, Startup: true}, {Name: "a", Requests: half}, {Name: "b", Requests: rest}}
	}
}

// anyNode is a node, sometimes one that nobody knows.
func (s *sim) anyNode() string {
	if len(s.world.order) == 0 || s.chance(10) {
		return faults.NodeName(s.rng.IntN(s.o.Nodes + 6))
	}
	return pickOf(s, s.world.order)
}

func (s *sim) newDeviceRequest() model.DeviceRequest {
	r := model.DeviceRequest{Class: "gpu", Count: 1, Share: pickOf(s, []int64{1, 300, 500, 600})}
	if s.chance(50) {
		r.Share, r.Count = model.WholeDevice, 1+s.rng.Int64N(3)
	}
	if s.chance(25) {
		r.Models = []string{pickOf(s, simModels)}
	}
	return r
}

func (s *sim) newToleration() model.Toleration {
	if s.chance(20) {
		return model.Toleration{Operator: model.Exists}
	}
	return pickOf(s, []model.Toleration{
		{Key: "own", Value: "a"}, {Key: "own", Value: "b"},
		{Key: "errors", Operator: model.Lt, Value: "9"}, {Key: "errors", Operator: model.Gt, Value: "7"},
	})
}

// tame takes out of a random workload what names other objects, and cuts
// amounts whose sums would overflow.
func (s *sim) tame(w *model.Workload) {
	w.NodeName, w.Group, w.Gates, w.Devices = "", "", nil, nil
	w.Labels = map[string]string{"app": "odd"}
	for _, r := range []*model.Resources{&w.Requests, w.Estimate} {
		if r == nil {
			continue
		}
		for _, name := range r.Names() {
			r.Set(name, min(r.Get(name), mostOf))
		}
	}
}

// changeWorkload makes another version of a workload, and says what is new. Of
// one that has a node only that is changed which may change there.
func (s *sim) changeWorkload(w *model.Workload, placed bool) (*model.Workload, string) {
	w = w.Clone()
	if w.Group == "" && s.step%15 == 0 {
		if w.Profile = goneProfile; s.made%2 == 0 {
			w.Profile = simProfile
		}
		return w, "profile " + w.Profile
	}
	if s.regroup(w, placed) {
		return w, fmt.Sprintf("of group %q, priority %d %s", w.Group, w.Priority, w.Preemption)
	}
	switch n := s.rng.IntN(10); {
	case n < 3 && len(w.Gates) > 0:
		w.Gates = w.Gates[1:]
		return w, fmt.Sprintf("gates %v", w.Gates)
	case n < 5:
		w.Requests.CPU, w.Containers = pickOf(s, simAmounts), nil
		return w, fmt.Sprintf("cpu %d", w.Requests.CPU)
	case n < 6 && w.Requests.Scalar("licences") > 0:
		w.Requests.Set("licences", s.rng.Int64N(3))
		return w, "licences"
	case n < 7:
		w.Tolerations = append(w.Tolerations, s.newToleration())
		return w, "a toleration"
	case n < 8 && !placed && len(w.Devices) > 0:
		w.Devices = []model.DeviceRequest{s.newDeviceRequest()}
		return w, fmt.Sprintf("devices %+v", w.Devices)
	case n < 9 && w.Priority < 10 && w.Group == "":
		w.Priority++
		return w, "a higher priority"
	}
	if w.Labels == nil {
		w.Labels = map[string]string{}
	}
	w.Labels["color"] = fmt.Sprint(s.rng.IntN(3))
	if s.chance(50) {
		w.Labels["app"] = pickOf(s, simApps)
	}
	s.talk(w)
	return w, fmt.Sprintf("labels %v", w.Labels)
}

// changeNode makes another version of a node, and says what is new.
func (s *sim) changeNode(n *model.Node) (*model.Node, string) {
	n = n.Clone()
	switch s.rng.IntN(10) {
	case 9:
		n.Features = pickOf(s, [][]string{nil, {"Swap"}, {"Swap", "Resize"}})
		return n, fmt.Sprintf("features %v", n.Features)
	case 0, 1:
		n.Allocatable = s.capacity()
		return n, fmt.Sprintf("%+v", n.Allocatable)
	case 2:
		n.MaxWorkloads = pickOf(s, []int64{0, 1, 3, 110, model.NoWorkloads})
		return n, fmt.Sprintf("%d workloads", n.MaxWorkloads)
	case 3:
		n.Labels = s.nodeLabels(n.Name)
		return n, fmt.Sprint(n.Labels)
	case 4:
		n.Taints = nil
		if s.chance(50) {
			n.Taints = []model.Taint{pickOf(s, simTaints)}
		}
		return n, fmt.Sprintf("taints %v", n.Taints)
	case 5:
		n.Unschedulable = !n.Unschedulable
		return n, fmt.Sprintf("unschedulable %v", n.Unschedulable)
	case 6:
		if s.chance(50) && len(n.Devices) > 0 {
			n.Devices = n.Devices[:len(n.Devices)-1]
		} else {
			n.Devices = append(slices.Clone(n.Devices), s.newDevices()...)
		}
		return n, fmt.Sprintf("%d devices", len(n.Devices))
	case 7:
		n.Zone = pickOf(s, simZones)
		return n, "zone " + n.Zone
	default:
		n.Images = []model.NodeImage{{Names: []string{"web:1"}, Size: 100 << 20}}
		return n, "an image"
	}
}
