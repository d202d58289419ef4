package volumebinding

import (
	"math"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// PreScore skips workloads all of whose claims are bound: they score 0
// everywhere. (The reference has Score say so of each node.)
func (p *VolumeBinding) PreScore(s *extpoints.CycleState, w *extpoints.WorkloadInfo, _ []*extpoints.NodeInfo) *extpoints.Status {
	c, status := p.claimsOf(s, w)
	switch {
	case !status.IsSuccess():
		return extpoints.AsStatus(status.AsError())
	case c == nil || len(c.selected) == 0 && len(c.open) == 0:
		return skip
	}
	gathered.Set(s, c)
	return nil
}

// Score says how well the claims fit what they would get on the node: the mean,
// over storage classes, of the curve at the part that they ask for.
func (p *VolumeBinding) Score(s *extpoints.CycleState, w *extpoints.WorkloadInfo, node *extpoints.NodeInfo) (int64, *extpoints.Status) {
	c, status := p.claimsOf(s, w)
	if c == nil {
		return 0, extpoints.AsStatus(status.AsError())
	}
	var room [usualClaims]gift
	list, v := c.find(s, node.Node, room[:0])
	if v != 0 {
		return 0, nil
	}
	var sums [usualClaims]use
	return p.mean(uses(list, sums[:0])), nil
}

// use is what claims ask for of a storage class, and what they are given.
type use struct {
	class               string
	requested, capacity int64
}

// uses appends to the list one use for each class that counts. Where a claim is
// given a volume that is there, only claims like it do. What is asked of the room
// for new volumes is added up, the room is not: it is the same room.
func uses(gifts []gift, list []use) []use {
	for i := range gifts {
		if v := gifts[i].volume; v != nil {
			at := 0
			list, at = useOf(list, v.Class)
			list[at].requested += gifts[i].claim.Request
			list[at].capacity += v.Capacity
		}
	}
	if len(list) > 0 {
		return list
	}
	for i := range gifts {
		if room := gifts[i].room; room != nil {
			at := 0
			list, at = useOf(list, gifts[i].class.Name)
			list[at].requested += gifts[i].claim.Request
			list[at].capacity = roomIn(room)
		}
	}
	return list
}

// useOf returns the list and where in it the class is, which is added if need
// be.
func useOf(list []use, class string) ([]use, int) {
	for i := range list {
		if list[i].class == class {
			return list, i
		}
	}
	return append(list, use{class: class}), len(list)
}

// roomIn is how much room there is, 0 where only the size of the largest volume
// is known. (The reference would crash.)
func roomIn(c *model.StorageCapacity) int64 {
	if c.Capacity == nil {
		return 0
	}
	return *c.Capacity
}

// mean is the mean of the scores of the classes, rounded; 0 for none.
func (p *VolumeBinding) mean(list []use) int64 {
	if len(list) == 0 {
		return 0
	}
	var sum int64
	for _, u := range list {
		utilization := int64(100)
		if u.capacity != 0 && u.requested <= u.capacity {
			utilization = u.requested * 100 / u.capacity
		}
		sum += p.score(utilization)
	}
	return int64(math.Round(float64(sum) / float64(len(list))))
}
