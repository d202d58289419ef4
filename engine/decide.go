package engine

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

// scratch is memory that decisions reuse.
type scratch struct {
	feasible  []*extpoints.NodeInfo
	positions []int32 // of the feasible, in visiting order
	rejected  []rejection
	verdicts  []framework.Verdict
	scores    framework.Scores
}

// rejection is a node that the filters ruled out; it becomes part of a
// diagnosis only where one is needed.
type rejection struct {
	node    *extpoints.NodeInfo
	verdict framework.Verdict
}

// decide runs the stages prefilter to select on the cycle's view: what is
// feasible, what is best. It changes nothing but the start index. A nil status
// means that c.binding.Node is chosen; a rejection comes with c.diagnosis.
func (c *cycle) decide() *extpoints.Status {
	nodes := c.view.Nodes()
	if nodes.Len() == 0 {
		return extpoints.AsStatus(ErrNoNodes)
	}
	if st := c.filter(nodes); st != nil {
		return st
	}
	c.raise(func(l *Listener) {
		l.Filtered(FilteredEvent{At: c.now, Workload: c.info.Workload, Evaluated: c.evaluated, Feasible: len(c.feasible)})
	})
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

// filter finds the feasible nodes.
func (c *cycle) filter(nodes extpoints.Nodes) *extpoints.Status {
	c.pre = c.fw.PreFilter(c.state, c.info)
	if st := c.pre.Status; st != nil {
		if !st.IsRejected() {
			return st
		}
		c.evaluated = 0
		return nil // no node is feasible; diagnose says why
	}
	if found, st := c.filterNominated(nodes); st != nil || found {
		return st
	}
	if c.pre.Nodes == nil {
		return c.search(nodes.Len(), nodes.Len(), nodes.At)
	}
	subset := c.named(nodes)
	return c.search(nodes.Len(), len(subset), func(i int) *extpoints.NodeInfo { return subset[i] })
}

// named lists the nodes that PreFilter left, by name. (kube-scheduler visits
// them in the random order of a map.)
func (c *cycle) named(nodes extpoints.Nodes) []*extpoints.NodeInfo {
	subset := make([]*extpoints.NodeInfo, 0, len(c.pre.Nodes))
	for name := range c.pre.Nodes {
		if node := nodes.Get(name); node != nil {
			subset = append(subset, node)
		}
	}
	slices.SortFunc(subset, func(a, b *extpoints.NodeInfo) int { return strings.Compare(a.Node.Name, b.Node.Name) })
	return subset
}

// filterNominated tries the node that the workload is nominated to. If it is
// feasible no other is looked at; if not, its rejection is kept and the search
// goes on, also after an error.
func (c *cycle) filterNominated(nodes extpoints.Nodes) (bool, *extpoints.Status) {
	if c.info.Nominated == "" {
		return false, nil
	}
	node := nodes.Get(c.info.Nominated)
	if node == nil {
		return false, nil
	}
	v := c.fw.FilterWithNominated(c.state, c.info, node)
	switch {
	case v.Status == nil:
		c.evaluated++
		c.accept(node, 0)
		return true, nil
	case v.Status.IsRejected():
		c.evaluated++
		c.nominatedRejected = true
		c.reject(node, v)
	default:
		c.raise(func(l *Listener) {
			l.Failed(FailedEvent{At: c.now, Workload: c.info.ID, Err: fmt.Errorf("filtering the nominated node %q: %w", node.Node.Name, v.Status.AsError())})
		})
	}
	return false, nil
}

// search looks at the n nodes from the start index on, around once, until it
// has found one feasible node more than it wants, and moves the start index
// behind the nodes that counted. Many workers look at nodes ahead of time, but
// the answers are taken in order, so the outcome is that of one.
func (c *cycle) search(total, n int, at func(int) *extpoints.NodeInfo) *extpoints.Status {
	if n == 0 {
		c.advance(total)
		return nil
	}
	want := c.wanted(n)
	if !c.fw.HasFilter() {
		for i := range want {
			pos := (c.core.start + i) % n
			c.accept(at(pos), pos)
		}
		c.advance(total)
		return nil
	}
	block := 1
	if c.core.cfg.Workers > 1 {
		block = 64 * c.core.cfg.Workers
	}
	verdicts := c.buffer(block)
	var failure *extpoints.Status
scan:
	for from := 0; from < n; from += block {
		size := min(block, n-from)
		if size == 1 {
			verdicts[0] = c.fw.FilterWithNominated(c.state, c.info, at((c.core.start+from)%n))
		} else {
			parallel.For(c.core.cfg.Workers, size, func(i int) {
				verdicts[i] = c.fw.FilterWithNominated(c.state, c.info, at((c.core.start+from+i)%n))
			})
		}
		for i, v := range verdicts[:size] {
			pos := (c.core.start + from + i) % n
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
// nominated node that was looked at twice counts once.
func (c *cycle) advance(total int) {
	s := &c.core.scratch
	processed := len(c.feasible) + len(s.rejected)
	if c.nominatedRejected && slices.ContainsFunc(s.rejected[1:], func(r rejection) bool { return r.node == s.rejected[0].node }) {
		processed--
	}
	c.evaluated = processed
	c.core.start = (c.core.start + processed) % total
}

func (c *cycle) buffer(n int) []framework.Verdict {
	s := &c.core.scratch
	if len(s.verdicts) < n {
		s.verdicts = make([]framework.Verdict, n)
	}
	return s.verdicts
}

func (c *cycle) accept(node *extpoints.NodeInfo, pos int) {
	s := &c.core.scratch
	s.feasible = append(s.feasible, node)
	s.positions = append(s.positions, int32(pos))
	c.feasible = s.feasible
}

func (c *cycle) reject(node *extpoints.NodeInfo, v framework.Verdict) {
	c.core.scratch.rejected = append(c.core.scratch.rejected, rejection{node, v})
}

// wanted is how many feasible nodes out of n are looked for.
func (c *cycle) wanted(n int) int {
	if c.all {
		return n
	}
	if !c.fw.HasScore() {
		return 1
	}
	if n < minFeasibleNodes {
		return n
	}
	percentage := int(c.core.cfg.PercentageOfNodesToScore)
	if p := c.fw.Percentage(); p != nil {
		percentage = int(*p)
	}
	if percentage == 0 {
		percentage = max(50-n/125, minFeasiblePercentage)
	}
	return max(n*percentage/100, minFeasibleNodes)
}

// diagnose says why nothing is feasible.
func (c *cycle) diagnose(nodes extpoints.Nodes) {
	d := framework.NewDiagnosis(nodes, nodes.Len())
	d.BlamePlugins(c.pre.Narrowing...)
	c.diagnosis = d
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
			c.pre.Narrow(c.core.scratch.rejected[0].verdict.Named().Plugin())
		}
		d.RejectAbsent(c.pre.AbsentStatus())
	}
	// Nodes of one plugin mostly share one status: name each only once.
	named := map[framework.Verdict]*extpoints.Status{}
	for _, r := range c.core.scratch.rejected {
		st, ok := named[r.verdict]
		if !ok {
			st = r.verdict.Named()
			named[r.verdict] = st
		}
		d.Reject(r.node, st)
	}
}

// score scores the feasible nodes; a single one needs no score.
func (c *cycle) score() *extpoints.Status {
	if len(c.feasible) == 1 && !c.all {
		return nil
	}
	scores := &c.core.scratch.scores
	st := c.fw.Score(c.state, c.info, c.feasible, c.core.cfg.Workers, c.keepRaw, scores)
	if st != nil {
		return st
	}
	c.scores = scores
	c.raise(func(l *Listener) {
		l.Scored(ScoredEvent{At: c.now, Workload: c.info.Workload, Nodes: len(c.feasible), Best: slices.Max(scores.Totals)})
	})
	return nil
}

// choose picks one of the feasible nodes with the highest total.
func (c *cycle) choose() {
	best, ties := 0, 1
	if c.scores != nil {
		best, ties = c.core.cfg.TieBreak.pick(c.scores.Totals, c.core.scratch.positions, c.state.Seed())
	}
	c.ties = ties
	c.binding.Node = c.feasible[best].Node.Name
	c.raise(func(l *Listener) {
		l.Selected(SelectedEvent{At: c.now, Workload: c.info.Workload, Node: c.binding.Node, Ties: ties})
	})
}

// pick returns the index of the winner among the totals, and how many share
// the highest.
func (t TieBreak) pick(totals []int64, positions []int32, seed uint64) (winner, ties int) {
	highest := slices.Max(totals)
	for _, total := range totals {
		if total == highest {
			ties++
		}
	}
	switch t {
	case TieBreakLowestIndex:
		winner = -1
		for i, total := range totals {
			if total == highest && (winner < 0 || positions[i] < positions[winner]) {
				winner = i
			}
		}
	case TieBreakRandom:
		nth := int(mix(seed) % uint64(ties))
		for i, total := range totals {
			if total == highest {
				if nth == 0 {
					return i, ties
				}
				nth--
			}
		}
	default:
		winner = firstInHeap(totals, highest, 0)
	}
	return winner, ties
}

// firstInHeap returns the first index in pre-order of the implicit binary heap
// whose total is the highest; -1 where the subtree has none. That is the node
// which kube-scheduler's heap of scored nodes gives up first (backend: framework
// NewSortedScoredNodes and container/heap, 1.37.1).
func firstInHeap(totals []int64, highest int64, root int) int {
	if root >= len(totals) {
		return -1
	}
	if totals[root] == highest {
		return root
	}
	if i := firstInHeap(totals, highest, 2*root+1); i >= 0 {
		return i
	}
	return firstInHeap(totals, highest, 2*root+2)
}

// mix spreads the bits of x (the finaliser of SplitMix64), so that seeds that
// follow each other give numbers that do not.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
