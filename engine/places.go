package engine

import (
	"github.com/berth-project/berth/engine/internal/tasks"
)

// places are those of the tasks of one kind that are under way, bindings or what leaves. A node
// has a share of them, and so has a zone, so that nodes that do not answer cannot take all.
type places struct {
	cfg     *Config
	taken   map[*tasks.Task]place
	all     int
	byNode  map[string]int
	byZone  map[string]int
	overdue int // of those taken that were given to others
}

// place is one of them: on which node and in which zone, empty for none.
type place struct {
	node, zone string
	overdue    bool
}

func newPlaces(cfg *Config) places {
	return places{cfg: cfg, taken: map[*tasks.Task]place{}, byNode: map[string]int{}, byZone: map[string]int{}}
}

// free reports whether there is any place.
func (p *places) free() bool { return p.all < p.cfg.MaxBindings }

// may reports whether the shares of the node, and of its zone, have one left.
func (p *places) may(r *Raw, node string) bool {
	zone := zoneOf(r, node)
	return (node == "" || p.byNode[node] < p.cfg.MaxBindingsPerNode) && (zone == "" || p.byZone[zone] < p.cfg.perZone())
}

// perZone is how many places a zone may have: half, and no less than a node.
func (c *Config) perZone() int { return max(c.MaxBindings/2, c.MaxBindingsPerNode) }

// zoneOf is the zone of the node, empty where there is no other zone.
func zoneOf(r *Raw, node string) string {
	n := r.rec.View.Nodes().Get(node)
	if n == nil || r.rec.View.Zones() < 2 {
		return ""
	}
	return n.Node.Zone
}

// take takes a place.
func (p *places) take(r *Raw, t *tasks.Task) {
	at := place{node: t.Node()}
	at.zone = zoneOf(r, at.node)
	p.taken[t] = at
	p.all++
	count(p.byNode, at.node, +1)
	count(p.byZone, at.zone, +1)
}

// giveBack gives the place of a task back, if it has one.
func (p *places) giveBack(t *tasks.Task) {
	at, has := p.taken[t]
	if !has {
		return
	}
	delete(p.taken, t)
	count(p.byNode, at.node, -1)
	if at.overdue {
		p.overdue--
		return
	}
	p.all--
	count(p.byZone, at.zone, -1)
}

// giveAway lets others have the place of a task that does not heed that its time is over. Its
// node has one less, so that no more go there than did at once; and there are as many of them as
// there are places at most: each has a goroutine.
func (p *places) giveAway(t *tasks.Task) bool {
	at, has := p.taken[t]
	if !has || at.overdue || p.overdue >= p.cfg.MaxBindings {
		return false
	}
	at.overdue = true
	p.taken[t] = at
	p.overdue++
	p.all--
	count(p.byZone, at.zone, -1)
	return true
}

// count adds n under the key, empty for none.
func count(m map[string]int, key string, n int) {
	if key == "" {
		return
	}
	if m[key] += n; m[key] == 0 {
		delete(m, key)
	}
}
