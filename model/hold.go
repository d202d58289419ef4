package model

import (
	"fmt"
	"slices"
	"time"
)

// Hold sets nodes, or an amount of what each of them has, aside for an interval: for those who may
// use them then (an advance reservation), or for nobody (maintenance). It keeps workloads from being
// placed where they would run into it; what is on a node already stays.
//
// A hold is one interval. Those of a calendar, such as every Sunday from 2 to 4 o'clock,
// are turned into one hold each before they are given to an engine, as far ahead as limits
// reach: time zones, and hours that there are twice or never, are not its business. Holds may
// overlap. Each goes by itself, so that where two are on a node both must let a workload in.
type Hold struct {
	Name string // identity, unique among holds
	// From and Until are the interval: From is in it, Until is not. With the zero From it
	// has always been there, with the zero Until it never ends. An interval in the past is allowed, and does nothing.
	From  time.Time `json:",omitzero"`
	Until time.Time `json:",omitzero"` // see From
	// Nodes are the names of nodes, NodeTerms select more of them; at least one of the two
	// is given. There need not be such nodes.
	Nodes     []string
	NodeTerms *NodeTerms // see Nodes; nil selects none
	// Amounts is how much of each of the nodes is set aside. Others may use the rest of the node, as far
	// as they leave so much to those who may use it, who may use the rest, too. A resource of which
	// it has nothing is not set aside. Zero: all of the node, with no place for others on it.
	Amounts Resources `json:",omitzero"`
	// Users says which workloads may use the nodes, by their labels. Nil: none, which is
	// maintenance.
	Users *Selector
	// Flex: those may start there before the hold begins, and run on when it has ended.
	// Otherwise they must lie wholly inside, or wholly outside.
	Flex bool
}

func (*Hold) sealed() {}

// clone returns a deep copy, nil of nil.
func (h *Hold) clone() *Hold {
	return clonePointer(h, func(h *Hold) {
		h.Nodes = slices.Clone(h.Nodes)
		h.NodeTerms = h.NodeTerms.clone()
		h.Amounts = h.Amounts.Clone()
		h.Users = h.Users.clone()
	})
}

// Covers reports whether the node is one of those that are set aside.
func (h *Hold) Covers(n *Node) bool {
	return slices.Contains(h.Nodes, n.Name) || h.NodeTerms != nil && h.NodeTerms.Matches(n)
}

// Validate returns all that is wrong with the hold as a [*ValidationError], nil where it
// is valid.
func (h *Hold) Validate() error {
	var c checker
	c.notEmpty("name", h.Name)
	c.time("from", h.From)
	c.time("until", h.Until)
	if !h.Until.IsZero() && !h.Until.After(h.From) {
		c.report("until", fmt.Sprintf("%s is not after from, %s", h.Until.Format(time.RFC3339Nano), h.From.Format(time.RFC3339Nano)))
	}
	if len(h.Nodes) == 0 && h.NodeTerms == nil {
		c.report("nodes", "must not be empty where there are no node terms")
	}
	for i, name := range h.Nodes {
		c.item("nodes", i)
		c.notEmpty("", name)
		c.leave()
	}
	c.nodeTerms("nodeTerms", h.NodeTerms)
	c.resources("amounts", &h.Amounts)
	c.selector("users", h.Users)
	return invalid("hold", h.Name, c.problems)
}
