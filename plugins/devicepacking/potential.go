package devicepacking

import (
	"encoding/binary"
	"slices"

	"github.com/berth-project/berth/model"
)

// state is what is left of a node as far as its potential depends on it. Equal
// devices come in one order, so that equal nodes have equal states.
type state struct {
	cpu  int64
	left []leftover // ascending
}

// leftover is what is left of a device: the number of its model, and thousandths.
type leftover struct {
	number int
	free   int64
}

// stateBuffer is where the caller of stateOf lets it keep leftovers.
type stateBuffer [stackDevices]leftover

func (m *mix) stateOf(b *stateBuffer, p *pool) state {
	s := state{cpu: p.cpu, left: b[:0]}
	number := 0
	for i := range p.devices {
		if i == 0 || !p.uniform {
			number = m.models[p.devices[i].Model]
		}
		s.left = append(s.left, leftover{number, p.free[i]})
	}
	slices.SortFunc(s.left, func(a, b leftover) int {
		if a.number != b.number {
			return a.number - b.number
		}
		return int(a.free - b.free)
	})
	return s
}

// keyBuffer is where a key is written.
type keyBuffer [8 + stackDevices*4]byte

// appendKey appends a key of the state, another one for each state.
func (s *state) appendKey(key []byte) []byte {
	key = binary.AppendVarint(key, s.cpu)
	for _, l := range s.left {
		key = binary.AppendUvarint(key, uint64(l.number))
		key = binary.AppendVarint(key, l.free)
	}
	return key
}

// potentialOf is the potential of the pool, from memory where it is known.
func (m *mix) potentialOf(p *pool) int64 {
	var b stateBuffer
	s := m.stateOf(&b, p)
	var key keyBuffer
	k := s.appendKey(key[:0])
	if known, ok := m.memo.get(k); ok {
		return known
	}
	v := m.potential(&s)
	m.memo.put(k, v)
	return v
}

// potential is how much of the node is idle and will probably remain so, in
// thousandths of a device times scale:
//
//	mu * F + R
//
// F is what is idle and of no use to the workload that comes next, in expectation: the
// fragmentation of "Beware of Fragmentation" (USENIX ATC'23, section 3.2), here over
// all shapes. R is what is left idle after a rollout: the mean, over the sequences of
// the sample, of what is idle after the node has been offered the sequence (Bertsekas,
// "Rollout Algorithms for Discrete Optimization", 2013: a state is worth what a simple
// policy makes of it, here best fit on one node; see offer).
//
// R sees what F cannot: that the rest of a device will be used up by two
// workloads of the right sizes, and that CPU will run out before devices do. But a
// rollout sees large workloads come after small ones have spoilt their node, on an
// empty one as on one in use; F keeps room for them. Hence mu, which is 6 times the part
// of the demand that is for whole devices. And R believes that small workloads fill every
// rest in the end, though all nodes wait for the same few: many states have
// nearly the same R, and the sample decides between them. F prefers those that are of use now,
// so mu is at least 0.05, also where only shares are asked for.
//
// Memory is not looked at.
func (m *mix) potential(s *state) int64 {
	var idle int64
	for _, l := range s.left {
		idle += l.free
	}
	if idle <= 0 || len(m.sample) == 0 {
		return idle * scale
	}
	var b chanceBuffer
	chances, lost := m.chances(&b, s, idle)
	return lost/muScale*m.wholeWeight + m.rest(chances, s, idle)
}

// rest is R, in thousandths times scale.
func (m *mix) rest(chances []bool, s *state, idle int64) int64 {
	var after int64
	for i := range m.sequences {
		offered := m.sample[i*sequence : (i+1)*sequence]
		if i < m.choices {
			after += m.offerChoices(offered, chances, s, idle)
		} else {
			after += m.offer(offered, chances, s, idle)
		}
	}
	return after * scale / int64(m.sequences)
}

// chanceBuffer is where the caller of chances lets it keep them.
type chanceBuffer [stackShapes]bool

// stackShapes is how many shapes are handled without allocating.
const stackShapes = 512

// chances tells of each shape whether it fits: what does not fit now will not fit
// later. lost is F, in thousandths times scale.
func (m *mix) chances(b *chanceBuffer, s *state, idle int64) (fits []bool, lost int64) {
	fits = b[:0]
	for i := range m.shapes {
		t := &m.shapes[i]
		var fitting, usable int64
		if s.cpu >= t.cpu {
			for _, l := range s.left {
				if l.free >= t.share && t.admitted(l.number) {
					fitting++
					usable += l.free
				}
			}
		}
		if fitting < t.count || t.count == 0 {
			usable = 0
		}
		lost += t.weight * (idle - usable)
		fits = append(fits, s.cpu >= t.cpu && fitting >= t.count)
	}
	return fits, lost
}

// left is what is left of a node that takes workloads.
type left struct {
	devices []leftover
	cpu     int64
	idle    int64 // all of the devices
	most    int64 // of the device with most left
}

func leftOf(b *stateBuffer, s *state, idle int64) left {
	n := left{devices: append(b[:0], s.left...), cpu: s.cpu, idle: idle}
	n.most = mostFree(n.devices)
	return n
}

// offer offers the node a sequence, and returns what is idle then.
func (m *mix) offer(sequence []offered, chances []bool, s *state, idle int64) int64 {
	var b stateBuffer
	n := leftOf(&b, s, idle)
	for i := range sequence {
		o := &sequence[i]
		if o.cpu > n.cpu || o.share > n.most || !chances[o.shape] {
			continue
		}
		t := &m.shapes[o.shape]
		if t.count == 0 {
			n.cpu -= t.cpu
		} else if device, _, ok := t.fit(n.devices); ok {
			n.take(t, device)
		} else {
			continue
		}
		if n.cpu < m.leastCPU || n.most < m.leastShare {
			break
		}
	}
	return n.idle
}

// offerChoices is offer with so many workloads at a time, of which the node takes the one
// that fits best. So it gets better ones than come by: a cluster has many nodes, and sends
// each workload where it fits well. That counts for shares, which fit together or
// do not.
func (m *mix) offerChoices(sequence []offered, chances []bool, s *state, idle int64) int64 {
	var b stateBuffer
	n := leftOf(&b, s, idle)
	for i := 0; i < len(sequence); i += choice {
		t, device := m.bestFitting(sequence[i:i+choice], chances, &n)
		if t == nil {
			continue
		}
		if t.count == 0 {
			n.cpu -= t.cpu
		} else {
			n.take(t, device)
		}
		if n.cpu < m.leastCPU || n.most < m.leastShare {
			break
		}
	}
	return n.idle
}

// mostFree is what is left of the device with most left.
func mostFree(left []leftover) int64 {
	var most int64
	for i := range left {
		most = max(most, left[i].free)
	}
	return most
}

// bestFitting is the shape of which least is left on the device that it takes, and that
// device, -1 for whole ones: those leave nothing. Those without devices come last; of
// equal ones the first is taken. The shape is nil where none fits.
func (m *mix) bestFitting(list []offered, chances []bool, n *left) (best *shape, device int) {
	least := model.WholeDevice + 1
	for i := range list {
		o := &list[i]
		if o.cpu > n.cpu || o.share > n.most || !chances[o.shape] {
			continue
		}
		t := &m.shapes[o.shape]
		if t.count == 0 {
			if best == nil {
				best = t
			}
			continue
		}
		if d, rest, ok := t.fit(n.devices); ok && rest < least {
			if best, device, least = t, d, rest; least == 0 {
				break
			}
		}
	}
	return best, device
}

// fit is the tightest device for the shape and what it would leave there, or -1 and
// nothing for whole devices; and whether there are enough.
func (t *shape) fit(left []leftover) (device int, rest int64, ok bool) {
	if t.share == model.WholeDevice {
		var fitting int64
		for d := range left {
			if left[d].free == model.WholeDevice && t.admitted(left[d].number) {
				fitting++
			}
		}
		return -1, 0, fitting >= t.count
	}
	device = -1
	for d := range left {
		if g := left[d].free; g >= t.share && (device < 0 || g < left[device].free) && t.admitted(left[d].number) {
			device = d
		}
	}
	if device < 0 {
		return -1, 0, false
	}
	return device, left[device].free - t.share, true
}

// take gives the shape the device, or for whole ones as many as it asks for, which there are.
func (n *left) take(t *shape, device int) {
	n.cpu -= t.cpu
	n.idle -= t.asks()
	if device >= 0 {
		full := n.devices[device].free == n.most
		n.devices[device].free -= t.share
		if full {
			n.most = mostFree(n.devices)
		}
		return
	}
	missing := t.count
	for d := range n.devices {
		if missing > 0 && n.devices[d].free == model.WholeDevice && t.admitted(n.devices[d].number) {
			n.devices[d].free = 0
			missing--
		}
	}
	n.most = mostFree(n.devices)
}
