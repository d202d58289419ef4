package model

import (
	"slices"
	"time"
)

// AppGraph is an application whose components talk to each other: which talks to which, and
// how far apart they may be. Nothing in the engine looks at it, only plugins do.
type AppGraph struct {
	ID string // identity
	// Components are in the order in which they are to be started.
	Components []AppComponent
	CreatedAt  time.Time // by its orchestrator's clock
}

// AppComponent is a part of an application; any number of workloads may be of it.
type AppComponent struct {
	Name  string    // unique in the graph
	Needs []AppNeed // whom it talks to, each once
}

// AppNeed is that a component talks to another.
type AppNeed struct {
	Component string // which may be missing from the graph
	// MaxCost is the cost up to which two places are close enough, see [NetworkCosts].
	MaxCost int64
}

// NetworkCosts are costs of the network between places. Nothing in the engine looks at them,
// only plugins do.
type NetworkCosts struct {
	Name string // identity
	// Levels are kinds of places, each within one of the kind before it: regions and then
	// zones, for example. Costs of the first in which two nodes differ count. At most 4.
	Levels []CostLevel
}

// CostLevel is what it costs to go from one place to another of a kind.
type CostLevel struct {
	// Key is that of a node label, ByNode or ByZone; see [Node].TopologyValue.
	Key   string
	Costs []NetworkCost // each way once; what is not there is not known
}

// NetworkCost is what it costs to go from one place to another.
type NetworkCost struct {
	From, To string // values of the level's key
	Cost     int64  // 0 to 1000000, in the unit that MaxCost means
}

const (
	maxCostLevels  = 4
	maxNetworkCost = 1_000_000
)

func (*AppGraph) sealed()     {}
func (*NetworkCosts) sealed() {}

// clone returns a deep copy, nil of nil.
func (g *AppGraph) clone() *AppGraph {
	return clonePointer(g, func(g *AppGraph) {
		g.Components = cloneEach(g.Components, func(c *AppComponent) { c.Needs = slices.Clone(c.Needs) })
	})
}

// clone returns a deep copy, nil of nil.
func (n *NetworkCosts) clone() *NetworkCosts {
	return clonePointer(n, func(n *NetworkCosts) {
		n.Levels = cloneEach(n.Levels, func(l *CostLevel) { l.Costs = slices.Clone(l.Costs) })
	})
}

// Validate returns all that is wrong with the graph as a [*ValidationError], nil where it
// is valid.
func (g *AppGraph) Validate() error {
	var c checker
	c.notEmpty("id", g.ID)
	var names unique[string]
	for i := range g.Components {
		c.item("components", i)
		c.notEmpty("name", g.Components[i].Name)
		names.check(&c, "name", g.Components[i].Name)
		var needed unique[string]
		needs := g.Components[i].Needs
		for j := range needs {
			c.item("needs", j)
			c.notEmpty("component", needs[j].Component)
			c.between("maxCost", needs[j].MaxCost, 0, maxNetworkCost)
			needed.check(&c, "component", needs[j].Component)
			c.leave()
		}
		c.leave()
	}
	c.time("createdAt", g.CreatedAt)
	return invalid("application graph", g.ID, c.problems)
}

// Validate returns all that is wrong with the costs as a [*ValidationError], nil where they
// are valid.
func (n *NetworkCosts) Validate() error {
	var c checker
	c.notEmpty("name", n.Name)
	c.between("levels", int64(len(n.Levels)), 0, maxCostLevels)
	var keys unique[string]
	for i := range n.Levels {
		c.item("levels", i)
		c.notEmpty("key", n.Levels[i].Key)
		keys.check(&c, "key", n.Levels[i].Key)
		c.networkCosts(n.Levels[i].Costs)
		c.leave()
	}
	return invalid("network costs", n.Name, c.problems)
}

// way is from one place to another.
type way struct{ from, to string }

// networkCosts checks the costs of a level.
func (c *checker) networkCosts(list []NetworkCost) {
	var ways unique[way]
	for i := range list {
		cost := &list[i]
		c.item("costs", i)
		c.text("from", cost.From)
		c.text("to", cost.To)
		c.between("cost", cost.Cost, 0, maxNetworkCost)
		if cost.From == cost.To {
			c.report("to", "is the place that it comes from")
		}
		ways.check(c, "from and to", way{cost.From, cost.To})
		c.leave()
	}
}
