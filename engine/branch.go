package engine

import (
	"errors"
	"fmt"
	"time"

	"github.com/berth-project/berth/engine/internal/decide"
	"github.com/berth-project/berth/engine/internal/record"
	"github.com/berth-project/berth/engine/internal/store"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// Branch is a copy of the cluster to try things out on: apply what might
// happen, place what might be submitted, and read what came of it. It runs the
// same code as the engine and touches neither the engine nor the
// orchestrator. Taking a branch takes the same time however large the cluster is (each limit
// on what is used over time adds some, see [model.LimitResourceSeconds]); branches of branches are
// branches; as many as wanted may live side by side, each used by one goroutine at a time.
// A branch that is no longer needed is simply dropped.
type Branch struct {
	decider  *decide.Decider
	accounts *accounts
	planned  bool // the engine has a plan
}

// Branch returns a branch of the engine as it is now.
func (r *Raw) Branch() *Branch {
	b := &Branch{decider: r.decider.Fork(), planned: r.plan != nil}
	if r.cfg.Order == OrderByQueues {
		b.accounts = newAccounts(r.queue)
	}
	return b
}

// Branch returns a branch of b as it is now.
func (b *Branch) Branch() *Branch { return &Branch{b.decider.Fork(), b.accounts.fork(), b.planned} }

// View returns the branch's facts as they are now.
func (b *Branch) View() *View { return &View{store: b.decider.Record.Store.Snapshot()} }

// Apply makes the changes on the branch, all or none; see [Raw.Apply]. Nothing is
// evicted there: [Drain] only closes the node.
func (b *Branch) Apply(now time.Time, changes ...Change) error {
	tx := b.decider.Record.Begin()
	defer tx.Abort()
	in := &record.Intake{Txn: tx, Now: now}
	if err := write(in, changes); err != nil {
		return err
	}
	forgetFailed(b.decider.Record, b.commit(now, tx))
	b.accounts.chargeUsages(now, b.decider.Record, in.Usages)
	return nil
}

// Decision is what a cycle came to.
type Decision struct {
	// Binding is where the workload goes; Node is empty where it fits nowhere.
	Binding model.Binding
	// Evaluated and Feasible count nodes; Ties is how many shared the highest
	// score.
	Evaluated, Feasible, Ties int
	// Message is the one-line summary of why it fits nowhere; empty where it fits.
	Message string
	// Plugins are those that rejected it, sorted.
	Plugins []string
	// Nominated is the node that PostFilter nominated where it fits nowhere, or empty.
	Nominated string
	// Evictions are whom PostFilter wants displaced for it. On a branch nobody is.
	Evictions []extpoints.Eviction
}

// Placed reports whether the workload got a node.
func (d *Decision) Placed() bool { return d.Binding.Node != "" }

// Schedule runs the scheduling cycle for a pending workload of the branch, from
// PreFilter up to and including Reserve, and if it gets a node puts it there on
// the branch. A plan is about room: what holds a workload back from the queue
// (PreEnqueue) is not asked, and what a quota or a limit would hold back is for [Branch.Held].
// That it fits nowhere is not an error; a plugin that fails, and a profile that is not
// there, are. A member of a
// group is placed as if it were by itself; see ScheduleGroup.
//
// Whether one that has a node would fit elsewhere is asked after [Requeue] of it on the
// branch, with the node that it has closed there or removed.
func (b *Branch) Schedule(now time.Time, id string) (Decision, error) {
	row := b.decider.Record.Workload(id)
	if row == nil {
		return Decision{}, fmt.Errorf("schedule workload %q on a branch: %w", id, ErrNotFound)
	}
	if row.Phase != model.Pending {
		return Decision{}, fmt.Errorf("schedule workload %q on a branch: it is %v, not Pending: requeue it on the branch first", id, row.Phase)
	}
	if err := b.decider.Profiles.Missing(row.Info.Workload); err != nil {
		return Decision{}, fmt.Errorf("schedule workload %q on a branch: %w", id, err)
	}
	a := b.decider.Attempt(now, row.Info, branchPort{b: b})
	b.carryOut(a)
	c := a.Lone()
	d := outcome(c, c.Result)
	if c.Result != nil && c.Diagnosis == nil && !errors.Is(c.Result.AsError(), ErrNoNodes) {
		return d, fmt.Errorf("schedule workload %q on a branch: %w", id, c.Result.AsError())
	}
	return d, nil
}

// FitsInPlace says what speaks against w, the next version of a workload that has a
// node, on that node, where all else stays and the present version makes room for it:
// nothing where it fits. The verdicts are those of all filters. The branch stays as it
// is; [Update] makes the change, on a branch as on the engine, whether it fits or not.
// The error is ErrNotFound, or what is wrong with w or with the workload's phase.
func (b *Branch) FitsInPlace(now time.Time, w *model.Workload) ([]Verdict, error) {
	row := b.decider.Record.Workload(w.ID)
	if row == nil {
		return nil, fmt.Errorf("fit workload %q in place: %w", w.ID, ErrNotFound)
	}
	if err := b.decider.Profiles.Missing(w); err != nil {
		return nil, fmt.Errorf("fit workload %q in place: %w", w.ID, err)
	}
	if row.Phase == model.Pending {
		return nil, fmt.Errorf("fit workload %q in place: %w", w.ID, &PhaseError{Workload: w.ID, From: row.Phase, To: model.Pending})
	}
	try := b.Branch()
	if err := try.Apply(now, Requeue(w.ID), Update(w)); err != nil {
		return nil, fmt.Errorf("fit workload %q in place: %w", w.ID, err)
	}
	e := &Explanation{Workload: w, Phase: model.Pending}
	e.fill(try.decider.Upcoming(now, try.decider.Record.Workload(w.ID).Info), nil, ExplainOptions{AllFilters: true})
	for i := range e.Nodes {
		if e.Nodes[i].Node == row.Node && !e.Nodes[i].Unseen {
			return e.Nodes[i].Verdicts, nil
		}
	}
	return []Verdict{{Code: extpoints.UnschedulableAndUnresolvable, Reasons: []string{e.Message}}}, nil
}

// carryOut makes the attempt on the branch. What does not fit is asked what would be
// displaced; nothing is.
func (b *Branch) carryOut(a *decide.Attempt) (failure error) {
	a.Search()
	if !a.Result.Status.IsSuccess() {
		_, failure = a.PostFilter()
		return failure
	}
	a.Reserve()
	return nil
}

// branchPort is what attempts need of a branch: nobody is told of anything.
type branchPort struct {
	decide.Silence
	b *Branch
}

var _ decide.Port = branchPort{}

// Commit implements [decide.Port].
func (p branchPort) Commit(now time.Time, tx *store.Txn) []store.Change { return p.b.commit(now, tx) }

// commit makes the transaction part of the branch.
func (b *Branch) commit(now time.Time, tx *store.Txn) []store.Change {
	facts := b.decider.Record.Commit(tx)
	b.accounts.follow(now, facts)
	return facts
}

// TurnedDown implements [decide.Port]: nobody asks to permit on a branch.
func (branchPort) TurnedDown(*decide.Cycle) {}

// outcome says what the cycle came to.
func outcome(c *decide.Cycle, st *extpoints.Status) Decision {
	evaluated, feasible, ties := c.Counts()
	d := Decision{Evaluated: evaluated, Feasible: feasible}
	if st == nil {
		d.Binding, d.Ties = c.Binding, ties
		return d
	}
	d.Message = st.Message()
	if c.Diagnosis != nil {
		d.Message, d.Plugins = c.Diagnosis.Message(), c.Diagnosis.UnschedulablePlugins()
	}
	d.Nominated = c.Nominating.Nominate
	d.Evictions = c.Requests().Evictions
	return d
}
