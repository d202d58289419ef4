package decide

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/berth-project/berth/engine/internal/decide/fast"
	"github.com/berth-project/berth/engine/internal/framework"
	"github.com/berth-project/berth/engine/internal/snapshot"
	"github.com/berth-project/berth/extpoints"
)

// ErrDifference is in the error of a decision that the two deciders make differently.
var ErrDifference = errors.New("the fast decider and the reference differ")

// look finds the best of the nodes.
func (c *Cycle) look(nodes extpoints.Nodes) *extpoints.Status {
	if c.d.FastPath == FastPathOff {
		return c.refer(nodes)
	}
	return c.decideFast(nodes)
}

// answer is what the fast decider has to say.
type answer struct {
	evaluated, feasible, ties int
	start                     int // where the next search begins
	total                     int64
	scored                    bool
	node                      string // empty where nothing is feasible
	diagnosis                 *framework.Diagnosis
}

// decideFast is what follows PreFilter where the fast decider is asked.
func (c *Cycle) decideFast(nodes extpoints.Nodes) *extpoints.Status {
	m := c.d.memo()
	a, ok := c.answer(m, nodes)
	switch {
	case !ok:
		return c.refer(nodes)
	case c.d.FastPath == FastPathVerify:
		m.answered++
		st := c.refer(nodes)
		if err := c.compare(&a, st); err != nil {
			return extpoints.AsStatus(err)
		}
		return st
	}
	m.answered++
	return c.take(m, &a)
}

// FastAnswers is how many decisions the fast decider has made, or in Verify has made too.
func (d *Decider) FastAnswers() int {
	if d.fast == nil {
		return 0
	}
	return d.fast.answered
}

// mine reports whether the decision is one of those that the fast decider may know. What a
// sampled cycle tells of is each call of a plugin, so the plugins are called there.
func (c *Cycle) mine() bool {
	return c.pre.Status == nil && c.pre.Nodes == nil && c.Info.Nominated == "" && c.d.Refuse == nil &&
		!c.all && !c.keepRaw && c.Framework.HasFilter() && len(c.Framework.Extenders()) == 0 && !c.Framework.Sampled(c.State)
}

// answer decides without changing the cycle. It reports false where the reference must.
func (c *Cycle) answer(m *memo, nodes extpoints.Nodes) (a answer, ok bool) {
	if !c.mine() {
		return a, false
	}
	m.key = m.key[:0]
	if c.State.MakingRoom() {
		m.key = append(m.key, 1) // plugins may say something else then
	}
	if m.key, ok = c.Framework.LocalKey(c.State, c.Info, m.key); !ok {
		return a, false
	}
	class := m.cache.Of(c.Framework, m.key, c.View.Nodes().Len(), c.d.FastPath == FastPathVerify)
	if class == nil {
		return a, false
	}
	found, ask := &m.found, (*plugins)(c)
	n := nodes.Len()
	start := c.d.start % n // there may have been more nodes when the last search ended
	place, part := c.part.place(start)
	if !class.Search((*blocks)(c), part, place, c.wanted(n), ask, found) {
		return a, false
	}
	a.evaluated, a.feasible = found.Evaluated, found.Feasible
	a.start = (start + found.Evaluated) % n
	switch a.feasible {
	case 0:
		a.diagnosis = found.Diagnosis(nodes, place)
	case 1:
		a.node, a.ties = found.First().Node.Name, 1
	default:
		if !found.Score(ask, &m.best) {
			return a, false
		}
		a.node, a.ties, a.total, a.scored = c.pickFast(&m.best), m.best.Ties, m.best.Total, true
	}
	return a, true
}

// pickFast is pick among the ties.
func (c *Cycle) pickFast(b *fast.Best) string {
	switch c.d.TieBreak {
	case TieBreakLowestIndex:
		return b.Lowest().Node.Name
	case TieBreakRandom:
		return b.Nth(int(Mix(c.State.Seed()) % uint64(b.Ties))).Node.Name
	}
	return b.InHeap().Node.Name
}

// take makes the answer the cycle's, and tells of it what the reference would tell.
func (c *Cycle) take(m *memo, a *answer) *extpoints.Status {
	if tally := c.Framework.Tally(c.State); tally != nil {
		feasible := a.feasible
		if m.found.Full {
			feasible++ // the one too many is asked too; that workers look ahead is not counted
		}
		tally.CountFeasible(feasible + m.found.Twice)
		m.found.Rejected(func(_ *extpoints.NodeInfo, v *framework.Verdict) { tally.Count(*v) })
		c.Framework.TellFilters(c.State)
	}
	c.d.start, c.evaluated, c.found, c.ties = a.start, a.evaluated, a.feasible, a.ties
	c.tellFiltered(a.evaluated, a.feasible)
	if a.feasible == 0 {
		c.Diagnosis = a.diagnosis
		return extpoints.NewStatus(extpoints.Unschedulable)
	}
	if a.scored {
		c.Framework.TellScored(c.State, m.best.Skips, a.feasible)
		c.tell.Scored(c, a.feasible, a.total)
	}
	c.Binding.Node = a.node
	c.tell.Selected(c, a.ties)
	return nil
}

// compare returns what is different about the reference's decision, which the cycle has come to.
func (c *Cycle) compare(a *answer, st *extpoints.Status) error {
	var is answer
	is.evaluated, is.feasible, is.ties, is.start, is.node = c.evaluated, len(c.feasible), c.ties, c.d.start, c.Binding.Node
	if c.scores != nil {
		is.total, is.scored = slices.Max(c.scores.Totals), true
	}
	var wrong []string
	differ := func(what string, fast, reference any) {
		if fast != reference {
			wrong = append(wrong, fmt.Sprintf("%s: %v, the reference says %v", what, fast, reference))
		}
	}
	differ("feasible", a.feasible > 0, st == nil)
	differ("nodes looked at", a.evaluated, is.evaluated)
	differ("feasible nodes", a.feasible, is.feasible)
	differ("next start index", a.start, is.start)
	differ("node", a.node, is.node)
	differ("ties", a.ties, is.ties)
	differ("scored", a.scored, is.scored)
	differ("highest total", a.total, is.total)
	differ("diagnosis", a.diagnosis != nil, c.Diagnosis != nil)
	if a.diagnosis != nil && c.Diagnosis != nil {
		differ("message", a.diagnosis.Message(), c.Diagnosis.Message())
		differ("plugins", fmt.Sprint(a.diagnosis.UnschedulablePlugins()), fmt.Sprint(c.Diagnosis.UnschedulablePlugins()))
		differ("pending plugins", fmt.Sprint(a.diagnosis.PendingPlugins()), fmt.Sprint(c.Diagnosis.PendingPlugins()))
		differ("rejections", true, slices.EqualFunc(a.diagnosis.Rejections(), c.Diagnosis.Rejections(), func(x, y framework.NodeRejection) bool {
			return x.Node == y.Node && x.Status.Code() == y.Status.Code() && x.Status.Plugin() == y.Status.Plugin() &&
				slices.Equal(x.Status.Reasons(), y.Status.Reasons())
		}))
	}
	if len(wrong) == 0 {
		return nil
	}
	return fmt.Errorf("workload %q, profile %q, decision %d: %w: %s", c.Info.ID, c.Framework.Name(), c.number, ErrDifference, strings.Join(wrong, "; "))
}

// blocks are the nodes of the cycle's view. Like plugins it is the cycle by another name, which
// needs no allocation.
type blocks Cycle

func (b *blocks) Len() int                    { return b.View.Nodes().Len() }
func (b *blocks) Block(i int) *snapshot.Block { return b.View.Block(i) }

// plugins are those of the cycle.
type plugins Cycle

func (p *plugins) Filter(node *extpoints.NodeInfo) framework.Verdict {
	return p.Framework.FilterLocal(p.State, p.Info, node)
}

func (p *plugins) Claimed() []int32 {
	return p.View.NominatedTo(func(other *extpoints.WorkloadInfo) bool { return framework.MustYield(p.State, p.Info, other) })
}

func (p *plugins) FilterClaimed(node *extpoints.NodeInfo) framework.Verdict {
	return p.Framework.FilterWithNominated(p.State, p.Info, node)
}

func (p *plugins) Score(nodes []*extpoints.NodeInfo) (*framework.Scores, framework.Skips, bool) {
	skips, ok := p.Framework.RawScores(p.State, p.Info, nodes, p.d.Workers, &p.d.fast.scores)
	return &p.d.fast.scores, skips, ok
}

func (p *plugins) Normalize(score int, nodes []*extpoints.NodeInfo, scores []int64) bool {
	return p.Framework.Normalize(p.State, p.Info, score, nodes, scores)
}

func (p *plugins) BySlot() (filters, scores bool) { return p.Framework.BySlot(p.State) }

func (p *plugins) FilterSlots(slots []int32) (uint64, bool) {
	return p.Framework.FilterSlots(p.State, p.Info, slots)
}

func (p *plugins) FilterBySlot(node *extpoints.NodeInfo, local framework.Verdict) framework.Verdict {
	return p.Framework.FilterBySlot(p.State, p.Info, node, local)
}

func (p *plugins) ScoreSlots(slots []int32, scores []int64, add func([]int64, int64)) (framework.Skips, bool) {
	return p.Framework.ScoreSlots(p.State, p.Info, slots, scores, add)
}

func (p *plugins) Present() time.Time { return p.State.Present() }

func (p *plugins) Ages() (after, before time.Time) { return p.run.AgesHold() }

func (p *plugins) Weights() []int64  { return p.Framework.Weights() }
func (p *plugins) Normalized() []int { return p.Framework.NormalizedScores() }
