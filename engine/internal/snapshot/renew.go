package snapshot

import (
	"slices"

	"github.com/berth-project/berth/extpoints"
)

// renew is topology, from the one before.
func (v *View) renew(f *former) *extpoints.Topology {
	numbers, values := v.carryOver(f)
	at := make([]int32, v.live) // slots by place, counted from 1; 0 for nodes without a value
	for slot, number := range numbers {
		if number > 0 {
			at[v.layout.place[slot]] = int32(slot) + 1
		}
	}
	t := &extpoints.Topology{
		Key: f.Key, Of: make([]int32, len(numbers)),
		Values: make([]string, 1, len(values)), Nodes: make([]int32, 1, len(values)),
	}
	renumbered := make([]int32, len(values))
	for _, slot := range at {
		if slot == 0 {
			continue
		}
		was := numbers[slot-1]
		if renumbered[was] == 0 {
			renumbered[was] = int32(len(t.Values))
			t.Values, t.Nodes = append(t.Values, values[was]), append(t.Nodes, 0)
		}
		t.Of[slot-1] = renumbered[was]
		t.Nodes[renumbered[was]]++
	}
	return t
}

// carryOver returns the values that nodes had before, those that some have now behind them, and the number of each
// node's value by slot, 0 for those without.
func (v *View) carryOver(f *former) (numbers []int32, values []string) {
	numbers, values = make([]int32, len(v.layout.place)), slices.Clip(f.Values)
	copy(numbers, f.Of)
	for _, slot := range f.changed {
		numbers[slot] = 0
		place := int(v.layout.place[slot])
		if place >= v.live || v.info(place).Slot != slot {
			continue // it has gone
		}
		value, ok := v.info(place).Node.TopologyValue(f.Key)
		if !ok {
			continue
		}
		number := 1 + slices.Index(values[1:], value)
		if number == 0 {
			number, values = len(values), append(values, value)
		}
		numbers[slot] = int32(number)
	}
	return numbers, values
}
