package extpointstest

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/model/modeltest"
)

// The pools from which situations are made are small, so that a workload suits
// some nodes and not others, and one change may make the difference.
var (
	zones     = []string{"a", "b"}
	kinds     = []string{"ssd", "hdd"}
	apps      = []string{"web", "db"}
	taintKeys = []string{"dedicated", "spot", "node.kubernetes.io/unschedulable"}
	effects   = []model.TaintEffect{model.NoSchedule, model.PreferNoSchedule, model.NoExecute}
	ports     = []int32{80, 443}
	images    = []string{"web:1", "db:latest", "batch"}
)

const (
	gib = 1 << 30
	// gpus is the scalar of random situations.
	gpus = "example.com/gpu"
)

// RandomSituation makes a situation with up to six nodes and a workload that
// suits some of them. One in eight is made of the wild objects of package
// modeltest instead, which are valid, but absurdly large or odd.
func RandomSituation(r *rand.Rand) *Situation {
	wild := r.IntN(8) == 0
	view := &View{Nominating: map[string][]*extpoints.WorkloadInfo{}}
	for i := range 1 + r.IntN(6) {
		n := randomNode(r, fmt.Sprintf("n%d", i))
		if wild {
			n = modeltest.RandomNode(r)
			n.Name = fmt.Sprintf("n%d", i)
		}
		info := extpoints.NewNodeInfo(n)
		for range r.IntN(4) {
			info.AddWorkload(randomPlaced(r, n.Name, fmt.Sprintf("%s-%d", n.Name, len(info.Workloads)), info))
		}
		view.NodeInfos = append(view.NodeInfos, info)
	}
	view.Number()
	SetImages(view.NodeInfos)
	view.Namespaces = append(view.Namespaces, &model.Namespace{Name: "ns", Labels: map[string]string{"team": pick(r, apps)}})
	w := randomWorkload(r, "w")
	if wild {
		w = modeltest.RandomWorkload(r)
		w.ID = "w"
	}
	return &Situation{Workload: &extpoints.WorkloadInfo{Workload: w}, View: view}
}

func randomNode(r *rand.Rand, name string) *model.Node {
	n := &model.Node{
		Name:          name,
		Labels:        map[string]string{"host": name},
		Zone:          pick(r, zones),
		Allocatable:   randomRoom(r),
		MaxWorkloads:  pick(r, []int64{0, 0, 0, model.NoWorkloads, 1, 2, 4}),
		Unschedulable: one(r, 6),
	}
	if !one(r, 6) {
		n.Labels["zone"] = n.Zone
	}
	if !one(r, 4) {
		n.Labels["disk"] = pick(r, kinds)
	}
	if one(r, 2) {
		n.Labels["generation"] = pick(r, []string{"1", "2", "3", "new"})
	}
	for range r.IntN(3) {
		n.Taints = append(n.Taints, model.Taint{Key: pick(r, taintKeys), Value: pick(r, []string{"", "x", "5", "-7"}), Effect: pick(r, effects)})
	}
	if one(r, 2) {
		n.Images = []model.NodeImage{{Names: []string{pick(r, images), "alias:1"}, Size: r.Int64N(2000 << 20)}}
	}
	for range r.IntN(3) {
		n.Devices = append(n.Devices, model.Device{Class: "gpu", Model: pick(r, []string{"", "T4"})})
	}
	return n
}

func randomRoom(r *rand.Rand) model.Resources {
	room := model.Resources{
		CPU:              pick(r, []int64{0, 1000, 2000, 4000}),
		Memory:           pick(r, []int64{0, gib, 2 * gib, 4 * gib}),
		EphemeralStorage: pick(r, []int64{0, gib, 10 * gib}),
	}
	if one(r, 2) {
		room.Scalars = []model.Scalar{{Name: gpus, Amount: r.Int64N(3)}}
	}
	return room
}

func randomRequests(r *rand.Rand) model.Resources {
	requests := model.Resources{
		CPU:              pick(r, []int64{0, 0, 100, 500, 1000, 2000}),
		Memory:           pick(r, []int64{0, 0, gib / 4, gib, 2 * gib}),
		EphemeralStorage: pick(r, []int64{0, 0, 0, gib}),
	}
	if one(r, 4) {
		requests.Scalars = []model.Scalar{{Name: gpus, Amount: r.Int64N(3)}}
	}
	return requests
}

// randomPlaced makes a workload that is on a node and holds, where it can, the
// device share that it asks for.
func randomPlaced(r *rand.Rand, node, id string, on *extpoints.NodeInfo) *extpoints.WorkloadInfo {
	w := randomWorkload(r, id)
	w.NodeName, w.Gates, w.Devices = "", nil, nil
	info := &extpoints.WorkloadInfo{Workload: w, PlacedAt: Now.Add(-pick(r, []time.Duration{time.Minute, time.Hour})), Terminating: one(r, 10)}
	if len(on.DeviceFree) > 0 && one(r, 2) {
		if d := r.IntN(len(on.DeviceFree)); on.DeviceFree[d] >= 500 {
			w.Devices = []model.DeviceRequest{{Class: on.Node.Devices[d].Class, Count: 1, Share: 500}}
			info.Shares = []model.DeviceShare{{Device: d, Share: 500}}
		}
	}
	return info
}

func randomWorkload(r *rand.Rand, id string) *model.Workload {
	w := &model.Workload{
		ID:        id,
		Namespace: pick(r, []string{"", "ns"}),
		Labels:    map[string]string{"app": pick(r, apps)},
		Priority:  r.Int32N(3),
		Requests:  randomRequests(r),
		CreatedAt: Now.Add(-time.Hour),
	}
	if one(r, 8) {
		w.NodeName = fmt.Sprintf("n%d", r.IntN(8))
	}
	if one(r, 4) {
		w.NodeSelector = map[string]string{"disk": pick(r, kinds)}
	}
	if one(r, 3) {
		w.NodeAffinity = randomNodeAffinity(r)
	}
	for range r.IntN(3) {
		w.Tolerations = append(w.Tolerations, randomToleration(r))
	}
	if one(r, 3) {
		w.Ports = []model.HostPort{{IP: pick(r, []string{"", "10.0.0.1", "10.0.0.2"}), Protocol: pick(r, []model.Protocol{"", model.UDP}), Port: pick(r, ports)}}
	}
	for range r.IntN(3) {
		w.Images = append(w.Images, pick(r, images))
	}
	if one(r, 4) {
		w.Devices = []model.DeviceRequest{{Class: "gpu", Count: 1, Share: pick(r, []int64{250, 500, model.WholeDevice})}}
	}
	if one(r, 5) {
		w.Gates = []string{"quota"}
	}
	randomCompany(r, w)
	return w
}

// randomCompany says what the workload thinks of others.
func randomCompany(r *rand.Rand, w *model.Workload) {
	term := func() model.AffinityTerm {
		t := model.AffinityTerm{
			Selector:    model.SelectLabels(map[string]string{"app": pick(r, apps)}),
			TopologyKey: pick(r, []string{"zone", "host", "disk", model.ByNode, model.ByZone}),
		}
		if one(r, 4) {
			t.NamespaceSelector = &model.Selector{}
		}
		return t
	}
	affinity := func() *model.WorkloadAffinity {
		a := &model.WorkloadAffinity{}
		if one(r, 2) {
			a.Required = []model.AffinityTerm{term()}
		}
		if one(r, 2) {
			a.Preferred = []model.WeightedAffinityTerm{{Weight: 1 + r.Int32N(100), AffinityTerm: term()}}
		}
		return a
	}
	if one(r, 4) {
		w.Affinity = affinity()
	}
	if one(r, 4) {
		w.AntiAffinity = affinity()
	}
	if one(r, 4) {
		w.Spread = []model.SpreadConstraint{{
			TopologyKey: pick(r, []string{"zone", "host", model.ByNode, model.ByZone}),
			MaxSkew:     1 + r.Int32N(2),
			Mode:        pick(r, []model.SpreadMode{model.SpreadRequired, model.SpreadPreferred}),
			Selector:    model.SelectLabels(map[string]string{"app": pick(r, apps)}),
		}}
	}
}

func randomNodeAffinity(r *rand.Rand) *model.NodeAffinity {
	term := func() model.NodeTerm {
		switch r.IntN(5) {
		case 0:
			return model.NodeTerm{Fields: []model.Requirement{{Key: model.FieldName, Operator: model.In, Values: []string{fmt.Sprintf("n%d", r.IntN(8))}}}}
		case 1:
			return model.NodeTerm{Labels: []model.Requirement{{Key: "generation", Operator: pick(r, []model.Operator{model.Gt, model.Lt}), Values: []string{"2"}}}}
		case 2:
			return model.NodeTerm{Labels: []model.Requirement{{Key: "disk", Operator: pick(r, []model.Operator{model.Exists, model.DoesNotExist})}}}
		}
		return model.NodeTerm{Labels: []model.Requirement{{Key: "zone", Operator: pick(r, []model.Operator{model.In, model.NotIn}), Values: []string{pick(r, zones)}}}}
	}
	a := &model.NodeAffinity{}
	if one(r, 2) {
		a.Required = &model.NodeTerms{Terms: []model.NodeTerm{term()}}
		if one(r, 2) {
			a.Required.Terms = append(a.Required.Terms, term())
		}
	}
	for range r.IntN(3) {
		a.Preferred = append(a.Preferred, model.PreferredNodeTerm{Weight: 1 + r.Int32N(100), NodeTerm: term()})
	}
	return a
}

func randomToleration(r *rand.Rand) model.Toleration {
	if one(r, 2) {
		return model.Toleration{Key: pick(r, taintKeys), Operator: model.Exists, Effect: pick(r, []model.TaintEffect{"", model.NoSchedule})}
	}
	t := model.Toleration{Key: pick(r, taintKeys), Value: pick(r, []string{"", "x", "5"}), Effect: pick(r, []model.TaintEffect{"", model.PreferNoSchedule})}
	if one(r, 2) {
		t.Operator, t.Value = pick(r, []model.Operator{model.Gt, model.Lt}), pick(r, []string{"0", "5", "9"})
	}
	return t
}

func pick[T any](r *rand.Rand, choices []T) T { return choices[r.IntN(len(choices))] }

// one is true once in n times.
func one(r *rand.Rand, n int) bool { return r.IntN(n) == 0 }
