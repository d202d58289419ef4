package devicepacking

import (
	"math"

	"github.com/berth-project/berth/extpoints"
)

// prices is what a thousandth of a device costs, in the unit of potentials, by number
// of its model; empty: nothing.
//
// Rollouts look at one node, and cannot see that workloads that take any model fill
// the nodes of the only model that others take. So a device costs the more the more is
// asked for by those who name its model, for what is left of the models that they
// name:
//
//	price = nu * sum over the lists of models that name it of
//	        part of the demand with that list / part of what is idle on its models
//
// Such a price is what revenue management calls a bid price, from the present
// state (Talluri and van Ryzin, "The Theory and Practice of Revenue Management",
// 2004, section 2.1; here the ratio of demand and what is left stands for the dual of
// the linear program). A workload that is free to choose goes where nobody else has to.
type prices []int64

// nu is the weight of prices. Chosen on the seeds 52 and 53 of variations of the published
// default and multigpu50 traces in which 20 to 33 % of the pods with GPUs name models: from 2
// to 16 it makes little difference, but where large pods abound, more is better.
const nu = 4

// exhausted is the part of what is idle, one of so many, below which there is
// nothing left to keep for anybody.
const exhausted = 10000

// pricesOf returns the prices in a cluster of the nodes.
func (m *mix) pricesOf(from *supply, nodes extpoints.Nodes) prices {
	if len(m.choosy) == 0 {
		return nil
	}
	idle := make([]int64, len(m.models)+1)
	var all int64
	last, number := "", m.models[""] // most devices are of the model of the one before
	count := func(model string, free int64) {
		if model != last {
			last, number = model, m.models[model]
		}
		idle[number] += free
		all += free
	}
	for i := range nodes.Len() {
		n := nodes.At(i)
		if from.ofResource() {
			count(n.Node.Labels[from.label], from.sum(from.unitsLeft(n)))
			continue
		}
		for d := range n.Node.Devices {
			if device := &n.Node.Devices[d]; device.Class == from.class {
				count(device.Model, n.DeviceFree[d])
			}
		}
	}
	list := make(prices, len(idle))
	for _, c := range m.choosy {
		var left int64
		for number, admitted := range c.admits {
			if admitted {
				left += idle[number]
			}
		}
		if left <= all/exhausted {
			continue
		}
		pressure := int64(math.Round(float64(c.part) / float64(left) * float64(all)))
		for number, admitted := range c.admits {
			if admitted {
				list[number] += nu * pressure
			}
		}
	}
	return list
}
