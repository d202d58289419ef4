package allocator

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// catalogue is what is known of the device slices of a cluster: which pools
// there are for each node. What it says about nodes is found out when it is
// asked for.
type catalogue struct {
	of     *extpoints.DeviceSlices
	slices map[*model.DeviceSlice]*slice
	pools  map[model.PoolID]*poolSlices
	// local has the pools with slices for one node, by node, and wide those
	// with slices for several. A pool may be in both.
	local map[string][]*poolSlices
	wide  []*poolSlices

	mu    sync.RWMutex
	nodes map[string]*nodePools
	// gathered counts what was remembered since forget was last at work: nodes, of each
	// of which pools may remember something too.
	gathered int
}

// nodePools are the pools of a node, in the order in which they are searched.
type nodePools struct {
	node  *model.Node // for which they were found; labels change
	pools []nodePool
	// size is the number of devices in all pools.
	size int
}

// newCatalogue makes a catalogue; what has not changed since the old one, which
// may be nil, is taken over from there.
func newCatalogue(of *extpoints.DeviceSlices, old *catalogue) *catalogue {
	c := &catalogue{
		of:     of,
		slices: make(map[*model.DeviceSlice]*slice, len(of.List)),
		pools:  map[model.PoolID]*poolSlices{},
		local:  map[string][]*poolSlices{},
		nodes:  map[string]*nodePools{},
	}
	if old != nil {
		old.mu.RLock()
		c.gathered = old.gathered
		old.mu.RUnlock()
	}
	for _, m := range of.List {
		s := old.slice(m)
		c.slices[m] = s
		p := c.pools[s.pool]
		if p == nil {
			p = &poolSlices{id: s.pool}
			c.pools[s.pool] = p
		}
		p.all = append(p.all, s)
	}
	for id, p := range c.pools {
		if old != nil && old.pools[id] != nil && slices.Equal(old.pools[id].all, p.all) {
			p = old.pools[id]
			c.pools[id] = p
		}
		c.file(p)
	}
	return c
}

// slice returns what is known of the slice.
func (c *catalogue) slice(m *model.DeviceSlice) *slice {
	if c != nil {
		if s := c.slices[m]; s != nil {
			return s
		}
	}
	return newSlice(m)
}

// file puts the pool where nodes find it.
func (c *catalogue) file(p *poolSlices) {
	wide := false
	for _, s := range p.all {
		if s.Node == "" {
			wide = true
		} else if list := c.local[s.Node]; len(list) == 0 || list[len(list)-1] != p {
			c.local[s.Node] = append(list, p)
		}
	}
	if wide {
		c.wide = append(c.wide, p)
	}
}

// on returns the pools of the node.
func (c *catalogue) on(node *model.Node) *nodePools {
	c.mu.RLock()
	found := c.nodes[node.Name]
	c.mu.RUnlock()
	if found == nil || found.node != node {
		found = c.gather(node)
		c.mu.Lock()
		c.nodes[node.Name] = found
		c.gathered++
		c.mu.Unlock()
	}
	return found
}

// forget drops what is remembered of nodes that are not there any more, or not as they
// were. It is at work only where more was remembered since than there are nodes, or much
// more than there are: that bounds what is remembered, and costs little in the long run.
func (c *catalogue) forget(nodes extpoints.Nodes) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.gathered <= nodes.Len() && len(c.nodes) <= 2*nodes.Len() {
		return
	}
	c.gathered = 0
	used := map[*pool]bool{}
	for name, n := range c.nodes {
		if there := nodes.Get(name); there == nil || there.Node != n.node {
			delete(c.nodes, name)
			continue
		}
		for i := range n.pools {
			used[n.pools[i].pool] = true
		}
	}
	for _, p := range c.pools {
		p.forget(nodes.Len(), used)
	}
}

// gather finds the pools of the node. (pools_incubating.go GatherPools.)
func (c *catalogue) gather(node *model.Node) *nodePools {
	n := &nodePools{node: node}
	add := func(p *poolSlices) {
		if pool, ok := p.on(node); ok {
			n.pools = append(n.pools, pool)
		}
	}
	local := c.local[node.Name]
	for _, p := range local {
		add(p)
	}
	for _, p := range c.wide {
		if !slices.Contains(local, p) {
			add(p)
		}
	}
	slices.SortFunc(n.pools, func(a, b nodePool) int {
		if a.conditions != b.conditions {
			if b.conditions {
				return -1
			}
			return 1
		}
		return cmp.Or(strings.Compare(a.id.Driver, b.id.Driver), strings.Compare(a.id.Pool, b.id.Pool))
	})
	for i := range n.pools {
		n.pools[i].base = n.size
		n.size += len(n.pools[i].devices)
	}
	return n
}
