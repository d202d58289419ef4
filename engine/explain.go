package engine

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/berth-project/berth/engine/internal/decide"
	"github.com/berth-project/berth/engine/internal/tasks"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/queue"
)

// Explanation says why a workload is where it is, or why it is nowhere.
type Explanation struct {
	// Workload is the one that is explained, as it was last reported.
	Workload *model.Workload
	// Phase is how far it has got.
	Phase model.Phase
	// Node is where the workload is, or where it would go if it were tried
	// now and nothing were planned ahead; empty where it fits nowhere, or would not be tried.
	Node string
	// At is the moment that is explained: the decision's for a workload that
	// has a node, the present for one that waits and where Undecided.
	At time.Time
	// Since is when it got its node, or started there where the orchestrator says so; zero
	// for one that has none.
	Since time.Time
	// Undecided: there is no decision to explain. It was adopted, or confirmed on a node that
	// was not chosen for it (Adopted), the decision is not remembered any more (see
	// Config.RememberDecisions), or it has left. Nodes then has its node alone, with what
	// speaks against it there now, itself not counted; none where it is terminating or on none.
	Undecided, Adopted bool
	// NotRunning: the engine does not run, because [Engine.Run] was not called or has ended,
	// and what waits is not tried. Node is where it would go if it did. Always false for a Raw.
	NotRunning bool
	// Message is the one-line summary of why it fits nowhere, or of why it would
	// not be tried; empty where it fits.
	Message string
	// Reasons lists what speaks against the nodes that are not feasible, whether
	// others are or not, the most common first; or why nothing was asked about
	// nodes.
	Reasons []Reason
	// MissingTopology lists the topology keys of its spread constraints, its affinity,
	// its anti-affinity and its group for which no node is in any domain, in this
	// order: most likely nobody has labelled the nodes. A required constraint then
	// fits nowhere, anti-affinity keeps nothing apart, and a preference has no effect.
	MissingTopology []string
	// Last is why its last attempt failed, nil where there was none. The
	// cluster may have changed since.
	Last *Rejection
	// Waiting is where it waits, nil where it waits for nothing; see [Raw.Queue].
	Waiting *queue.Position
	// Ahead is how many workloads and trees of groups that wait go before it, gated ones
	// not counted. With OrderByQueues it is how many active workloads would have their turn
	// before it if nothing else changed, see [queue.Standing].
	Ahead int
	// Promise is when it is to start, or what keeps it from being promised a start; nil where
	// nothing was ever planned for it. See [Raw.Promise].
	Promise *Promise
	// Leaving lists the workloads that are to leave their nodes: itself, where it is on one,
	// and for one that waits those that room is made by, by ID.
	Leaving []Departure
	// Permit lists the plugins that have not let it go to be bound yet, in the
	// order of the profile; none where it does not wait on Permit.
	Permit []PermitWait
	// Signature is equal for workloads that are interchangeable to the
	// scheduler, empty where that cannot be told.
	Signature string

	// Filters and Scores name the plugins, in order, with their weights. After
	// the Score plugins come the extenders that prioritize.
	Filters []string
	Scores  []PluginWeight // of a node's score, see NodeExplanation.Scores
	// Nodes are the nodes in visiting order, or the best of them; see
	// [ExplainOptions]. For a workload that waits these are all nodes; for one
	// that has a node, those that were looked at.
	Nodes []NodeExplanation
	// Ties are the nodes that share the highest total, in the order in which
	// they were found; TieBreak says how one was chosen.
	Ties     []string
	TieBreak TieBreak // Config.TieBreak
}

// PermitWait is a Permit plugin that has a workload wait with its node.
type PermitWait struct {
	Plugin string // its name
	// Since is when it began, Until when the plugin gives up and the workload is
	// rejected.
	Since, Until time.Time
}

// PluginWeight is a Score plugin, or an extender, and its weight.
type PluginWeight struct {
	Plugin string // its name
	Weight int64  // the factor of its score in the total
}

// NodeExplanation says what the plugins said of one node.
type NodeExplanation struct {
	Node     string // its name
	Feasible bool   // no plugin or extender has rejected it
	// Unseen: nobody was asked about the node, because the workload's nominated
	// node will do, or because a plugin failed.
	Unseen bool
	// Verdicts are the rejections: the first, or all where all filters were
	// asked for. That of a node which was left out because it could not start workloads
	// (see [extpoints.ErrNotThere]) is of "NotThere", which is no plugin.
	Verdicts []Verdict
	// Scores are in the order of Explanation.Scores; none for a node that is
	// not feasible, or where a single feasible node needed no score.
	Scores []PluginScore
	// Total is the sum of the scores times their weights; 0 without scores.
	Total int64
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
	// Top is how many nodes to list: those with the highest totals first, the
	// other feasible ones then, and the rest, all in visiting order where they are
	// equal. Default 0: all of them, in visiting order.
	Top int
}

// Explain says why a workload is where it is. For one that waits it tries the
// workload on every node as things are now; for one that has a node it makes
// the remembered decision again, which is possible for the most recent ones
// (Config.RememberDecisions), else it says what is known, see Explanation.Undecided. The only
// error is ErrNotFound. Extenders are asked again, as things are with them now. Of a member of a group that waits, Node and Message say what
// would come of its whole tree of groups; Reasons, Scores and Nodes are those of the member, tried as if it
// were by itself.
func (r *Raw) Explain(now time.Time, id string, o ExplainOptions) (*Explanation, error) {
	explain, err := r.explainer(now, id, o)
	if err != nil {
		return nil, err
	}
	x, err := explain()
	x.rests(r.rests())
	return x, err
}

// rests is why nothing that waits is tried now; empty where it is.
func (r *Raw) rests() string {
	if r.room.Awaited() {
		return "nothing is tried before the evictions have been accepted that are under way"
	}
	return ""
}

// explainer gathers what an explanation needs. The function that it returns
// does the work and may be called on any goroutine, beside everything else.
func (r *Raw) explainer(now time.Time, id string, o ExplainOptions) (func() (*Explanation, error), error) {
	row := r.rec.Workload(id)
	if row == nil {
		return nil, fmt.Errorf("explain workload %q: %w", id, ErrNotFound)
	}
	e := &Explanation{
		Workload: row.Info.Workload, Phase: row.Phase, Node: row.Node, At: now, Since: row.Info.PlacedAt,
		Adopted: row.Found, TieBreak: r.cfg.TieBreak,
	}
	if why, ok := r.lastWhy[id]; ok {
		why.Plugins = slices.Clone(why.Plugins)
		e.Last = &why
	}
	if pos, ok := r.Queue(id); ok {
		e.Waiting, e.Ahead = &pos, r.queue.Ahead(id)
	}
	if p, ok := r.Promise(id); ok {
		e.Promise = &p
	}
	e.Leaving = r.departures(row)
	d := r.memory.Of(id)
	var whole *wholeTree
	switch waits := r.permits.Of(id); {
	case row.Phase == model.Pending:
		d = r.decider.Upcoming(now, row.Info)
		if group := row.Info.Group; group != "" {
			whole = &wholeTree{r.decider.Fork(), group, now}
		}
	case waits != nil && waits.Node() == row.Node:
		e.Permit = permitWaits(waits)
		if !d.Led(row.Node, row.CreateIndex) { // it is forgotten, and the cycle is not
			d = decide.Recall(waits.Task.Member.Cycle, row.CreateIndex)
		}
	case row.Found || row.Node == "" || !d.Led(row.Node, row.CreateIndex):
		e.Undecided = true
		fork := r.decider.Fork()
		return func() (*Explanation, error) {
			e.fillPresent(fork)
			return e, nil
		}, nil
	}
	if d.Framework == nil { // its profile is not there
		t := tally{}
		t.add(*e.held(nil), 0)
		e.Reasons = t.reasons()
		return func() (*Explanation, error) { return e, nil }, nil
	}
	e.Signature = d.Framework.Signature(d.Info.Workload) // here, because Sign may look at the cluster as it is
	return func() (*Explanation, error) {
		e.fill(d, whole, o)
		return e, nil
	}, nil
}

// permitWaits lists the plugins that a workload waits for.
func permitWaits(w *tasks.Waiting) []PermitWait {
	var list []PermitWait
	for _, d := range w.Pending() {
		list = append(list, PermitWait{Plugin: d.Plugin, Since: w.Since, Until: d.At})
	}
	return list
}

// fillPresent says what speaks against the node of a workload now, with the workload itself
// away.
func (e *Explanation) fillPresent(fork *decide.Decider) {
	id := e.Workload.ID
	tx := fork.Record.Begin()
	if e.Phase == model.Terminating || fork.Profiles.Of(e.Workload) == nil || tx.Requeue(id) != nil {
		tx.Abort()
		return
	}
	fork.Record.Commit(tx)
	present := &Explanation{Workload: e.Workload, Phase: model.Pending, At: e.At}
	present.fill(fork.Upcoming(e.At, fork.Record.Workload(id).Info).Only(e.Node), nil, ExplainOptions{AllFilters: true})
	e.Filters, e.Scores, e.Nodes, e.Reasons = present.Filters, present.Scores, present.Nodes, present.Reasons
	e.MissingTopology = present.MissingTopology
}

// rests says why nothing that waits is tried now, where there is a reason for that and none other.
func (e *Explanation) rests(why string) {
	if e.Phase == model.Pending && e.Message == "" {
		e.Message = why
	}
}

// waitsAt reports whether it waits in the place.
func (e *Explanation) waitsAt(p queue.Place) bool { return e.Waiting != nil && e.Waiting.Place == p }

// fill makes the decision again, on the view that it was made on, and writes
// down everything.
func (e *Explanation) fill(d *decide.Remembered, whole *wholeTree, o ExplainOptions) {
	e.At = d.At
	e.Filters = d.Framework.FilterNames()
	for i, name := range d.Framework.ScoreNames() {
		e.Scores = append(e.Scores, PluginWeight{name, d.Framework.ScoreWeights()[i]})
	}
	for _, x := range d.Framework.Extenders() {
		if x.Prioritize != nil {
			e.Scores = append(e.Scores, PluginWeight{x.Name, x.Weight})
		}
	}
	waits := e.Phase == model.Pending
	if waits {
		// The decision itself need not look at every node.
		if next := d.Again(false); next.Decide() == nil {
			e.Node = next.Binding.Node
		}
	}
	c := d.Again(waits)
	st := c.Decide()
	t := tally{}
	switch held := e.held(whole); {
	case held != nil:
		t.add(*held, 0)
	case st != nil && c.Diagnosis != nil:
		e.Message = c.Diagnosis.Message()
	case st != nil:
		e.Message = st.Message()
		t.add(verdict(st), 0)
	case whole != nil:
		if e.Node, e.Message = whole.try(e.Workload.ID); e.Node == "" {
			t.add(Verdict{Code: extpoints.Unschedulable, Reasons: []string{e.Message}}, 0)
		}
	}
	if c.Nodes().Len() > 0 {
		e.fillNodes(c, o)
		e.MissingTopology = missingTopology(c.State.View(), e.Workload)
	} else if absent := c.PreFiltered().Status; absent != nil {
		t.add(verdict(absent), 0)
	}
	for i := range e.Nodes {
		for _, v := range e.Nodes[i].Verdicts {
			t.add(v, 1)
		}
	}
	e.Reasons = t.reasons()
	if o.Top > 0 {
		slices.SortStableFunc(e.Nodes, better)
		e.Nodes = slices.Clip(e.Nodes[:min(o.Top, len(e.Nodes))])
	}
}

// held says why a workload that waits would not be tried, nil where it would be.
func (e *Explanation) held(whole *wholeTree) *Verdict {
	var v Verdict
	switch {
	case e.waitsAt(queue.Gated):
		v = verdict(e.Waiting.Gate)
		e.Message = e.Waiting.Gate.Message()
	case e.waitsAt(queue.Incomplete):
		e.Message = whole.missing()
	case e.waitsAt(queue.OldBinding):
		e.Message = fmt.Sprintf("an earlier binding to node %q was cancelled and has not returned", e.Waiting.Node)
	case e.Waiting != nil && e.Waiting.Standing != nil && e.Waiting.Standing.Held != nil:
		e.Message = e.Waiting.Standing.Held.String()
		v = Verdict{Plugin: queue.QueuesGate, Code: extpoints.Unschedulable}
	default:
		return nil
	}
	if !e.waitsAt(queue.Gated) {
		v.Reasons = []string{e.Message}
	}
	e.Node = ""
	return &v
}

// better orders nodes by how good they are.
func better(a, b NodeExplanation) int {
	switch {
	case a.Feasible == b.Feasible:
		return cmp.Compare(b.Total, a.Total)
	case a.Feasible:
		return -1
	}
	return +1
}

// fillNodes writes down the nodes: in visiting order, what each plugin said.
func (e *Explanation) fillNodes(c *decide.Cycle, o ExplainOptions) {
	byName := map[string]NodeExplanation{}
	for node, st := range c.Rejected() {
		byName[node.Node.Name] = NodeExplanation{Node: node.Node.Name, Verdicts: []Verdict{verdict(st)}}
	}
	for name, extender := range c.LeftOut() {
		if _, has := byName[name]; !has {
			byName[name] = NodeExplanation{Node: name, Verdicts: []Verdict{silentVerdict(extender)}}
		}
	}
	for name, st := range c.NotThere() {
		byName[name] = NodeExplanation{Node: name, Verdicts: []Verdict{verdict(st)}}
	}
	for i, node := range c.Feasible() {
		byName[node.Node.Name] = e.feasible(c, i, node)
	}
	e.fillTies(c)
	nodes := c.Nodes()
	for i := range nodes.Len() {
		info := nodes.At(i)
		n, looked := byName[info.Node.Name]
		if !looked {
			if !c.LooksAtAll() {
				continue
			}
			n = unseen(c, info.Node.Name)
		}
		if o.AllFilters && !n.Feasible && !n.Unseen && c.PreFiltered().Status == nil {
			outside := slices.DeleteFunc(slices.Clone(n.Verdicts), func(v Verdict) bool { return v.Plugin != extpoints.ExtenderPlugin })
			every := slices.Concat(everyVerdict(c, info), preFilterVerdict(c, looked), outside)
			if len(every) == 0 {
				every = forOthers(n.Verdicts)
			}
			n.Verdicts = every
		}
		e.Nodes = append(e.Nodes, n)
	}
}

// unseen is a node that the filters were not asked about: PreFilter ruled it
// out, or the search ended before.
func unseen(c *decide.Cycle, name string) NodeExplanation {
	pre := c.PreFiltered()
	if _, named := pre.Nodes[name]; pre.Status == nil && (pre.Nodes == nil || named) {
		return NodeExplanation{Node: name, Unseen: true}
	}
	return NodeExplanation{Node: name, Verdicts: []Verdict{verdict(absent(c))}}
}

// absent is the status of the nodes that PreFilter ruled out.
func absent(c *decide.Cycle) *extpoints.Status {
	if st := c.PreFiltered().Status; st != nil {
		return st
	}
	return c.PreFiltered().AbsentStatus()
}

// preFilterVerdict is the verdict on a node that PreFilter left out.
func preFilterVerdict(c *decide.Cycle, looked bool) []Verdict {
	if looked {
		return nil
	}
	return []Verdict{verdict(absent(c))}
}

// forOthers are the verdicts on a node that no filter rejects as it is: it was rejected with those
// that are nominated to it and go before the workload.
func forOthers(list []Verdict) []Verdict {
	for i := range list {
		list[i].Reasons = slices.Clone(list[i].Reasons)
		for j := range list[i].Reasons {
			list[i].Reasons[j] += " (with others that are nominated to the node)"
		}
	}
	return list
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
func everyVerdict(c *decide.Cycle, node *extpoints.NodeInfo) []Verdict {
	var list []Verdict
	for _, st := range c.Framework.FilterEach(c.State, c.Info, node) {
		if st != nil {
			list = append(list, verdict(st))
		}
	}
	return list
}

// feasible writes down the scores of the i-th feasible node.
func (e *Explanation) feasible(c *decide.Cycle, i int, node *extpoints.NodeInfo) NodeExplanation {
	n := NodeExplanation{Node: node.Node.Name, Feasible: true}
	scores := c.Scores()
	if scores == nil {
		return n
	}
	n.Total = scores.Totals[i]
	for p, w := range e.Scores[:len(scores.Raw)] {
		s := PluginScore{Skipped: c.Framework.Skipped(c.State, p)}
		if !s.Skipped {
			s.Raw, s.Normalized = scores.Raw[p][i], scores.Normalized[p][i]
			s.Weighted = s.Normalized * w.Weight
		}
		n.Scores = append(n.Scores, s)
	}
	for _, given := range c.Points() {
		raw, normalized, weighted, answered := given.Score(node.Node.Name)
		n.Scores = append(n.Scores, PluginScore{Skipped: !answered, Raw: raw, Normalized: normalized, Weighted: weighted})
	}
	return n
}

// fillTies lists the nodes that share the highest total.
func (e *Explanation) fillTies(c *decide.Cycle) {
	scores := c.Scores()
	if scores == nil || len(c.Feasible()) == 0 {
		return
	}
	highest := slices.Max(scores.Totals)
	for i, total := range scores.Totals {
		if total == highest {
			e.Ties = append(e.Ties, c.Feasible()[i].Node.Name)
		}
	}
}
