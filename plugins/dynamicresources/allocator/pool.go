package allocator

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// poolSlices are all slices of a pool, by ID, also those of old generations.
type poolSlices struct {
	id  model.PoolID
	all []*slice

	mu sync.Mutex
	// seen has the pool as nodes see it, by which of the slices are relevant
	// for them: one byte a slice.
	seen map[string]*pool
}

// pool is a pool as seen by the nodes for which the same slices are relevant.
type pool struct {
	id model.PoolID
	// incomplete: slices are missing; invalid: they contradict each other.
	// Nothing is given of either.
	incomplete, invalid bool
	conditions          bool // some device has binding conditions
	perDevice           bool // some slice has PerDevice
	devices             []*device
	// stocks are the counters that devices draw on, and draws says how much
	// each device takes of them; nil where there are none.
	stocks []int64
	draws  [][]draw
	// elsewhere are devices that the nodes do not reach but which draw on the
	// same counters.
	elsewhere      []*device
	elsewhereDraws [][]draw

	columns columns
	// state is the last one asked for.
	state atomic.Pointer[poolState]
}

// draw is an amount taken of a stock, by its index.
type draw struct {
	stock  int
	amount int64
}

// nodePool is a pool as one node sees it.
type nodePool struct {
	*pool
	// here says which devices can be used from the node; nil: all.
	here []bool
	base int // number of devices in the pools before it
}

// on returns the pool as the node sees it; ok is false where it sees nothing of
// it that counts.
func (p *poolSlices) on(node *model.Node) (seen nodePool, ok bool) {
	relevant := p.relevant(node)
	if relevant == nil {
		return seen, false
	}
	if seen.pool = p.seenBy(relevant); seen.pool == nil {
		return seen, false
	}
	if seen.perDevice {
		seen.here = make([]bool, len(seen.devices))
		for i, d := range seen.devices {
			seen.here[i] = !d.slice.PerDevice || d.here(node)
		}
	}
	return seen, true
}

// relevant says with one byte a slice, 1 or 0, which of the slices of the newest
// generation that the node sees are relevant for it; nil: none is.
func (p *poolSlices) relevant(node *model.Node) []byte {
	var bits []byte
	var generation int64
	for i, s := range p.all {
		if !s.relevant(node) || bits != nil && s.Generation < generation {
			continue
		}
		if bits == nil || s.Generation > generation {
			bits, generation = make([]byte, len(p.all)), s.Generation
		}
		bits[i] = 1
	}
	return bits
}

// seenBy returns the pool for nodes for which these slices are relevant, nil
// where they are outdated.
func (p *poolSlices) seenBy(relevant []byte) *pool {
	p.mu.Lock()
	defer p.mu.Unlock()
	seen, known := p.seen[string(relevant)]
	if !known {
		seen = p.build(relevant)
		if p.seen == nil {
			p.seen = map[string]*pool{}
		}
		p.seen[string(relevant)] = seen
	}
	return seen
}

// forget drops how nodes have seen the pool that do not see it like that any more, where
// these are more ways than there are nodes.
func (p *poolSlices) forget(nodes int, used map[*pool]bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.seen) <= nodes {
		return
	}
	for key, seen := range p.seen {
		if !used[seen] {
			delete(p.seen, key)
		}
	}
}

// build is seenBy without the memory. A node that does not see all slices of the
// pool needs the others all the same, to know whether the pool is complete and
// what of the counters is in use; and where one of the others is newer than what
// the node sees, the pool is about to change and left alone.
func (p *poolSlices) build(relevant []byte) *pool {
	first := p.all[slices.Index(relevant, 1)]
	var near, far []*slice
	newer := false
	for i, s := range p.all {
		switch {
		case relevant[i] == 1:
			near = append(near, s)
		case s.Generation == first.Generation:
			far = append(far, s)
		case s.Generation > first.Generation:
			newer = true
		}
	}
	if int64(len(near)) == first.SliceCount {
		far = nil
	} else if newer {
		return nil
	} else if int64(len(near)+len(far)) != first.SliceCount {
		return &pool{id: p.id, incomplete: true}
	}
	b := &poolBuilder{pool: &pool{id: p.id}, stocks: map[stockKey]int{}}
	if !b.build(near, far) {
		return &pool{id: p.id, invalid: true}
	}
	return b.pool
}

type stockKey struct{ set, counter string }

// poolBuilder puts a pool together; it stops where slices contradict each other.
type poolBuilder struct {
	*pool
	sets   []string
	stocks map[stockKey]int
}

// build reports whether the pool is valid. A slice with counters has nothing but
// these. (pools_incubating.go buildPool.)
func (b *poolBuilder) build(near, far []*slice) bool {
	for _, list := range [][]*slice{near, far} {
		for _, s := range list {
			if !b.stock(s) {
				return false
			}
		}
	}
	names := map[string]bool{}
	for _, s := range near {
		if len(s.Counters) > 0 {
			continue
		}
		for _, d := range s.devices {
			if names[d.Name] || !b.add(&b.devices, &b.draws, d) {
				return false
			}
			names[d.Name] = true
			b.conditions = b.conditions || len(d.BindingConditions) > 0
		}
		b.perDevice = b.perDevice || s.PerDevice
	}
	for _, s := range far {
		if len(s.Counters) > 0 {
			continue
		}
		for _, d := range s.devices {
			if !b.add(&b.elsewhere, &b.elsewhereDraws, d) {
				return false
			}
		}
	}
	return true
}

// stock adds the counters of the slice; a set may be there only once.
func (b *poolBuilder) stock(s *slice) bool {
	for _, set := range s.Counters {
		if slices.Contains(b.sets, set.Name) {
			return false
		}
		b.sets = append(b.sets, set.Name)
		for name, amount := range set.Counters {
			b.stocks[stockKey{set.Name, name}] = len(b.pool.stocks)
			b.pool.stocks = append(b.pool.stocks, amount)
		}
	}
	return true
}

// add adds a device; it may draw only on counters that there are.
func (b *poolBuilder) add(devices *[]*device, draws *[][]draw, d *device) bool {
	var of []draw
	for _, use := range d.Consumes {
		if !slices.Contains(b.sets, use.Set) {
			return false
		}
		for name, amount := range use.Counters {
			i, found := b.stocks[stockKey{use.Set, name}]
			if !found {
				return false
			}
			of = append(of, draw{i, amount})
		}
	}
	*devices, *draws = append(*devices, d), append(*draws, of)
	return true
}

// poolState is what of a pool is in use.
type poolState struct {
	use *extpoints.PoolUse
	// whole and parts say which devices are given away as a whole, and which
	// in parts.
	whole, parts []bool
	// consumed is what the parts of each device take of its capacities, in
	// their order; nil where there are no parts.
	consumed [][]int64
	// left is what is left of the counters. overdrawn: of one of them less
	// than nothing, and no device that draws on counters is given.
	left      []int64
	overdrawn bool
}

// in returns the state of the pool with the use.
func (p *pool) in(use *extpoints.PoolUse) *poolState {
	if state := p.state.Load(); state != nil && state.use == use {
		return state
	}
	state := p.work(use)
	p.state.Store(state)
	return state
}

// work works the state out.
func (p *pool) work(use *extpoints.PoolUse) *poolState {
	s := &poolState{use: use, whole: make([]bool, len(p.devices)), parts: make([]bool, len(p.devices))}
	s.left = slices.Clone(p.stocks)
	var given map[string]extpoints.DeviceUse
	if use != nil {
		given = use.Devices
	}
	for i, d := range p.devices {
		u, found := given[d.Name]
		if !found {
			continue
		}
		s.whole[i], s.parts[i] = u.Whole > 0, u.Shares > 0
		if u.Shares > 0 {
			if s.consumed == nil {
				s.consumed = make([][]int64, len(p.devices))
			}
			s.consumed[i] = d.amounts(u.Consumed)
		}
		s.spend(p.draws[i])
	}
	for i, d := range p.elsewhere {
		if _, found := given[d.Name]; found {
			s.spend(p.elsewhereDraws[i])
		}
	}
	s.overdrawn = slices.ContainsFunc(s.left, func(left int64) bool { return left < 0 })
	return s
}

// spend takes the amounts off what is left. Once that is less than nothing it stays as it
// is: how much less does not matter, and the sum might pass the smallest amount.
func (s *poolState) spend(draws []draw) {
	for _, d := range draws {
		if s.left[d.stock] >= 0 {
			s.left[d.stock] -= d.amount
		}
	}
}

// maxColumns is how many attributes of a pool are kept in columns.
const maxColumns = 32

// columns has attributes of all devices of a pool: the values in the order of
// the devices, nil for a device without.
type columns struct {
	mu   sync.Mutex
	made atomic.Pointer[[]column]
}

type column struct {
	attribute string
	values    []*model.AttributeValue
}

// column returns the attribute of each device of the pool.
func (p *pool) column(attribute string) []*model.AttributeValue {
	if made := p.columns.made.Load(); made != nil {
		for i := range *made {
			if (*made)[i].attribute == attribute {
				return (*made)[i].values
			}
		}
	}
	c := column{attribute, make([]*model.AttributeValue, len(p.devices))}
	for i, d := range p.devices {
		if v, found := d.Attribute(d.id.Driver, attribute); found {
			c.values[i] = &v
		}
	}
	p.columns.mu.Lock()
	defer p.columns.mu.Unlock()
	var list []column
	if made := p.columns.made.Load(); made != nil {
		list = slices.Clone(*made)
	}
	if len(list) < maxColumns {
		list = append(list, c)
		p.columns.made.Store(&list)
	}
	return c.values
}
