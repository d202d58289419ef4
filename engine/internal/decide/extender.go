package decide

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/berth-project/berth/engine/internal/framework"
	"github.com/berth-project/berth/extpoints"
)

// extend asks the extenders that filter about the feasible nodes, one after
// another. (kube-scheduler schedule_one.go findNodesThatPassExtenders, 1.37.1.)
func (c *Cycle) extend(nodes extpoints.Nodes) *extpoints.Status {
	for _, x := range c.Framework.Extenders() {
		if len(c.feasible) == 0 {
			break
		}
		if x.Filter == nil {
			continue
		}
		err := c.extendBy(x, nodes)
		switch {
		case err == nil:
		case x.Ignorable:
			c.tell.Failed(c, err)
		default:
			return extpoints.AsStatus(err)
		}
	}
	return nil
}

// extendBy asks one of them.
func (c *Cycle) extendBy(x *framework.Extender, nodes extpoints.Nodes) error {
	interested, err := x.Wants(c.Info.Workload)
	if err != nil || !interested {
		return err
	}
	a := c.d.Answers.ask(c.Info, question{x, verbFilter, func(a *Answer) (err error) {
		a.Filter, err = x.Filter(c.State.Context(), c.Info, slices.Clone(c.feasible))
		return err
	}})[0]
	if a.err != nil {
		return a.err
	}
	return x.Failed(verbFilter, c.Info.Workload, c.narrow(x, a.Filter, nodes))
}

// narrow goes on with the nodes that the extender has left, in its order.
func (c *Cycle) narrow(x *framework.Extender, r *extpoints.ExtenderFilterResult, nodes extpoints.Nodes) error {
	if r == nil {
		return errors.New("there is no answer")
	}
	left := make(map[string]int, len(c.feasible)) // what it has not let pass, by index
	for i, node := range c.feasible {
		left[node.Node.Name] = i
	}
	passed := make([]int, 0, len(r.Nodes))
	for _, name := range r.Nodes {
		i, ok := left[name]
		switch {
		case !ok:
			return fmt.Errorf("the answer claims a filtered node %q which is not found in the input node list", name)
		case i >= 0:
			passed, left[name] = append(passed, i), -1
		}
	}
	unknown := c.rejectNamed(nodes, extpoints.UnschedulableAndUnresolvable, r.Unresolvable, nil)
	unknown = append(unknown, c.rejectNamed(nodes, extpoints.Unschedulable, r.Failed, r.Unresolvable)...)
	if len(unknown) > 0 {
		c.tell.Failed(c, x.Failed(verbFilter, c.Info.Workload, fmt.Errorf("the answer speaks of nodes that there are not: %q", unknown)))
	}
	for name, i := range left {
		if i >= 0 && !has(r.Failed, name) && !has(r.Unresolvable, name) {
			if c.silent == nil {
				c.silent = map[string]string{}
			}
			c.silent[name] = x.Name
		}
	}
	c.keep(passed, r.Bare)
	return nil
}

// rejectNamed records why nodes will not do, those in except apart. As in the
// reference a node counts that was not asked about; what is no node is returned.
func (c *Cycle) rejectNamed(nodes extpoints.Nodes, code extpoints.Code, reasons, except map[string]string) (unknown []string) {
	for _, name := range slices.Sorted(maps.Keys(reasons)) {
		if has(except, name) {
			continue
		}
		node := nodes.Get(name)
		if node == nil {
			unknown = append(unknown, name)
			continue
		}
		st := extpoints.NewStatus(code, reasons[name]).WithPlugin(extpoints.ExtenderPlugin)
		c.reject(node, framework.Verdict{Status: st})
	}
	return unknown
}

func has(m map[string]string, key string) bool {
	_, ok := m[key]
	return ok
}

// keep makes the feasible nodes those of the indexes, in that order.
func (c *Cycle) keep(indexes []int, bare bool) {
	s := &c.d.scratch
	nodes := make([]*extpoints.NodeInfo, len(indexes))
	positions := make([]int32, len(indexes))
	for to, from := range indexes {
		nodes[to], positions[to] = s.feasible[from], s.positions[from]
		if bare {
			nodes[to] = extpoints.NewNodeInfo(s.feasible[from].Node)
			nodes[to].Slot = s.feasible[from].Slot
		}
	}
	s.feasible = append(s.feasible[:0], nodes...)
	s.positions = append(s.positions[:0], positions...)
	c.feasible = s.feasible
}

// prioritize adds the points of the extenders to the totals. One that fails
// gives none. (kube-scheduler schedule_one.go prioritizeNodes, 1.37.1.)
func (c *Cycle) prioritize(totals []int64) {
	var questions []question
	var asked []int // by question: the index in c.points
	for _, x := range c.Framework.Extenders() {
		if x.Prioritize == nil {
			continue
		}
		interested, err := x.Wants(c.Info.Workload)
		switch {
		case err != nil:
			c.tell.Failed(c, err)
		case interested:
			nodes := slices.Clone(c.feasible)
			questions = append(questions, question{x, verbPrioritize, func(a *Answer) (err error) {
				a.Points, err = x.Prioritize(c.State.Context(), c.Info, nodes)
				return err
			}})
			asked = append(asked, len(c.points))
		}
		c.points = append(c.points, ExtenderPoints{extender: x})
	}
	if len(questions) == 0 {
		return
	}
	for i, a := range c.d.Answers.ask(c.Info, questions...) {
		if a.err != nil {
			c.tell.Failed(c, a.err)
			continue
		}
		given := &c.points[asked[i]]
		given.answered, given.points = true, a.Points
		if c.scored == nil {
			c.scored = make([]bool, len(c.feasible))
		}
		for n, node := range c.feasible {
			totals[n] = plus(totals[n], given.of(node.Node.Name))
			if _, scored := a.Points[node.Node.Name]; scored {
				c.scored[n] = true
			}
		}
	}
}

// of is what the extender's points add to the total of the node.
func (p *ExtenderPoints) of(node string) int64 {
	return times(p.normalized(node), p.extender.Weight)
}

// normalized is the extender's points for the node on the scale of plugins.
func (p *ExtenderPoints) normalized(node string) int64 {
	return times(p.points[node], extpoints.MaxScore/extpoints.MaxExtenderPriority)
}

// Score is what the extender gave the node: its own points, those on the scale of
// plugins, and their part of the total; false where it gave none.
func (p *ExtenderPoints) Score(node string) (raw, normalized, weighted int64, answered bool) {
	if !p.answered {
		return 0, 0, 0, false
	}
	return p.points[node], p.normalized(node), p.of(node), true
}

// times multiplies with a positive factor. Nobody checks the points of
// extenders: absurd ones stay absurd, they do not change their sign.
func times(points, factor int64) int64 {
	product := points * factor
	switch {
	case product/factor == points:
		return product
	case points < 0:
		return math.MinInt64
	}
	return math.MaxInt64
}

// plus adds, and stops at the limits of int64.
func plus(a, b int64) int64 {
	sum := a + b
	switch {
	case a > 0 && b > 0 && sum < 0:
		return math.MaxInt64
	case a < 0 && b < 0 && sum >= 0:
		return math.MinInt64
	}
	return sum
}
