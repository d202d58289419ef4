package devicepacking

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/extpoints/extpointstest"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/model/modeltest"
)

const accelerators = "example.com/gpu"

// counting makes a node that offers units of the resource, of which so many are in use.
func counting(cpu, units, used int64, labels map[string]string) *extpoints.NodeInfo {
	n := &model.Node{Name: "n", Labels: labels, Allocatable: model.Resources{CPU: cpu}.With(accelerators, units)}
	info := extpoints.NewNodeInfo(n)
	info.Requested.Set(accelerators, used)
	return info
}

func asking(cpu, units int64) *extpoints.WorkloadInfo {
	w := placed(noon, cpu)
	w.Requests.Set(accelerators, units)
	return w
}

func TestDevicesOfAResource(t *testing.T) {
	s := &supply{class: "gpu", resource: accelerators, units: 4}
	for _, tt := range []struct {
		units, used int64
		want        []int64
	}{
		{8, 0, []int64{1000, 1000}},
		{8, 3, []int64{1000, 250}},
		{9, 0, []int64{1000, 1000, 250}},
		{8, 9, []int64{0, 0}},
		{0, 0, nil},
	} {
		var b buffer
		p := s.pool(&b, counting(7, tt.units, tt.used, nil))
		require.ElementsMatch(t, tt.want, p.free, "%d of %d", tt.used, tt.units)
		require.Len(t, p.devices, len(tt.want))
	}
	var b buffer
	require.Len(t, s.pool(&b, counting(7, 1<<60, 0, nil)).free, mostOfResource)

	r := func(count, share int64) model.DeviceRequest {
		return model.DeviceRequest{Class: accelerators, Count: count, Share: share}
	}
	require.Empty(t, s.requests(asking(1, 0).Workload))
	require.Equal(t, []model.DeviceRequest{r(1, 250)}, s.requests(asking(1, 1).Workload))
	require.Equal(t, []model.DeviceRequest{r(2, 1000), r(1, 500)}, s.requests(asking(1, 10).Workload))
	require.Equal(t, []model.DeviceRequest{r(mostOfResource, 1000)}, s.requests(asking(1, 1<<60).Workload))
}

func TestModelsOfWorkloads(t *testing.T) {
	s := &supply{resource: accelerators, units: 1, label: "product"}
	in := func(key string, values ...string) model.NodeTerm {
		return model.NodeTerm{Labels: []model.Requirement{{Key: "zone", Operator: model.Exists}, {Key: key, Operator: model.In, Values: values}}}
	}
	for _, tt := range []struct {
		name     string
		selector map[string]string
		terms    []model.NodeTerm
		want     []string
	}{
		{"none", nil, nil, nil},
		{"by node selector", map[string]string{"product": "A"}, []model.NodeTerm{in("product", "B")}, []string{"A"}},
		{"by every term", nil, []model.NodeTerm{in("product", "B", "A"), in("product", "A")}, []string{"A", "B"}},
		{"not by every term", nil, []model.NodeTerm{in("product", "B"), in("rack", "r")}, nil},
	} {
		w := &model.Workload{NodeSelector: tt.selector}
		if tt.terms != nil {
			w.NodeAffinity = &model.NodeAffinity{Required: &model.NodeTerms{Terms: tt.terms}}
		}
		require.Equal(t, tt.want, s.modelsOf(w), tt.name)
	}
}

// Whole devices gain the same, whether they are counted or listed, prices included.
func TestResourceGainsAsDevicesDo(t *testing.T) {
	seed := modeltest.Seed(t)
	r := rand.New(rand.NewPCG(seed, 0))
	for range 10 {
		list := []Typical{
			{CPU: 2000, Weight: 0.2},
			{CPU: r.Int64N(20000), Share: 1000, Count: 1 << r.Int64N(3), Weight: 0.4, Models: []string{"A"}},
			{CPU: r.Int64N(9000), Share: 300, Count: 1, Weight: 0.4},
		}
		listed := newRollout(base{class: "gpu"}, Args{Class: "gpu", Typical: list}).(*rollout)
		counted := newRollout(base{class: "gpu"}, Args{Resource: accelerators, Units: 4, ModelLabel: "product", Typical: list}).(*rollout)
		var nodes, others []*extpoints.NodeInfo
		for i := range 6 {
			all, used, cpu, name := 1+r.Int64N(8), int64(0), r.Int64N(64000), []string{"A", "B"}[r.IntN(2)]
			if all > 1 {
				used = r.Int64N(all)
			}
			models, free := make([]string, all), make([]int64, all)
			for d := range models {
				if models[d] = name; int64(d) >= used {
					free[d] = 1000
				}
			}
			nodes = append(nodes, gpus(cpu, models, free))
			others = append(others, counting(cpu, 4*all, 4*used, map[string]string{"product": name}))
			nodes[i].Node.Name, others[i].Node.Name = fmt.Sprint(i), fmt.Sprint(i)
		}
		state := func(nodes []*extpoints.NodeInfo) *extpoints.CycleState {
			return extpoints.NewCycle(extpoints.CycleOptions{View: extpointstest.NewView(nodes...)}).State()
		}
		listing, counting := state(nodes), state(others)
		for k := range int64(4) {
			w, unit := placed(noon, 1000), asking(1000, 4*k)
			if k > 0 {
				w = placed(noon, 1000, gpu(k, 1000))
			}
			for i := range nodes {
				want, _ := listed.Score(listing, w, nodes[i])
				if k > 0 && !enough(&w.Workload.Devices[0], nodes[i]) {
					continue
				}
				for _, where := range []string{"worked out", "remembered"} {
					got, _ := counted.Score(counting, unit, others[i])
					require.Equal(t, want, got, "%s, %d on %v", where, k, nodes[i].DeviceFree)
				}
			}
		}
	}
}

// A share goes to the device that is in use in part.
func TestSharesOfAResource(t *testing.T) {
	p := newRollout(base{}, Args{Resource: accelerators, Units: 4, Typical: []Typical{{Share: 1000, Count: 1, Weight: 1}}}).(*rollout)
	fresh, used := counting(9000, 8, 0, nil), counting(9000, 8, 2, nil)
	fresh.Node.Name = "fresh"
	view := extpointstest.NewView(fresh, used)
	s := extpoints.NewCycle(extpoints.CycleOptions{View: view}).State()
	one, _ := p.Score(s, asking(1, 1), fresh)
	other, _ := p.Score(s, asking(1, 1), used)
	require.Less(t, one, other)
	require.Nil(t, p.ChooseDevices(s, &extpoints.WorkloadInfo{Workload: &model.Workload{Devices: []model.DeviceRequest{gpu(1, 500)}}}, used, 0, nil))
}

func TestLearnedOfAResource(t *testing.T) {
	l := newLearner(&supply{resource: accelerators, units: 4, label: "product"}, period)
	w := asking(1000, 6)
	w.NodeSelector = map[string]string{"product": "A"}
	w.PlacedAt = noon.Add(-1)
	n := counting(64000, 8, 6, map[string]string{"product": "A"})
	n.Workloads = []*extpoints.WorkloadInfo{w}
	require.Equal(t, map[kindOfShape]int64{
		{cpu: 1000, share: 1000, count: 1, models: "A"}: 16,
		{share: 500, count: 1, models: "A"}:             16,
	}, counted(l, noon.Add(1), n))
}
