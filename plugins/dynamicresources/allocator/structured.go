package allocator

import (
	"sync"
	"sync/atomic"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// Structured is the [Allocator] of kube-scheduler; see the package comment. What
// it remembers between searches changes none of its answers.
type Structured struct {
	options   Options
	selectors selectorTable
	runs      sync.Pool // of *run

	catalogue atomic.Pointer[catalogue]
	making    sync.Mutex // so that one goroutine at a time makes a catalogue
}

// New makes an allocator.
func New(o Options) *Structured {
	if o.MaxSteps == 0 {
		o.MaxSteps = DefaultMaxSteps
	}
	a := &Structured{options: o}
	a.runs.New = func() any { return &run{} }
	return a
}

// Prepare implements [Allocator].
func (a *Structured) Prepare(devices extpoints.Devices, claims []*model.DeviceClaim) Search {
	s := &search{options: a.options, runs: &a.runs, selectors: &a.selectors, devices: devices, pools: a.current(devices.Slices())}
	for _, c := range claims {
		s.claims = append(s.claims, s.prepare(c))
	}
	return s
}

// Forget implements [Forgetter].
func (a *Structured) Forget(nodes extpoints.Nodes) {
	if c := a.catalogue.Load(); c != nil {
		c.forget(nodes)
	}
}

// current returns the catalogue of the slices.
func (a *Structured) current(slices *extpoints.DeviceSlices) *catalogue {
	if c := a.catalogue.Load(); c != nil && c.of == slices {
		return c
	}
	a.making.Lock()
	defer a.making.Unlock()
	old := a.catalogue.Load()
	if old != nil && old.of == slices {
		return old
	}
	c := newCatalogue(slices, old)
	a.catalogue.Store(c)
	return c
}

var (
	_ Forgetter = (*Structured)(nil)
	_ Search    = (*search)(nil)
)
