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
	// stockOf numbers the stocks, and published has what devices draw by name, of the pool
	// and elsewhere; empty where there are no stocks.
	stockOf   map[stockKey]int
	published map[string][]draw
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
	b := &poolBuilder{pool: &pool{id: p.id, stockOf: map[stockKey]int{}}}
	if !b.build(near, far) {
		return &pool{id: p.id, invalid: true}
	}
	b.publish()
	return b.pool
}

type stockKey struct{ set, counter string }

// poolBuilder puts a pool together; it stops where slices contradict each other.
type poolBuilder struct {
	*pool
	sets []string
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
			b.stockOf[stockKey{set.Name, name}] = len(b.stocks)
			b.stocks = append(b.stocks, amount)
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
			i, found := b.stockOf[stockKey{use.Set, name}]
			if !found {
				return false
			}
			of = append(of, draw{i, amount})
		}
	}
	*devices, *draws = append(*devices, d), append(*draws, of)
	return true
}

// publish fills published. Of a name that is there twice, here and elsewhere, all counts.
func (b *poolBuilder) publish() {
	if len(b.stocks) == 0 {
		return
	}
	b.published = make(map[string][]draw, len(b.devices)+len(b.elsewhere))
	for i, d := range b.devices {
		b.published[d.Name] = b.draws[i]
	}
	for i, d := range b.elsewhere {
		b.published[d.Name] = slices.Concat(b.published[d.Name], b.elsewhereDraws[i])
	}
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
	// left is what is left of the counters. shut: of one of them less than
	// nothing, or it is not known how much, and no device that draws on counters
	// is given.
	left []int64
	shut bool
	// more is what devices that are given in parts draw now beyond what was drawn
	// for these parts; nil where none does.
	more [][]draw
}

// in returns the state of the pool with the use.
func (p *pool) in(use *extpoints.PoolUse, compat extpoints.Compat) *poolState {
	if state := p.state.Load(); state != nil && state.use == use {
		return state
	}
	state := p.work(use, compat)
	p.state.Store(state)
	return state
}

// work works the state out.
func (p *pool) work(use *extpoints.PoolUse, compat extpoints.Compat) *poolState {
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
		if compat == extpoints.Improved && s.parts[i] && !d.Shared {
			s.whole[i] = true // parts are given of what is a whole now
		}
	}
	if len(p.stocks) == 0 {
		return s
	}
	drawn := make([]int64, len(p.stocks))
	for name := range given {
		if compat == extpoints.KubeScheduler137 {
			for _, d := range p.published[name] {
				s.spend(d.stock, d.amount)
			}
			continue
		}
		clear(drawn)
		if !p.drawnBy(drawn, use.Given(name), name) {
			s.shut = true
		}
		for stock, amount := range drawn {
			s.spend(stock, amount)
		}
		if given[name].Shares > 0 {
			s.note(p, name, drawn)
		}
	}
	s.shut = s.shut || slices.ContainsFunc(s.left, func(left int64) bool { return left < 0 })
	return s
}

// drawnBy finds out what the device draws: of each counter the most that it drew when one of
// the parts was given, since all parts draw together. Where that is not known it is what the
// slices say of the device; ok is false where they do not say it any more.
func (p *pool) drawnBy(drawn []int64, given []*model.AllocatedDevice, name string) (ok bool) {
	known := true
	for _, g := range given {
		if g.Drawn == nil {
			known = false
			continue
		}
		for _, use := range g.Drawn.Counters {
			for counter, amount := range use.Counters {
				if i, found := p.stockOf[stockKey{use.Set, counter}]; found {
					drawn[i] = max(drawn[i], amount)
				}
			}
		}
	}
	if known {
		return true
	}
	draws, published := p.published[name]
	most(drawn, draws)
	return published
}

// most raises what is drawn to the amounts.
func most(drawn []int64, draws []draw) {
	for _, d := range draws {
		drawn[d.stock] = max(drawn[d.stock], d.amount)
	}
}

// note notes what the device, of which parts are given, draws beyond what was drawn.
func (s *poolState) note(p *pool, name string, drawn []int64) {
	at := slices.IndexFunc(p.devices, func(d *device) bool { return d.Name == name })
	if at < 0 {
		return
	}
	for _, d := range p.draws[at] {
		if more := d.amount - drawn[d.stock]; more > 0 {
			if s.more == nil {
				s.more = make([][]draw, len(p.devices))
			}
			s.more[at] = append(s.more[at], draw{d.stock, more})
		}
	}
}

// spend takes the amount off what is left. Once that is less than nothing it stays as it
// is: how much less does not matter, and the sum might pass the smallest amount.
func (s *poolState) spend(stock int, amount int64) {
	if s.left[stock] >= 0 {
		s.left[stock] -= amount
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
