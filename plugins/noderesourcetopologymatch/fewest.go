package noderesourcetopologymatch

import (
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

const (
	// defaultMaxZones is how many zones a node has at most that does not say so.
	defaultMaxZones = 8
	// unknownDistance is that between zones of which none is reported.
	unknownDistance = 255
	// mostSearched is of how many zones all combinations are looked at. Where there are more,
	// the first that are enough are taken, in the order of their IDs.
	mostSearched = 12
)

// fewest is the score by LeastNUMANodes: the fewer zones the parts need, the more, and half
// as much more as one zone counts where those have the least distance that so many zones can
// have. The part that needs the most counts, and all must be close. What the zones have
// nothing of does not count; 0 where they have not enough.
func (z *zones) fewest(parts []model.Container, like bool) int64 {
	most, near := 0, true
	var few [8]amount
	for i := range parts {
		all := amounts(few[:0], &parts[i].Requests)
		wanted := z.ofZones(all)
		switch {
		case len(wanted) == 0:
			continue
		case like && len(wanted) < len(all): // for upstream no zones have it
			return 0
		}
		chosen, is := z.choose(wanted)
		if chosen == nil {
			return 0
		}
		most, near = max(most, len(chosen)), near && is
		if i < len(parts)-1 && (like || !parts[i].Startup) { // that leaves what it has to those after it
			z.takeFrom(chosen, wanted)
		}
	}
	if most == 0 {
		return extpoints.MaxScore
	}
	maxZones := z.of.MaxZones
	if maxZones == 0 {
		maxZones = defaultMaxZones
	}
	unit := extpoints.MaxScore / int64(maxZones)
	score := extpoints.MaxScore - int64(most)*unit
	if near {
		score += unit / 2
	}
	return max(score, 0)
}

// ofZones leaves out what is of no zone.
func (z *zones) ofZones(wanted []amount) []amount {
	list := wanted[:0]
	for _, a := range wanted {
		if z.has(a.name) {
			list = append(list, a)
		}
	}
	return list
}

// choose is the smallest set of zones that together have all that is wanted; of several of a
// size that with the least distance, and of these the first. near: no set of the size has
// a lesser one, whatever is left there.
func (z *zones) choose(wanted []amount) (chosen []int, near bool) {
	n := len(z.of.Zones)
	if n > mostSearched {
		return z.firstEnough(wanted), false
	}
	for size := 1; size <= n; size++ {
		least, best := float32(unknownDistance+1), float32(unknownDistance+1)
		set := make([]int, size)
		for i := range set {
			set[i] = i
		}
		for more := true; more; more = next(set, n) {
			d := z.distance(set)
			least = min(least, d)
			if d < best && z.enough(set, wanted) {
				best, chosen = d, append(chosen[:0], set...)
			}
		}
		if chosen != nil {
			return chosen, best == least
		}
	}
	return nil, false
}

// next makes the next set of the size, of numbers below n; false after the last.
func next(set []int, n int) bool {
	for i := len(set) - 1; i >= 0; i-- {
		if set[i] < n-len(set)+i {
			set[i]++
			for j := i + 1; j < len(set); j++ {
				set[j] = set[j-1] + 1
			}
			return true
		}
	}
	return false
}

// distance is the mean of the distances between the zones, each to itself included.
func (z *zones) distance(set []int) float32 {
	sum := 0
	for _, i := range set {
		for _, j := range set {
			d, known := z.of.Zones[i].Distances[z.of.Zones[j].ID]
			if !known {
				d = unknownDistance
			}
			sum += d
		}
	}
	return float32(sum) / float32(len(set)*len(set))
}

// enough reports whether the zones together have all that is wanted, and each some of it.
func (z *zones) enough(set []int, wanted []amount) bool {
	for _, a := range wanted {
		var sum int64
		for _, i := range set {
			left, has := z.get(i, a.name)
			if !has {
				return false
			}
			sum += min(left, a.n-sum)
		}
		if sum < a.n {
			return false
		}
	}
	return true
}

// firstEnough are zones from the first on, of those that have all resources, until they have
// enough.
func (z *zones) firstEnough(wanted []amount) (set []int) {
	for i := range z.of.Zones {
		if !z.enough([]int{i}, zero(wanted)) {
			continue
		}
		if set = append(set, i); z.enough(set, wanted) {
			return set
		}
	}
	return nil
}

// zero is the list with nothing wanted of each.
func zero(wanted []amount) []amount {
	list := make([]amount, len(wanted))
	for i := range wanted {
		list[i].name = wanted[i].name
	}
	return list
}

// takeFrom takes what is wanted out of the zones, from the first as much as it has.
func (z *zones) takeFrom(set []int, wanted []amount) {
	for _, a := range wanted {
		for _, i := range set {
			a.n = z.take(i, a)
		}
	}
}
