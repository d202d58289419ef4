package engine

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/berth-project/berth/engine/internal/framework"
	"github.com/berth-project/berth/engine/internal/record"
	"github.com/berth-project/berth/engine/internal/snapshot"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/queue"
)

// Explanation says why a workload is where it is, or why it is nowhere.
type Explanation struct {
	Workload *model.Workload
	Phase    model.Phase
	// Node is where the workload is, or where it would go if it were tried
	// now; empty where it fits nowhere.
	Node string
	// At is the moment that is explained: the decision's for a workload that
	// has a node, the present for one that waits.
	At time.Time
	// Message is the one-line summary of why it fits nowhere, in
	// kube-scheduler's words; empty where it fits.
	Message string
	// Last is why its last attempt failed, nil where there was none. The
	// cluster may have changed since.
	Last *Reason
	// Waiting is its place in the queue, nil where it is not queued.
	Waiting *queue.Position
	// Signature is equal for workloads that are interchangeable to the
	// scheduler, empty where that cannot be told.
	Signature string

	// Filters and Scores name the plugins, in order, with their weights. After
	// the Score plugins come the extenders that prioritize.
	Filters []string
	Scores  []PluginWeight
	// Nodes are the nodes in visiting order. For a workload that waits these
	// are all nodes; for one that has a node, those that were looked at.
	Nodes []NodeExplanation
	// Ties are the nodes that share the highest total, in the order in which
	// they were found; TieBreak says how one was chosen.
	Ties     []string
	TieBreak TieBreak
}

// PluginWeight is a Score plugin, or an extender, and its weight.
type PluginWeight struct {
	Plugin string
	Weight int64
}

// NodeExplanation says what the plugins said of one node.
type NodeExplanation struct {
	Node     string
	Feasible bool
	// Unseen: nobody was asked about the node, because the workload's nominated
	// node will do, or because a plugin failed.
	Unseen bool
	// Verdicts are the rejections: the first, or all where all filters were
	// asked for.
	Verdicts []Verdict
	// Scores are in the order of Explanation.Scores; none for a node that is
	// not feasible, or where a single feasible node needed no score.
	Scores []PluginScore
	Total  int64
}

// Verdict is one plugin's rejection of a node; [extpoints.ExtenderPlugin] stands
// for the extenders.
type Verdict struct {
	Plugin  string
	Code    extpoints.Code
	Reasons []string
}

// PluginScore is what one plugin, or extender, gave one node.
type PluginScore struct {
	// Skipped: the plugin had nothing to say about the workload; the extender
	// was not interested, or failed.
	Skipped    bool
	Raw        int64 // as the plugin gave it; an extender's points
	Normalized int64 // in [0, 100]
	Weighted   int64 // its part of the total
}

// ExplainOptions says how much to explain.
type ExplainOptions struct {
	// AllFilters asks every filter about every node, and not only up to the
	// first that rejects it.
	AllFilters bool
}

// Explain says why a workload is where it is. For one that waits it tries the
// workload on every node as things are now; for one that has a node it makes
// the remembered decision again, which is possible for the most recent ones
// (Config.Decisions), else the error is ErrNoRecord. Extenders are asked again,
// as things are with them now. A member of a group that waits is tried as if it
// were by itself; Explanation.Last says what keeps the group.
func (r *Raw) Explain(now time.Time, id string, o ExplainOptions) (*Explanation, error) {
	explain, err := r.explainer(now, id, o)
	if err != nil {
		return nil, err
	}
	return explain()
}

// explainer gathers what an explanation needs. The function that it returns
// does the work and may be called on any goroutine, beside everything else.
func (r *Raw) explainer(now time.Time, id string, o ExplainOptions) (func() (*Explanation, error), error) {
	row := r.rec.Workload(id)
	if row == nil {
		return nil, fmt.Errorf("explain workload %q: %w", id, ErrNotFound)
	}
	e := &Explanation{Workload: row.Info.Workload, Phase: row.Phase, Node: row.Node, At: now, TieBreak: r.cfg.TieBreak}
	if why, ok := r.lastWhy[id]; ok {
		e.Last = &why
	}
	if pos, ok := r.queue.Position(id); ok {
		e.Waiting = &pos
	}
	d := r.memory.of(id)
	switch {
	case row.Phase == model.Pending:
		d = &decision{info: row.Info, fw: r.framework(row.Info.Workload), view: r.rec.View.Fork(), start: r.start, number: r.decisions + 1, at: now}
	case d == nil || d.node != row.Node || d.created != row.CreateIndex:
		return nil, fmt.Errorf("explain workload %q on node %q: %w", id, row.Node, ErrNoRecord)
	}
	e.Signature = d.fw.Signature(d.info.Workload) // here, because Sign may look at the cluster as it is
	cfg := r.cfg
	return func() (*Explanation, error) { return e, e.fill(cfg, d, o) }, nil
}

// fill makes the decision again, on the view that it was made on, and writes
// down everything.
func (e *Explanation) fill(cfg *Config, d *decision, o ExplainOptions) error {
	e.At = d.at
	e.Filters = d.fw.FilterNames()
	for i, name := range d.fw.ScoreNames() {
		e.Scores = append(e.Scores, PluginWeight{name, d.fw.ScoreWeights()[i]})
	}
	for _, x := range d.fw.Extenders() {
		if x.Prioritize != nil {
			e.Scores = append(e.Scores, PluginWeight{x.Name, x.Weight})
		}
	}
	if e.Phase == model.Pending {
		e.Node = d.next(cfg)
	}
	c := d.again(cfg)
	c.all = e.Phase == model.Pending
	st := c.decide()
	switch {
	case e.Waiting != nil && e.Waiting.Place == queue.Gated:
		e.Node, e.Message = "", e.Waiting.Gate.Message()
	case st != nil && c.diagnosis != nil:
		e.Message = c.diagnosis.Message()
	case st != nil:
		e.Message = st.Message()
	}
	if c.nodes().Len() > 0 {
		e.fillNodes(c, o)
	}
	return nil
}

// again makes the cycle of a decision once more.
func (d *decision) again(cfg *Config) *cycle {
	probe := &core{cfg: cfg, rec: &record.Record{View: d.view}, start: d.start, decisions: d.number}
	c := &cycle{
		core: probe, now: d.at, info: d.info, fw: d.fw, view: d.view, part: d.part, keepRaw: true,
		state:   extpoints.NewCycleState(context.Background(), d.view, d.at, mix(cfg.Seed^mix(d.number))),
		binding: model.Binding{Workload: d.info.ID},
	}
	c.state.SetTrial(true)
	return c
}

// next is the node that the workload would get if it were tried now: unlike the
// explanation the decision need not look at every node.
func (d *decision) next(cfg *Config) string {
	c := d.again(cfg)
	if st := c.decide(); st != nil {
		return ""
	}
	return c.binding.Node
}

// fillNodes writes down the nodes: in visiting order, what each plugin said.
func (e *Explanation) fillNodes(c *cycle, o ExplainOptions) {
	byName := map[string]NodeExplanation{}
	for _, rej := range c.core.scratch.rejected {
		st := rej.verdict.Named()
		byName[rej.node.Node.Name] = NodeExplanation{Node: rej.node.Node.Name, Verdicts: []Verdict{verdict(st)}}
	}
	for name, extender := range c.silent {
		if _, has := byName[name]; !has {
			byName[name] = NodeExplanation{Node: name, Verdicts: []Verdict{silentVerdict(extender)}}
		}
	}
	for i, node := range c.feasible {
		byName[node.Node.Name] = e.feasible(c, i, node)
	}
	e.fillTies(c)
	nodes := c.nodes()
	for i := range nodes.Len() {
		info := nodes.At(i)
		n, looked := byName[info.Node.Name]
		if !looked {
			if !c.all {
				continue
			}
			n = c.unseen(info.Node.Name)
		}
		if o.AllFilters && !n.Feasible && !n.Unseen && c.pre.Status == nil {
			outside := slices.DeleteFunc(n.Verdicts, func(v Verdict) bool { return v.Plugin != extpoints.ExtenderPlugin })
			n.Verdicts = slices.Concat(e.everyVerdict(c, info), preFilterVerdict(c, looked), outside)
		}
		e.Nodes = append(e.Nodes, n)
	}
}

// unseen is a node that the filters were not asked about: PreFilter ruled it
// out, or the search ended before.
func (c *cycle) unseen(name string) NodeExplanation {
	if _, named := c.pre.Nodes[name]; c.pre.Status == nil && (c.pre.Nodes == nil || named) {
		return NodeExplanation{Node: name, Unseen: true}
	}
	return NodeExplanation{Node: name, Verdicts: []Verdict{verdict(c.absent())}}
}

// absent is the status of the nodes that PreFilter ruled out.
func (c *cycle) absent() *extpoints.Status {
	if c.pre.Status != nil {
		return c.pre.Status
	}
	return c.pre.AbsentStatus()
}

// preFilterVerdict is the verdict on a node that PreFilter left out.
func preFilterVerdict(c *cycle, looked bool) []Verdict {
	if looked {
		return nil
	}
	return []Verdict{verdict(c.absent())}
}

// silentVerdict is the verdict of an extender that left a node out without a
// reason. The diagnosis has none either: like kube-scheduler's it treats the node
// as one that nobody looked at.
func silentVerdict(extender string) Verdict {
	return Verdict{
		Plugin: extpoints.ExtenderPlugin, Code: extpoints.UnschedulableAndUnresolvable,
		Reasons: []string{fmt.Sprintf("extender %q left it out without a reason", extender)},
	}
}

// everyVerdict asks all filters about the node.
func (e *Explanation) everyVerdict(c *cycle, node *extpoints.NodeInfo) []Verdict {
	var list []Verdict
	for _, st := range c.fw.FilterEach(c.state, c.info, node) {
		if st != nil {
			list = append(list, verdict(st))
		}
	}
	return list
}

func verdict(st *extpoints.Status) Verdict {
	return Verdict{Plugin: st.Plugin(), Code: st.Code(), Reasons: st.Reasons()}
}

// feasible writes down the scores of the i-th feasible node.
func (e *Explanation) feasible(c *cycle, i int, node *extpoints.NodeInfo) NodeExplanation {
	n := NodeExplanation{Node: node.Node.Name, Feasible: true}
	if c.scores == nil {
		return n
	}
	n.Total = c.scores.Totals[i]
	for p, w := range e.Scores[:len(c.scores.Raw)] {
		s := PluginScore{Skipped: c.fw.Skipped(c.state, p)}
		if !s.Skipped {
			s.Raw, s.Normalized = c.scores.Raw[p][i], c.scores.Normalized[p][i]
			s.Weighted = s.Normalized * w.Weight
		}
		n.Scores = append(n.Scores, s)
	}
	for p := range c.points {
		n.Scores = append(n.Scores, c.points[p].score(node.Node.Name))
	}
	return n
}

// fillTies lists the nodes that share the highest total.
func (e *Explanation) fillTies(c *cycle) {
	if c.scores == nil || len(c.feasible) == 0 {
		return
	}
	highest := slices.Max(c.scores.Totals)
	for i, total := range c.scores.Totals {
		if total == highest {
			e.Ties = append(e.Ties, c.feasible[i].Node.Name)
		}
	}
}

// What an explanation works on never changes under it.
var (
	_ extpoints.View         = (*snapshot.View)(nil)
	_ extpoints.NodeStatuses = (*framework.Diagnosis)(nil)
)
