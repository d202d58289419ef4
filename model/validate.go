package model

import "fmt"

// The values that the enumerated fields may have, in the order in which
// messages list them.
var (
	taintEffects       = []TaintEffect{NoSchedule, PreferNoSchedule, NoExecute}
	preemptionPolicies = []PreemptionPolicy{PreemptLower, PreemptNever}
	groupPolicies      = []GroupPolicy{Basic, Gang}
	disruptionModes    = []DisruptionMode{DisruptSingle, DisruptAll}
)

// Validate returns all that is wrong with the node as a [*ValidationError], nil
// where it is valid.
func (n *Node) Validate() error {
	var c checker
	c.notEmpty("name", n.Name)
	c.labels("labels", n.Labels)
	c.text("zone", n.Zone)
	c.resources("allocatable", &n.Allocatable)
	c.resources("capacity", &n.Capacity)
	c.atLeast("maxWorkloads", n.MaxWorkloads, NoWorkloads)
	var taints unique[taintKey]
	for i := range n.Taints {
		c.item("taints", i)
		c.notEmpty("key", n.Taints[i].Key)
		c.text("value", n.Taints[i].Value)
		oneOf(&c, "effect", n.Taints[i].Effect, taintEffects)
		taints.check(&c, "key and effect", taintKey{n.Taints[i].Key, n.Taints[i].Effect})
		c.leave()
	}
	for i := range n.Images {
		c.item("images", i)
		c.names("names", n.Images[i].Names)
		c.atLeast("size", n.Images[i].Size, 0)
		c.leave()
	}
	for i := range n.Devices {
		c.item("devices", i)
		c.notEmpty("class", n.Devices[i].Class)
		c.text("model", n.Devices[i].Model)
		c.leave()
	}
	c.texts("features", n.Features)
	return invalid("node", n.Name, c.problems)
}

// taintKey is what a node has one taint of.
type taintKey struct {
	key    string
	effect TaintEffect
}

// Validate returns all that is wrong with the group as a [*ValidationError],
// nil where it is valid. Whether its parents form a circle is not seen here.
func (g *Group) Validate() error {
	var c checker
	c.notEmpty("id", g.ID)
	c.text("namespace", g.Namespace)
	c.text("name", g.Name)
	c.text("parent", g.Parent)
	if g.Parent != "" && g.Parent == g.ID {
		c.report("parent", "is the group itself")
	}
	oneOfOrEmpty(&c, "policy", g.Policy, groupPolicies)
	switch g.Policy {
	case Gang:
		c.atLeast("minCount", int64(g.MinCount), 1)
	case Basic, "":
		if g.MinCount != 0 {
			c.report("minCount", fmt.Sprintf("%d is not 0, and only a Gang has a smallest count", g.MinCount))
		} else if len(g.MinResources.Names()) > 0 {
			c.report("minResources", "are there, and only a Gang has any")
		}
		if g.PermitTimeout != 0 {
			c.report("permitTimeout", fmt.Sprintf("%v is not 0, and only members of a Gang wait for each other", g.PermitTimeout))
		}
	}
	c.resources("minResources", &g.MinResources)
	if g.Policy == Gang && g.PermitTimeout < 0 {
		c.report("permitTimeout", fmt.Sprintf("%v is less than 0", g.PermitTimeout))
	}
	c.text("topologyKey", g.TopologyKey)
	oneOfOrEmpty(&c, "preemption", g.Preemption, preemptionPolicies)
	oneOfOrEmpty(&c, "disruption", g.Disruption, disruptionModes)
	c.deviceClaimRefs("deviceClaims", g.DeviceClaims)
	c.time("createdAt", g.CreatedAt)
	return invalid("group", g.ID, c.problems)
}

// Validate returns all that is wrong with the budget as a [*ValidationError],
// nil where it is valid.
func (b *Budget) Validate() error {
	var c checker
	c.notEmpty("id", b.ID)
	c.text("namespace", b.Namespace)
	c.selector("selector", b.Selector)
	c.atLeast("allowed", int64(b.Allowed), 0)
	c.names("displaced", b.Displaced)
	return invalid("budget", b.ID, c.problems)
}

// Validate returns all that is wrong with the namespace as a
// [*ValidationError], nil where it is valid.
func (n *Namespace) Validate() error {
	var c checker
	c.notEmpty("name", n.Name)
	c.labels("labels", n.Labels)
	return invalid("namespace", n.Name, c.problems)
}
