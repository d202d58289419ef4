package trace

import (
	"math"
	"slices"
	"strconv"
)

// Columns is how many values a run is summed up in: one for each percent of
// arrived demand, 0 to 130.
const Columns = 131

// Full is the column at which the arrived demand equals the capacity. The
// publication compares policies there.
const Full = 100

// Step is the state of the cluster after one arrival. All of it is in milli.
type Step struct {
	Arrived    int64   // demand of all pods so far, the dropped ones included
	Used       int64   // demand of the pods that were placed
	Fragmented float64 // sum of Typical.Fragment over the nodes
}

// Meter turns the steps of a run into the two series of its answer. Make one
// with NewMeter.
type Meter struct {
	capacity                  int64
	allocation, fragmentation [Columns][]float64 // the values of the steps
}

// NewMeter returns a meter for a cluster with the GPU capacity, in milli.
func NewMeter(capacity int64) *Meter { return &Meter{capacity: capacity} }

// Add counts one step, under the percent of demand that had arrived, rounded
// half to even. Steps beyond the last column are ignored; the protocol's
// arrivals end before.
func (m *Meter) Add(s Step) {
	column := int(math.RoundToEven(m.percent(s.Arrived)))
	if column >= Columns {
		return
	}
	allocated := twoDecimals(m.percent(s.Used))
	m.allocation[column] = append(m.allocation[column], allocated)
	if idle := m.capacity - s.Used; idle > 0 { // else there is nothing to be fragmented
		fragmented := twoDecimals(100 * s.Fragmented / float64(idle))
		m.fragmentation[column] = append(m.fragmentation[column], fragmented)
	}
}

func (m *Meter) percent(milli int64) float64 {
	return float64(milli) / (float64(m.capacity) / 100)
}

// Allocation returns the part of the GPU capacity in use, in percent with two
// decimals, as the mean over the steps of each column. See Series for columns
// without a step.
func (m *Meter) Allocation() Series {
	s := series(&m.allocation)
	for i, v := range s {
		s[i] = math.RoundToEven(v*100) / 100
	}
	return s
}

// Fragmentation returns the part of the idle GPU capacity that is fragmented,
// in percent, as the mean over the steps of each column. A full cluster has no
// such part; its steps do not count.
func (m *Meter) Fragmentation() Series { return series(&m.fragmentation) }

func series(columns *[Columns][]float64) Series {
	var s Series
	for i := range s {
		s[i] = columnMean(columns, i)
	}
	return s
}

func columnMean(columns *[Columns][]float64, i int) float64 {
	values := columns[i]
	if len(values) == 0 { // the published figures take the columns beside it
		values = slices.Concat(columns[max(i-1, 0):min(i+2, Columns)]...)
	}
	if len(values) == 0 {
		return math.NaN()
	}
	return pairwiseSum(values) / float64(len(values))
}

// pairwiseSum adds in the order of the library that made the published figures
// (numpy), in which the mean decides whether it is just above or just below a
// half of the second decimal: eight sums side by side, over at most 128 values;
// longer lists are halved first.
func pairwiseSum(values []float64) float64 {
	const lanes, block = 8, 128
	n := len(values)
	if n > block {
		half := n / 2 / lanes * lanes
		return pairwiseSum(values[:half]) + pairwiseSum(values[half:])
	}
	var total float64
	if n >= lanes {
		var lane [lanes]float64
		for i := range n / lanes * lanes {
			lane[i%lanes] += values[i]
		}
		total = ((lane[0] + lane[1]) + (lane[2] + lane[3])) + ((lane[4] + lane[5]) + (lane[6] + lane[7]))
		values = values[n/lanes*lanes:]
	}
	for _, v := range values {
		total += v
	}
	return total
}

// twoDecimals rounds the exact binary value, as printing does, and a tie to
// even. Scaling by 100 first would round some values the other way.
func twoDecimals(value float64) float64 {
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(value, 'f', 2, 64), 64)
	return rounded
}
