package decide

import (
	"fmt"
	"slices"
	"strings"

	"github.com/berth-project/berth/engine/internal/framework"
	"github.com/berth-project/berth/engine/internal/parallel"
	"github.com/berth-project/berth/extpoints"
)

// Numbers of the search for nodes (kube-scheduler schedule_one.go, 1.37.1).
const (
	minFeasibleNodes      = 100 // at least so many are looked for
	minFeasiblePercentage = 5   // the adaptive share never falls below
)

// refer is the reference decider: it asks the plugins about every node that it visits.
func (c *Cycle) refer(nodes extpoints.Nodes) *extpoints.Status {
	st := c.filter(nodes)
	if c.d.Meter != nil {
		c.Framework.TellFilters(c.State)
	}
	if st != nil {
		return st
	}
	c.tellFiltered(c.evaluated, len(c.feasible))
	if len(c.feasible) == 0 {
		c.diagnose(nodes)
		return extpoints.NewStatus(extpoints.Unschedulable)
	}
	if st := c.score(); st != nil {
		return st
	}
	c.choose()
	return nil
}

// filter finds the feasible nodes: those that the filters leave, and of those
// the ones that the extenders leave.
func (c *Cycle) filter(nodes extpoints.Nodes) *extpoints.Status {
	if st := c.pre.Status; st != nil {
		if !st.IsRejected() {
			return st
		}
		c.evaluated = 0
		return nil // no node is feasible; diagnose says why
	}
	if c.filterNominated(nodes) {
		return nil
	}
	size, at := c.candidates(nodes)
	if st := c.search(nodes.Len(), size, at); st != nil {
		return st
	}
	found := len(c.feasible)
	st := c.extend(nodes)
	c.outvoted = len(c.feasible) != found
	return st
}

// candidates are the nodes that PreFilter left: how many there are, and each by its index.
func (c *Cycle) candidates(nodes extpoints.Nodes) (n int, at func(int) *extpoints.NodeInfo) {
	if c.pre.Nodes == nil {
		return nodes.Len(), nodes.At
	}
	subset := c.named(nodes)
	return len(subset), func(i int) *extpoints.NodeInfo { return subset[i] }
}

// named lists the nodes that PreFilter left, by name. (kube-scheduler visits
// them in the random order of a map.)
func (c *Cycle) named(nodes extpoints.Nodes) []*extpoints.NodeInfo {
	subset := make([]*extpoints.NodeInfo, 0, len(c.pre.Nodes))
	for name := range c.pre.Nodes {
		if node := nodes.Get(name); node != nil {
			subset = append(subset, node)
		}
	}
	slices.SortFunc(subset, func(a, b *extpoints.NodeInfo) int { return strings.Compare(a.Node.Name, b.Node.Name) })
	return subset
}

// filterNominated tries the node that the workload is nominated to, and asks the
// extenders about it. If it is feasible no other is looked at; if not, its
// rejection is kept and the search goes on, also after an error.
func (c *Cycle) filterNominated(nodes extpoints.Nodes) bool {
	if c.Info.Nominated == "" {
		return false
	}
	node := nodes.Get(c.Info.Nominated)
	if node == nil {
		return false
	}
	v := c.Framework.FilterWithNominated(c.State, c.Info, node)
	if tally := c.Framework.Tally(c.State); tally != nil {
		tally.Count(v)
	}
	if v.Status == nil {
		v = c.delaying(node)
	}
	st := v.Status
	switch {
	case st == nil:
		c.evaluated++
		c.accept(node, 0)
		if st = c.extend(nodes); st == nil && len(c.feasible) > 0 {
			return true
		}
		c.keep(nil, false)
	case st.IsRejected():
		c.evaluated++
		c.nominatedRejected = true
		c.reject(node, v)
	}
	c.early = len(c.d.scratch.rejected)
	if st.Code() == extpoints.Error {
		c.tell.Failed(c, fmt.Errorf("filtering the nominated node %q: %w", node.Node.Name, st.AsError()))
	}
	return false
}

// search looks at the n nodes from the start index on, around once, until it
// has found one feasible node more than it wants, and moves the start index
// behind the nodes that counted. Many workers look at nodes ahead of time, but
// the answers are taken in order, so the outcome is that of one.
func (c *Cycle) search(total, n int, at func(int) *extpoints.NodeInfo) *extpoints.Status {
	if n == 0 {
		c.advance(total)
		return nil
	}
	want := c.wanted(n)
	if !c.Framework.HasFilter() {
		for i := 0; i < n && len(c.feasible) < want; i++ {
			pos := (c.d.start + i) % n
			if v := c.delaying(at(pos)); v.Status != nil {
				c.reject(at(pos), v)
			} else {
				c.accept(at(pos), pos)
			}
		}
		c.advance(total)
		return nil
	}
	block := 1
	if c.d.Workers > 1 {
		block = 64 * c.d.Workers
	}
	verdicts := c.buffer(block)
	tally := c.Framework.Tally(c.State)
	var failure *extpoints.Status
scan:
	for from := 0; from < n; from += block {
		size := min(block, n-from)
		if size == 1 {
			verdicts[0] = c.Framework.FilterWithNominated(c.State, c.Info, at((c.d.start+from)%n))
		} else {
			parallel.For(c.d.Workers, size, func(i int) {
				verdicts[i] = c.Framework.FilterWithNominated(c.State, c.Info, at((c.d.start+from+i)%n))
			})
		}
		if tally != nil {
			tally.Count(verdicts[:size]...)
		}
		for i, v := range verdicts[:size] {
			pos := (c.d.start + from + i) % n
			if v.Status == nil && len(c.feasible) < want {
				v = c.delaying(at(pos))
			}
			switch {
			case v.Status == nil && len(c.feasible) == want:
				break scan // the one too many that ends the search
			case v.Status == nil:
				c.accept(at(pos), pos)
			case v.Status.IsRejected():
				c.reject(at(pos), v)
			default:
				failure = v.Status
				break scan
			}
		}
	}
	c.advance(total)
	return failure
}

// advance moves the start index behind the nodes that were looked at. A
// nominated node that was ruled out twice counts once; one that was ruled out,
// by an extender, and then found feasible counts twice, as in the reference.
func (c *Cycle) advance(total int) {
	s := &c.d.scratch
	processed := len(c.feasible) + len(s.rejected)
	c.evaluated = processed
	for _, early := range s.rejected[:c.early] {
		switch {
		case slices.ContainsFunc(s.rejected[c.early:], func(r rejection) bool { return r.node == early.node }):
			processed--
			c.evaluated--
		case slices.Contains(c.feasible, early.node):
			c.evaluated--
		}
	}
	c.d.start = (c.d.start + processed) % total
}

func (c *Cycle) buffer(n int) []framework.Verdict {
	s := &c.d.scratch
	if len(s.verdicts) < n {
		s.verdicts = make([]framework.Verdict, n)
	}
	return s.verdicts
}

func (c *Cycle) accept(node *extpoints.NodeInfo, pos int) {
	s := &c.d.scratch
	s.feasible = append(s.feasible, node)
	s.positions = append(s.positions, int32(pos))
	c.feasible = s.feasible
}

// wanted is how many feasible nodes out of n are looked for.
func (c *Cycle) wanted(n int) int {
	if c.all {
		return n
	}
	if !c.Framework.HasScore() && !c.Framework.ExtendersFilter() && !c.Framework.ExtendersPrioritize() {
		return 1
	}
	if n < minFeasibleNodes {
		return n
	}
	percentage := int(c.d.PercentageOfNodesToScore)
	if p := c.Framework.Percentage(); p != nil {
		percentage = int(*p)
	}
	if percentage == 0 {
		percentage = max(50-n/125, minFeasiblePercentage)
	}
	return max(n*percentage/100, minFeasibleNodes)
}

// tellFiltered tells what the filters have left, unless that is nothing and there may be another look.
func (c *Cycle) tellFiltered(evaluated, feasible int) {
	if feasible > 0 || !c.further {
		c.tell.Filtered(c, evaluated, feasible)
	}
}

// others reports whether any of the nodes that were looked at may become feasible.
func (c *Cycle) others() bool {
	if c.Diagnosis == nil {
		return false
	}
	for st := range c.Diagnosis.Statuses() {
		if st.Code() == extpoints.Unschedulable || st.Plugin() == Backfill {
			return true
		}
	}
	return false
}

// diagnose says why nothing is feasible.
func (c *Cycle) diagnose(nodes extpoints.Nodes) {
	d := framework.NewDiagnosis(nodes, nodes.Len())
	d.BlamePlugins(c.pre.Narrowing...)
	if c.outvoted {
		d.BlamePlugins(extpoints.ExtenderPlugin)
	}
	c.Diagnosis = d
	if st := c.pre.Status; st != nil {
		d.RejectAbsent(st)
		d.PreFilterMessage = st.Message()
		d.Blame(st)
		return
	}
	if c.pre.Nodes != nil {
		if c.nominatedRejected {
			// The reference keeps one list of plugins for both, so that the one
			// which turned the nominated node down is named here too.
			c.pre.Narrow(c.d.scratch.rejected[0].verdict.Named().Plugin())
		}
		d.RejectAbsent(c.pre.AbsentStatus())
	}
	var namer framework.Namer
	for i := range c.d.scratch.rejected {
		r := &c.d.scratch.rejected[i]
		d.Reject(r.node, namer.Name(&r.verdict))
	}
}

// score scores the feasible nodes; a single one needs no score.
func (c *Cycle) score() *extpoints.Status {
	if len(c.feasible) == 1 && !c.all {
		return nil
	}
	scores := &c.d.scratch.scores
	st := c.Framework.Score(c.State, c.Info, c.feasible, c.d.Workers, c.keepRaw, scores)
	if st != nil {
		return st
	}
	c.prioritize(scores.Totals)
	c.scores = scores
	c.tell.Scored(c, len(c.feasible), slices.Max(scores.Totals))
	return nil
}

// choose picks one of the feasible nodes with the highest total.
func (c *Cycle) choose() {
	best, ties := 0, 1
	if c.scores != nil {
		best, ties = c.pick(c.scores.Totals)
	}
	c.ties = ties
	c.Binding.Node = c.feasible[best].Node.Name
	c.tell.Selected(c, ties)
}

// pick returns the index of the winner among the totals, and how many share
// the highest.
func (c *Cycle) pick(totals []int64) (winner, ties int) {
	highest := slices.Max(totals)
	positions := c.d.scratch.positions
	for _, total := range totals {
		if total == highest {
			ties++
		}
	}
	switch c.d.TieBreak {
	case TieBreakLowestIndex:
		winner = -1
		for i, total := range totals {
			if total == highest && (winner < 0 || positions[i] < positions[winner]) {
				winner = i
			}
		}
	case TieBreakRandom:
		nth := int(Mix(c.State.Seed()) % uint64(ties))
		for i, total := range totals {
			if total == highest {
				if nth == 0 {
					return i, ties
				}
				nth--
			}
		}
	default:
		winner = firstInHeap(totals, highest, c.scored, 0)
		if winner < 0 { // extenders scored some nodes, but none of these
			winner = firstInHeap(totals, highest, nil, 0)
		}
	}
	return winner, ties
}

// firstInHeap returns the first index in pre-order of the implicit binary heap
// whose total is the highest, and which is among, where that is not nil; -1
// where the subtree has none. That is the node which kube-scheduler's heap of
// scored nodes gives up first (backend: framework NewSortedScoredNodes and
// container/heap, 1.37.1).
func firstInHeap(totals []int64, highest int64, among []bool, root int) int {
	if root >= len(totals) {
		return -1
	}
	if totals[root] == highest && (among == nil || among[root]) {
		return root
	}
	if i := firstInHeap(totals, highest, among, 2*root+1); i >= 0 {
		return i
	}
	return firstInHeap(totals, highest, among, 2*root+2)
}
