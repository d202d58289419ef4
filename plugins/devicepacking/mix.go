package devicepacking

import (
	"cmp"
	"math"
	"slices"

	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins/helper"
)

// The sample of a [mix]; the numbers were chosen on the seeds 52 to 56 of the published
// traces. engine/decisions/0046 has what they were compared with.
const (
	sequences = 256
	sequence  = 60 // workloads in each
	// choice is how many workloads a node is offered at a time, in the sequences that give
	// it a choice; see offer.
	choice = 3
	// mostChoices is how many sequences with a choice are offered at most: they cost thrice
	// as much as others.
	mostChoices = 128
	sampleSeed  = 1
)

// scale is the number that stands for 1: weights and potentials are integers.
const scale = 1 << 20

// mix is what rollouts hold for the workloads to come: their shapes, and a sample of
// their order.
//
// The sample is stratified: the shapes are lined up, each as long as its weight, and
// the line is read at equal distances; only the order is drawn, from a fixed
// seed. So every shape is in the sample as often as it should be, the rare ones
// too, up to rounding. All nodes are offered the same sequences (common random
// numbers), so that what differs is the nodes.
type mix struct {
	models map[string]int // number of each model that a shape names; 0: none does
	shapes []shape
	// wholeWeight is the weight of F, times muScale.
	wholeWeight int64
	// leastCPU and leastShare are the least that a shape with devices asks for: a node
	// with less will take nothing.
	leastCPU, leastShare int64
	sample               []offered // all sequences, one after the other
	// sequences is how many there are. The first ones, so many as choices says, give nodes a choice.
	sequences, choices int
	// grain is what gains are rounded to: differences that the sample cannot tell.
	grain  int64
	choosy []choosyShare // by models, of what is asked for; see prices
	memo   memo
}

// shape is a common shape of workload.
type shape struct {
	cpu, share, count int64
	admits            []bool // by number of model; nil: all will do
	weight            int64  // in 1/scale
}

// offered is a place of the sample: the index of a shape, and what most shapes that do not fit
// ask too much of, side by side in memory.
type offered struct {
	cpu, share int64
	shape      int32
}

func (t *shape) asks() int64 { return t.share * t.count }

func (t *shape) admitted(number int) bool { return t.admits == nil || t.admits[number] }

// newMix makes a mix of a list that is valid, in any order.
func newMix(list []Typical) *mix {
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b Typical) int {
		return cmp.Or(cmp.Compare(a.CPU, b.CPU), cmp.Compare(a.Share, b.Share), cmp.Compare(a.Count, b.Count),
			slices.Compare(a.Models, b.Models), cmp.Compare(a.Weight, b.Weight))
	})
	m := &mix{models: map[string]int{}, leastCPU: math.MaxInt64, leastShare: math.MaxInt64, sequences: sequences, grain: 1}
	m.memo.init()
	m.number(list)
	for i := range list {
		m.add(&list[i])
	}
	m.weigh()
	m.draw()
	return m
}

func (m *mix) number(list []Typical) {
	var names []string
	for i := range list {
		names = append(names, list[i].Models...)
	}
	slices.Sort(names)
	for i, name := range slices.Compact(names) {
		m.models[name] = i + 1
	}
}

func (m *mix) add(t *Typical) {
	s := shape{cpu: t.CPU, share: t.Share, count: t.Count, weight: max(1, int64(math.Round(t.Weight*scale)))}
	if t.Count > 0 {
		m.leastCPU, m.leastShare = min(m.leastCPU, t.CPU), min(m.leastShare, t.Share)
		if len(t.Models) > 0 {
			s.admits = make([]bool, len(m.models)+1)
			for _, name := range t.Models {
				s.admits[m.models[name]] = true
			}
		}
	}
	m.shapes = append(m.shapes, s)
}

// Weights of the parts of the potential.
const (
	muScale = 1 << 10
	// mostMu is what the weight of F gains where all demand is for whole devices.
	mostMu = 6
	// leastMu is the weight of F where none is, times muScale.
	leastMu = muScale / 20
	// mostGrain is what gains are rounded to where all demand is for shares: 8 thousandths of a
	// device, less than the error of a gain, which is about 20.
	mostGrain = 8 * scale
)

// weigh weighs F: it keeps devices whole, so it counts for as much as whole devices
// are asked for. Nodes have a choice the more, and gains are rounded the more, the more shares
// are: rests of devices are what a sample judges worst. It also sums up what is asked for by
// those that name models.
func (m *mix) weigh() {
	var all, whole int64
	for i := range m.shapes {
		t := &m.shapes[i]
		all += t.weight * t.asks()
		if t.share == model.WholeDevice {
			whole += t.weight * t.asks()
		}
	}
	if all == 0 {
		return
	}
	part := float64(whole) / float64(all)
	m.wholeWeight = leastMu + int64(math.Round(mostMu*muScale*part))
	choices := int(math.Round(sequences * float64((1-part)*(1-part))))
	m.choices = min(choices, mostChoices)
	m.sequences = sequences - choices + m.choices
	m.grain = max(1, int64(math.Round(mostGrain*float64((1-part)*(1-part)))))
	for i := range m.shapes {
		if t := &m.shapes[i]; t.admits != nil {
			m.addChoosy(t.admits, float64(t.weight*t.asks())/float64(all))
		}
	}
	m.choosy = slices.DeleteFunc(m.choosy, func(c choosyShare) bool { return c.part == 0 })
}

// choosyShare is the part of the demand for devices that is of those who name the
// same models.
type choosyShare struct {
	admits []bool
	part   int64 // of all demand, in 1/scale
}

func (m *mix) addChoosy(admits []bool, part float64) {
	add := int64(math.Round(part * scale))
	for i := range m.choosy {
		if slices.Equal(m.choosy[i].admits, admits) {
			m.choosy[i].part += add
			return
		}
	}
	m.choosy = append(m.choosy, choosyShare{admits, add})
}

// rounded is the nearest multiple of grain.
func (m *mix) rounded(gain int64) int64 {
	gain += m.grain / 2
	return gain - (gain%m.grain+m.grain)%m.grain
}

// draw makes the sample: the shapes at equal distances, in an order that is a
// function of the seed.
func (m *mix) draw() {
	var total int64
	for i := range m.shapes {
		total += m.shapes[i].weight
	}
	places := int64(m.sequences) * sequence
	m.sample = make([]offered, 0, places)
	end, next := int64(0), 0
	for i := int64(0); i < places && len(m.shapes) > 0; i++ {
		for (2*i+1)*total >= 2*places*end && next < len(m.shapes) {
			end += m.shapes[next].weight
			next++
		}
		m.sample = append(m.sample, offered{m.shapes[next-1].cpu, m.shapes[next-1].share, int32(next - 1)})
	}
	for i := len(m.sample) - 1; i > 0; i-- {
		k := helper.Draw(sampleSeed, uint64(i), i+1)
		m.sample[i], m.sample[k] = m.sample[k], m.sample[i]
	}
}
