package main

import (
	"fmt"
	"math/rand/v2"

	"github.com/berth-project/berth/model"
)

// kind is one sort of workload.
type kind struct {
	name     string
	permille int // of all workloads
	priority int32
	cores    []float64 // the sizes there are, equally frequent
	shape    func(r *rand.Rand, w *model.Workload)
}

// kinds is what is submitted. The first kind gets what is left after rounding.
var kinds = []kind{
	{name: "api", permille: 400, priority: 1000, cores: []float64{0.5, 1, 1, 2}, shape: anything},
	{name: "ingress", permille: 5, priority: 2000, cores: []float64{2}, shape: ingress},
	{name: "database", permille: 50, priority: 900, cores: []float64{4, 8, 16}, shape: database},
	{name: "inference", permille: 160, priority: 500, cores: []float64{1, 2}, shape: inference},
	{name: "training", permille: 16, priority: 300, cores: []float64{8, 16, 32}, shape: training},
	{name: "batch", permille: 345, priority: 100, cores: []float64{1, 2, 3}, shape: batch},
	{name: "notebook", permille: 20, priority: 0, cores: []float64{1, 2}, shape: notebook},
	{name: "misfit", permille: 2, priority: 700, cores: []float64{2}, shape: misfit},
}

// makeWorkloads makes n workloads up, the same for the same seed.
func makeWorkloads(seed uint64, n int) []*model.Workload {
	r := rand.New(rand.NewPCG(seed, 2))
	var workloads []*model.Workload
	for i := range kinds {
		count := n * kinds[i].permille / 1000
		if i == 0 {
			count = n
			for _, other := range kinds[1:] {
				count -= n * other.permille / 1000
			}
		}
		for j := range count {
			workloads = append(workloads, kinds[i].workload(r, j))
		}
	}
	// They do not come sorted by kind.
	r.Shuffle(n, func(i, j int) { workloads[i], workloads[j] = workloads[j], workloads[i] })
	return workloads
}

// workload makes the kind's workload of the given number.
func (k *kind) workload(r *rand.Rand, number int) *model.Workload {
	cores := pick(r, k.cores...)
	w := &model.Workload{
		ID:       fmt.Sprintf("%s-%04d", k.name, number),
		Priority: k.priority,
		Labels:   map[string]string{"app": k.name},
		Requests: model.Resources{
			CPU:    int64(cores * 1000),
			Memory: int64(cores * pick[float64](r, 2, 3, 4, 5) * float64(gib)),
		},
	}
	k.shape(r, w)
	return w
}

func anything(*rand.Rand, *model.Workload) {}

// ingress runs at the edge, one on each node: it needs the node's port.
func ingress(_ *rand.Rand, w *model.Workload) {
	w.NodeSelector = map[string]string{labelPool: "edge"}
	w.Ports = []model.HostPort{{Port: 443}}
}

// database needs a fast disk, in the zone of its data where it has a say.
func database(r *rand.Rand, w *model.Workload) {
	need := []model.Requirement{{Key: labelDisk, Operator: model.In, Values: []string{"ssd"}}}
	if r.IntN(2) == 0 {
		need = append(need, model.Requirement{Key: labelZone, Operator: model.In, Values: []string{pick(r, zones...)}})
	}
	w.NodeAffinity = &model.NodeAffinity{Required: &model.NodeTerms{Terms: []model.NodeTerm{{Labels: need}}}}
}

// batch runs anywhere, and for the price of it better on spot nodes.
func batch(_ *rand.Rand, w *model.Workload) {
	tolerate(w, "spot")
	prefer(w, 50, labelPool, "spot")
}

// inference needs a part of a GPU and is served well enough by a small one.
func inference(r *rand.Rand, w *model.Workload) {
	tolerate(w, classGPU)
	prefer(w, 80, labelPool, "t4")
	prefer(w, 20, labelZone, pick(r, zones...))
	w.Devices = []model.DeviceRequest{{Class: classGPU, Count: 1, Share: pick[int64](r, 100, 200, 250, 300, 500)}}
}

// notebook is somebody who tries something out on a little of any GPU.
func notebook(r *rand.Rand, w *model.Workload) {
	w.Images = []string{imageNotebook}
	tolerate(w, classGPU)
	prefer(w, 50, labelZone, pick(r, zones...))
	w.Devices = []model.DeviceRequest{{Class: classGPU, Count: 1, Share: pick[int64](r, 50, 100)}}
}

// training needs whole large GPUs.
func training(r *rand.Rand, w *model.Workload) {
	tolerate(w, classGPU)
	models := [][]string{{"A100"}, {"H100"}, {"A100", "H100"}, {"A100", "H100"}}
	w.Devices = []model.DeviceRequest{{
		Class: classGPU, Count: pick[int64](r, 1, 1, 1, 2, 2, 4, 8), Share: model.WholeDevice, Models: pick(r, models...),
	}}
}

// misfit asks for what the fleet does not have.
func misfit(r *rand.Rand, w *model.Workload) {
	switch r.IntN(3) {
	case 0:
		w.Requests.Memory = 2048 * gib
	case 1:
		w.NodeSelector = map[string]string{labelZone: "east"}
	default:
		tolerate(w, classGPU)
		w.Devices = []model.DeviceRequest{{Class: classGPU, Count: 1, Share: model.WholeDevice, Models: []string{"B200"}}}
	}
}

func tolerate(w *model.Workload, pool string) {
	w.Tolerations = append(w.Tolerations, model.Toleration{Key: labelPool, Value: pool, Effect: model.NoSchedule})
}

func prefer(w *model.Workload, weight int32, label, value string) {
	if w.NodeAffinity == nil {
		w.NodeAffinity = &model.NodeAffinity{}
	}
	w.NodeAffinity.Preferred = append(w.NodeAffinity.Preferred, model.PreferredNodeTerm{
		Weight:   weight,
		NodeTerm: model.NodeTerm{Labels: []model.Requirement{{Key: label, Operator: model.In, Values: []string{value}}}},
	})
}

func pick[T any](r *rand.Rand, from ...T) T { return from[r.IntN(len(from))] }
