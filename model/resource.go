package model

import (
	"math"
	"slices"
	"strings"
)

// Names of the resources that have a field of their own in [Resources]. They
// are the names used in reasons ("Insufficient cpu") and in plugin arguments.
const (
	CPU              = "cpu"               // milli-CPU: 1000 is one core
	Memory           = "memory"            // bytes
	EphemeralStorage = "ephemeral-storage" // bytes
)

// Cores returns an amount of CPU in thousandths of a core, rounded to the
// nearest: Cores(4) is 4000, Cores(0.5) is 500. What int64 cannot hold is its nearest
// value, and not a number is 0.
func Cores(n float64) int64 {
	switch n = math.Round(n * 1000); {
	case math.IsNaN(n):
		return 0
	case n >= math.MaxInt64:
		return math.MaxInt64
	case n <= math.MinInt64:
		return math.MinInt64
	}
	return int64(n)
}

// MiB returns so many mebibytes in bytes. What int64 cannot hold is its nearest value.
func MiB(n int64) int64 { return shifted(n, 20) }

// GiB returns so many gibibytes in bytes; for parts of one see [MiB]. What int64 cannot
// hold is its nearest value.
func GiB(n int64) int64 { return shifted(n, 30) }

// shifted is n << bits.
func shifted(n int64, bits int) int64 {
	switch {
	case n > math.MaxInt64>>bits:
		return math.MaxInt64
	case n < math.MinInt64>>bits:
		return math.MinInt64
	}
	return n << bits
}

// Scalar is an amount of a resource that the model does not know by itself,
// such as licences or accelerators counted as plain numbers.
type Scalar struct {
	Name   string // of the resource; not CPU, Memory or EphemeralStorage
	Amount int64  // in the unit that the orchestrator means
}

// Resources is an amount of every resource: what a node offers or a workload
// asks for. The zero value is nothing of anything.
//
// A name occurs at most once in Scalars; the order of Scalars has no meaning.
// A scalar with amount 0 is a request for zero, which is not the same as no
// scalar: plugins report on requested names only.
type Resources struct {
	CPU              int64    // milli-CPU; see Cores
	Memory           int64    // bytes; see MiB and GiB
	EphemeralStorage int64    // bytes
	Scalars          []Scalar // every other resource, each name once
}

// Get returns the amount of the named resource, 0 where there is none.
func (r *Resources) Get(name string) int64 {
	switch name {
	case CPU:
		return r.CPU
	case Memory:
		return r.Memory
	case EphemeralStorage:
		return r.EphemeralStorage
	}
	return r.Scalar(name)
}

// Scalar returns the amount of the named scalar, 0 where there is none. It
// does not look at the three resources that have fields.
func (r *Resources) Scalar(name string) int64 {
	for i := range r.Scalars {
		if r.Scalars[i].Name == name {
			return r.Scalars[i].Amount
		}
	}
	return 0
}

// Set sets the amount of the named resource. It changes r in place, so it is
// for objects that are still being built, never for stored ones.
func (r *Resources) Set(name string, amount int64) {
	switch name {
	case CPU:
		r.CPU = amount
	case Memory:
		r.Memory = amount
	case EphemeralStorage:
		r.EphemeralStorage = amount
	default:
		r.setScalar(name, amount)
	}
}

func (r *Resources) setScalar(name string, amount int64) {
	for i := range r.Scalars {
		if r.Scalars[i].Name == name {
			r.Scalars[i].Amount = amount
			return
		}
	}
	r.Scalars = append(r.Scalars, Scalar{Name: name, Amount: amount})
}

// With returns a copy of r in which the named resource has the given amount.
func (r Resources) With(name string, amount int64) Resources {
	r.Scalars = slices.Clone(r.Scalars)
	r.Set(name, amount)
	return r
}

// Clone returns a copy that shares nothing with r.
func (r Resources) Clone() Resources {
	r.Scalars = slices.Clone(r.Scalars)
	return r
}

// Add adds o to r in place. r must own its Scalars (see Clone). Sums stop at
// the largest int64 rather than wrapping, so absurd amounts stay absurd
// instead of becoming negative.
func (r *Resources) Add(o *Resources) {
	r.CPU = addSaturated(r.CPU, o.CPU)
	r.Memory = addSaturated(r.Memory, o.Memory)
	r.EphemeralStorage = addSaturated(r.EphemeralStorage, o.EphemeralStorage)
	if len(o.Scalars) > fewScalars {
		r.combineScalars(o.Scalars, addSaturated)
		return
	}
	for _, s := range o.Scalars {
		r.setScalar(s.Name, addSaturated(r.Scalar(s.Name), s.Amount))
	}
}

// Sub subtracts o from r in place. r must own its Scalars. A scalar that r
// does not have becomes negative, as the plain arithmetic says. Differences
// stop at the limits of int64 like sums; an amount that has stopped there has
// lost what was beyond, so Sub does not undo the Add that took it there.
func (r *Resources) Sub(o *Resources) {
	r.CPU = subSaturated(r.CPU, o.CPU)
	r.Memory = subSaturated(r.Memory, o.Memory)
	r.EphemeralStorage = subSaturated(r.EphemeralStorage, o.EphemeralStorage)
	if len(o.Scalars) > fewScalars {
		r.combineScalars(o.Scalars, subSaturated)
		return
	}
	for _, s := range o.Scalars {
		r.setScalar(s.Name, subSaturated(r.Scalar(s.Name), s.Amount))
	}
}

// fewScalars is how many are looked up one by one, which for so few is faster than a map and
// does not allocate.
const fewScalars = 16

// combineScalars combines the amounts of r with those of the list.
func (r *Resources) combineScalars(list []Scalar, combine func(a, b int64) int64) {
	at := make(map[string]int, len(r.Scalars)+len(list))
	for i, s := range slices.Backward(r.Scalars) {
		at[s.Name] = i
	}
	for _, s := range list {
		i, there := at[s.Name]
		if !there {
			i = len(r.Scalars)
			at[s.Name] = i
			r.Scalars = append(r.Scalars, Scalar{Name: s.Name})
		}
		r.Scalars[i].Amount = combine(r.Scalars[i].Amount, s.Amount)
	}
}

// IsZero reports whether every amount is zero.
func (r *Resources) IsZero() bool {
	if r.CPU != 0 || r.Memory != 0 || r.EphemeralStorage != 0 {
		return false
	}
	for i := range r.Scalars {
		if r.Scalars[i].Amount != 0 {
			return false
		}
	}
	return true
}

// Names lists the resources with a field whose amount is not zero and all
// scalars, the latter sorted.
func (r *Resources) Names() []string {
	var names []string
	for _, n := range []string{CPU, Memory, EphemeralStorage} {
		if r.Get(n) != 0 {
			names = append(names, n)
		}
	}
	fields := len(names)
	for _, s := range r.Scalars {
		names = append(names, s.Name)
	}
	slices.SortFunc(names[fields:], strings.Compare)
	return names
}

// addSaturated adds two amounts that may be close to the limits of int64.
func addSaturated(a, b int64) int64 {
	sum := a + b
	switch {
	case a > 0 && b > 0 && sum < 0:
		return math.MaxInt64
	case a < 0 && b < 0 && sum >= 0:
		return math.MinInt64
	}
	return sum
}

// subSaturated subtracts two amounts that may be close to the limits of int64.
func subSaturated(a, b int64) int64 {
	difference := a - b
	switch {
	case a >= 0 && b < 0 && difference < 0:
		return math.MaxInt64
	case a < 0 && b > 0 && difference >= 0:
		return math.MinInt64
	}
	return difference
}
