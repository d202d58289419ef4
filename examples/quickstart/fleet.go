package main

import (
	"fmt"
	"math/rand/v2"

	"github.com/berth-project/berth/model"
)

// Labels and taints of the fleet.
const (
	labelPool = "pool"
	labelZone = "zone"
	labelDisk = "disk"

	classGPU = "gpu"

	// imageNotebook is large enough for it to matter who has it.
	imageNotebook = "notebook:1"

	gib = int64(1) << 30
)

var zones = []string{"north", "south", "west"}

// pool is one kind of node.
type pool struct {
	name     string
	percent  int     // of all nodes
	cores    []int64 // the sizes there are, equally frequent
	ssd      int     // percent of nodes with fast disks
	gpus     int
	gpuModel string
	tainted  bool // only for those that tolerate the pool
	places   int64
}

// pools is the fleet. The first pool gets what is left after rounding.
var pools = []pool{
	{name: "general", percent: 56, cores: []int64{16, 32, 64}, ssd: 40, places: 110},
	{name: "spot", percent: 15, cores: []int64{32, 64}, tainted: true, places: 110},
	{name: "edge", percent: 8, cores: []int64{8}, places: 20},
	{name: "t4", percent: 10, cores: []int64{48}, gpus: 4, gpuModel: "T4", tainted: true, places: 110},
	{name: "a100", percent: 7, cores: []int64{96}, gpus: 8, gpuModel: "A100", tainted: true, places: 110},
	{name: "h100", percent: 4, cores: []int64{128}, gpus: 8, gpuModel: "H100", tainted: true, places: 110},
}

// cordonedPercent is the part of the nodes that are closed for maintenance.
const cordonedPercent = 2

// makeFleet makes n nodes up, the same for the same seed.
func makeFleet(seed uint64, n int) []*model.Node {
	r := rand.New(rand.NewPCG(seed, 1))
	var nodes []*model.Node
	for i := range pools {
		count := n * pools[i].percent / 100
		if i == 0 {
			count = n
			for _, other := range pools[1:] {
				count -= n * other.percent / 100
			}
		}
		for j := range count {
			nodes = append(nodes, pools[i].node(r, j))
		}
	}
	return nodes
}

// node makes the pool's node of the given number.
func (p *pool) node(r *rand.Rand, number int) *model.Node {
	cores := p.cores[r.IntN(len(p.cores))]
	disk := "hdd"
	if r.IntN(100) < p.ssd {
		disk = "ssd"
	}
	zone := zones[number%len(zones)]
	n := &model.Node{
		Name:          fmt.Sprintf("%s-%03d", p.name, number),
		Zone:          zone,
		Labels:        map[string]string{labelPool: p.name, labelZone: zone, labelDisk: disk},
		Allocatable:   model.Resources{CPU: cores * 1000, Memory: cores * 4 * gib},
		MaxWorkloads:  p.places,
		Unschedulable: r.IntN(100) < cordonedPercent,
	}
	if p.gpus > 0 && r.IntN(2) == 0 {
		n.Images = []model.NodeImage{{Names: []string{imageNotebook}, Size: 12 * gib}}
	}
	for range p.gpus {
		n.Devices = append(n.Devices, model.Device{Class: classGPU, Model: p.gpuModel})
	}
	if p.tainted {
		n.Taints = []model.Taint{{Key: labelPool, Value: p.taint(), Effect: model.NoSchedule}}
	}
	return n
}

// taint is what must be tolerated: the pools of GPUs have one in common.
func (p *pool) taint() string {
	if p.gpus > 0 {
		return classGPU
	}
	return p.name
}
