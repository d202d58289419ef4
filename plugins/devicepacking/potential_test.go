package devicepacking

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/extpoints/extpointstest"
	"github.com/berth-project/berth/model/modeltest"
)

func potentialOf(m *mix, n *extpoints.NodeInfo) int64 {
	var b buffer
	p := newPool(&b, "gpu", n)
	return m.potentialOf(&p)
}

// plainPotential is the potential as it is defined: device by device, sequence by
// sequence, nothing sorted, left out or remembered.
func plainPotential(m *mix, n *extpoints.NodeInfo) int64 {
	var idle, lost, after int64
	for _, g := range n.DeviceFree {
		idle += g
	}
	for i := range m.shapes {
		lost += m.shapes[i].weight * (idle - plainUsable(m, &m.shapes[i], n))
	}
	for i := 0; i < len(m.sample); i += sequence {
		end := n.Clone()
		atATime := 1
		if i/sequence < m.choices {
			atATime = choice
		}
		for k := i; k < i+sequence; k += atATime {
			plainOffer(m, m.sample[k:k+atATime], end)
		}
		for _, g := range end.DeviceFree {
			after += g
		}
	}
	return lost/muScale*m.wholeWeight + after*scale/int64(len(m.sample)/sequence)
}

func plainFitting(m *mix, t *shape, n *extpoints.NodeInfo) (list []int) {
	for d, g := range n.DeviceFree {
		if t.count > 0 && g >= t.share && (t.admits == nil || t.admits[m.models[n.Node.Devices[d].Model]]) {
			list = append(list, d)
		}
	}
	return list
}

func plainUsable(m *mix, t *shape, n *extpoints.NodeInfo) (usable int64) {
	fitting := plainFitting(m, t, n)
	if cpuLeft(n) < t.cpu || len(fitting) < int(t.count) {
		return 0
	}
	for _, d := range fitting {
		usable += n.DeviceFree[d]
	}
	return usable
}

// plainOffer gives the node the workload that leaves least on its device.
func plainOffer(m *mix, list []offered, n *extpoints.NodeInfo) {
	const none, noDevice = 1 << 60, 1 << 50
	best, least := 0, int64(none)
	for i := range list {
		t := &m.shapes[list[i].shape]
		fitting := plainTightest(m, t, n)
		if cpuLeft(n) < t.cpu || len(fitting) < int(t.count) {
			continue
		}
		rest := int64(noDevice)
		if t.count > 0 {
			rest = n.DeviceFree[fitting[0]] - t.share
		}
		if rest < least {
			best, least = i, rest
		}
	}
	if least == none {
		return
	}
	t := &m.shapes[list[best].shape]
	for _, d := range plainTightest(m, t, n)[:t.count] {
		n.DeviceFree[d] -= t.share
	}
	n.Requested.CPU += t.cpu
}

// plainTightest are the devices that can serve the shape, those with least left first. Of
// equally tight ones those whose models have the lowest numbers come first.
func plainTightest(m *mix, t *shape, n *extpoints.NodeInfo) []int {
	fitting := plainFitting(m, t, n)
	slices.SortFunc(fitting, func(a, b int) int {
		if n.DeviceFree[a] != n.DeviceFree[b] {
			return int(n.DeviceFree[a] - n.DeviceFree[b])
		}
		return m.models[n.Node.Devices[a].Model] - m.models[n.Node.Devices[b].Model]
	})
	return fitting
}

func randomMix(r *rand.Rand) *mix {
	list := make([]Typical, 1+r.IntN(12))
	for i := range list {
		t := Typical{CPU: r.Int64N(20) * 1000, Weight: 1 / float64(len(list))}
		switch r.IntN(4) {
		case 0:
		case 1:
			t.Share, t.Count = 1000, 1<<r.Int64N(4)
		default:
			t.Share, t.Count = 1+r.Int64N(1000), 1
		}
		if t.Count > 0 {
			t.Models = [][]string{nil, nil, {"A"}, {"B", "A"}, {"C"}}[r.IntN(5)]
		}
		list[i] = t
	}
	return newMix(list)
}

func randomGPUs(r *rand.Rand) *extpoints.NodeInfo {
	models := make([]string, []int{0, 1, 2, 4, 8, 8, 18}[r.IntN(7)])
	free := make([]int64, len(models))
	own := []string{"A", "B", "D"}[r.IntN(3)]
	mixed := r.IntN(3) == 0
	for i := range free {
		free[i] = []int64{0, 500, 1000, 1000, r.Int64N(1001)}[r.IntN(5)]
		if models[i] = own; mixed {
			models[i] = []string{"A", "B", "D"}[r.IntN(3)]
		}
	}
	return gpus(r.Int64N(100)*1000, models, free)
}

func TestPotentialIsWhatItIsDefinedToBe(t *testing.T) {
	seed := modeltest.Seed(t)
	r := rand.New(rand.NewPCG(seed, 0))
	mixes := 60
	if testing.Short() {
		mixes = 20
	}
	for range mixes {
		m := randomMix(r)
		for range 5 {
			n := randomGPUs(r)
			want := plainPotential(m, n)
			require.Equal(t, want, potentialOf(m, n), "%v of %v", n.DeviceFree, n.Node.Devices)
			require.Equal(t, want, potentialOf(m, n), "from memory")
			r.Shuffle(len(n.DeviceFree), func(i, j int) {
				n.DeviceFree[i], n.DeviceFree[j] = n.DeviceFree[j], n.DeviceFree[i]
				n.Node.Devices[i], n.Node.Devices[j] = n.Node.Devices[j], n.Node.Devices[i]
			})
			require.Equal(t, want, potentialOf(m, n), "the order of devices makes no difference")
		}
	}
}

// Each shape is in the sample as often as it should be, to within one.
func TestSampleIsStratified(t *testing.T) {
	list := []Typical{{CPU: 1, Weight: 0.5}, {Share: 500, Count: 1, Weight: 0.4}, {Share: 1000, Count: 8, Weight: 0.0999}, {Share: 1000, Count: 4, Weight: 0.0001}}
	m := newMix(list)
	counts := map[int64]float64{}
	for _, o := range m.sample {
		counts[m.shapes[o.shape].asks()]++
	}
	for i := range list {
		want := list[i].Weight * float64(len(m.sample))
		require.InDelta(t, want, counts[list[i].Share*list[i].Count], 1.01, "shape %d", i)
	}
	slices.Reverse(list)
	again := newMix(list)
	for i := range m.sample {
		require.Equal(t, m.sample[i], again.sample[i], "the order of the list makes no difference")
	}
}

// Where all is asked for in shares only some sequences are used, and those have the mix.
func TestSampleIsWhatIsUsed(t *testing.T) {
	m := newMix([]Typical{{Share: 400, Count: 1, Weight: 0.6}, {Share: 500, Count: 1, Weight: 0.4}})
	require.Equal(t, mostChoices, m.choices)
	require.Equal(t, mostChoices, m.sequences)
	require.Len(t, m.sample, mostChoices*sequence)
	first := 0
	for _, o := range m.sample {
		if o.share == 400 {
			first++
		}
	}
	require.InDelta(t, 0.6*mostChoices*sequence, first, 1.01)
}

// Gains are rounded to the nearest grain, which is coarse where shares are asked for.
func TestGrain(t *testing.T) {
	grain := func(list ...Typical) int64 { return newMix(list).grain }
	half, one := Typical{Share: 500, Count: 1, Weight: 1}, Typical{Share: 1000, Count: 1, Weight: 1}
	require.EqualValues(t, mostGrain, grain(half))
	require.EqualValues(t, 1, grain(one))
	require.EqualValues(t, 1, grain(Typical{CPU: 1, Weight: 1}))
	half.Weight, one.Weight = 0.5, 0.25
	require.EqualValues(t, mostGrain/4, grain(half, one))
	m := mix{grain: 8}
	for gain, want := range map[int64]int64{0: 0, 3: 0, 4: 8, 11: 8, 12: 16, -4: 0, -5: -8, -12: -8, -13: -16} {
		require.Equal(t, want, m.rounded(gain), "%d", gain)
	}
	require.EqualValues(t, -7, (&mix{grain: 1}).rounded(-7))
}

// A mix without devices, or of nothing that fits, is a mix too.
func TestPotentialOfUnusualMixes(t *testing.T) {
	n := gpus(4000, []string{"A", "A"}, []int64{1000, 500})
	require.EqualValues(t, 1500*scale, potentialOf(newMix([]Typical{{CPU: 1, Weight: 1}}), n), "nobody wants devices")
	huge := []Typical{{CPU: 1 << 60, Share: 1000, Count: 1, Weight: 1}}
	require.EqualValues(t, (mostMu*muScale+leastMu)*1500*scale/muScale+1500*scale, potentialOf(newMix(huge), n), "nobody fits")
	half := []Typical{{CPU: 1000, Share: 500, Count: 1, Weight: 1}}
	require.EqualValues(t, 0, potentialOf(newMix(half), n), "all of it will be used")
	require.EqualValues(t, 500*scale, potentialOf(newMix(half), gpus(2000, []string{"A", "A"}, []int64{1000, 500})), "CPU for two halves only")
}

// The memory forgets what was not asked for, and never tells anything else than it
// was told.
func TestMemoIsBounded(t *testing.T) {
	var m memo
	m.init()
	key := func(i int) []byte { return binary.AppendUvarint(nil, uint64(i)) }
	const many = 3 * memoShards * memoHalf
	for i := range many {
		m.put(key(i), int64(i))
		first, ok := m.get(key(0))
		require.True(t, ok && first == 0, "what is asked for stays")
	}
	kept := 0
	for i := range m.shards.Load() {
		kept += len(m.shards.Load()[i].new) + len(m.shards.Load()[i].old)
	}
	require.LessOrEqual(t, kept, 2*memoShards*memoHalf)
	found := 0
	for i := range many {
		if v, ok := m.get(key(i)); ok {
			require.EqualValues(t, i, v)
			found++
		}
	}
	require.Greater(t, found, memoHalf)
	require.Less(t, found, many)
}

func viewOf(nodes ...*extpoints.NodeInfo) extpoints.Nodes {
	for i, n := range nodes {
		n.Node.Name = fmt.Sprint(i)
	}
	return extpointstest.NewView(nodes...).Nodes()
}

func TestPrices(t *testing.T) {
	m := newMix([]Typical{
		{Share: 1000, Count: 1, Weight: 0.25, Models: []string{"A"}},
		{Share: 500, Count: 1, Weight: 0.5, Models: []string{"B", "A"}},
		{Share: 1000, Count: 1, Weight: 0.25},
		{CPU: 1, Weight: 0.0001, Models: []string{"B"}}, // needs no device: no demand
	})
	const third = (scale + 1) / 3 // each of the three is a third of the demand
	price := func(nodes ...*extpoints.NodeInfo) []int64 {
		p := m.pricesOf(&supply{class: "gpu"}, viewOf(nodes...))
		return []int64{p[0], p[m.models["A"]], p[m.models["B"]]}
	}
	a := func(free ...int64) *extpoints.NodeInfo { return gpus(1, slices.Repeat([]string{"A"}, len(free)), free) }
	b := func(free ...int64) *extpoints.NodeInfo { return gpus(1, slices.Repeat([]string{"B"}, len(free)), free) }
	c := func(free ...int64) *extpoints.NodeInfo { return gpus(1, slices.Repeat([]string{"C"}, len(free)), free) }
	for _, tt := range []struct {
		name  string
		nodes []*extpoints.NodeInfo
		want  []int64 // other models, A, B: in thirds of nu
	}{
		{"A is a quarter of what is idle, A and B are half", []*extpoints.NodeInfo{a(1000), b(1000), c(1000, 1000)}, []int64{0, 4 + 2, 2}},
		{"less of A is left", []*extpoints.NodeInfo{a(400), b(600), c(1000)}, []int64{0, 5 + 2, 2}},
		{"nothing of A is left to keep", []*extpoints.NodeInfo{a(0), b(1000), c(1000)}, []int64{0, 2, 2}},
		{"nothing is left", []*extpoints.NodeInfo{a(0), c(0)}, []int64{0, 0, 0}},
		{"no nodes", nil, []int64{0, 0, 0}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := price(tt.nodes...)
			for i := range got {
				require.InDelta(t, tt.want[i]*nu*third, got[i], 1000) // rounding of weights
			}
		})
	}
	free := newMix([]Typical{{Share: 1000, Count: 1, Weight: 1}})
	require.Empty(t, free.pricesOf(&supply{class: "gpu"}, viewOf(a(1000))), "nobody names models")
}
