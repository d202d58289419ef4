package engine

import (
	"errors"
	"fmt"

	"github.com/berth-project/berth/engine/internal/framework"
	"github.com/berth-project/berth/engine/internal/snapshot"
	"github.com/berth-project/berth/engine/internal/store"
	"github.com/berth-project/berth/model"
)

// core is what decides: the facts, the view of them, and the profiles. A Raw
// has one and every Branch has one of its own; they share the frameworks,
// which do not change.
type core struct {
	cfg        *Config
	frameworks map[string]*framework.Framework
	store      *store.Store
	view       *snapshot.View

	// start is where the next search for nodes begins (kube-scheduler's
	// nextStartNodeIndex).
	start int
	// decisions counts the cycles; with cfg.Seed it seeds each.
	decisions uint64
	// answers are those of extenders, in the engine's own decisions; nil on a
	// branch.
	answers *answers
	// meter is nil where nothing is measured, and on a branch.
	meter *Meter

	scratch scratch
}

// newCore compiles the profiles.
func newCore(cfg *Config, env framework.Env) (*core, error) {
	c := &core{cfg: cfg, store: store.New(), view: snapshot.New(), frameworks: map[string]*framework.Framework{}}
	var problems []error
	var sort string
	for i, p := range cfg.Profiles {
		f, err := framework.New(p, cfg.Registry, env)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		if i == 0 {
			sort = f.QueueSort().Name()
		} else if name := f.QueueSort().Name(); sort != "" && name != sort {
			problems = append(problems, fmt.Errorf("profile %q: queueSort: all profiles need the same plugin, got %q beside %q", p.Name, name, sort))
		}
		c.frameworks[p.Name] = f
	}
	return c, errors.Join(problems...)
}

// branch returns a core over a copy of the facts and the view, O(1). It leaves
// c as it is: the next decision of c does not depend on who has looked.
func (c *core) branch() *core {
	return &core{
		cfg: c.cfg, frameworks: c.frameworks,
		store: c.store.Snapshot(), view: c.view.Fork(),
		start: c.start, decisions: c.decisions,
	}
}

// framework returns the profile that the workload chose, nil for an unknown
// one.
func (c *core) framework(w *model.Workload) *framework.Framework {
	if w.Profile == "" {
		return c.frameworks[c.cfg.Profiles[0].Name]
	}
	return c.frameworks[w.Profile]
}

// follow commits the transaction, lets the view follow, and returns what
// changed.
func (c *core) follow(tx *store.Txn) []store.Change {
	changes := tx.Commit()
	for i := range changes {
		c.patch(&changes[i])
	}
	return changes
}

// patch brings the view up to date with one change of the store.
func (c *core) patch(ch *store.Change) {
	switch ch.Kind {
	case store.NodeKind:
		// A node that went and came back has lost its place in the order.
		if ch.NewNode == nil || ch.OldNode != nil && ch.OldNode.Seq != ch.NewNode.Seq {
			c.view.RemoveNode(ch.OldNode.Node.Name)
		}
		if ch.NewNode != nil {
			c.view.PutNode(ch.NewNode.Node)
		}
	case store.WorkloadKind:
		c.patchPlace(ch.OldWorkload, ch.NewWorkload)
		c.patchNomination(ch.OldWorkload, ch.NewWorkload)
		c.patchMember(ch.OldWorkload, ch.NewWorkload)
	case store.GroupKind:
		if ch.NewGroup != nil {
			c.view.PutGroup(ch.NewGroup.Group)
		} else {
			c.view.RemoveGroup(ch.OldGroup.Group.ID)
		}
	case store.BudgetKind:
		if ch.NewBudget != nil {
			c.view.PutBudget(ch.NewBudget.Budget)
		} else {
			c.view.RemoveBudget(ch.OldBudget.Budget.ID)
		}
	case store.NamespaceKind:
		if ch.NewNamespace != nil {
			c.view.PutNamespace(ch.NewNamespace.Namespace)
		} else {
			c.view.RemoveNamespace(ch.OldNamespace.Namespace.Name)
		}
	case store.ObjectKind:
		c.patchObject(current(ch.OldObject), current(ch.NewObject))
	}
}

func (c *core) patchObject(before, after model.Object) {
	switch {
	case before == after:
	case after != nil:
		c.view.PutObject(after)
	default:
		c.view.RemoveObject(before)
	}
}

func (c *core) patchPlace(before, after *store.Workload) {
	from, to := place(before), place(after)
	switch {
	case from == "" && to == "":
	case from == "":
		c.view.Place(after.Info, to)
	case to == "":
		c.view.Unplace(before.Info.ID, from)
	case from != to:
		c.view.Unplace(before.Info.ID, from)
		c.view.Place(after.Info, to)
	case before.Info != after.Info, before.Phase != model.Confirmed && after.Phase == model.Confirmed:
		// To be confirmed is to be put there once more: it refreshes the node's
		// image counts and moves the workload to the end, which the reference's
		// AddPod does to one that was assumed.
		c.view.Replace(after.Info, to)
	}
}

func (c *core) patchNomination(before, after *store.Workload) {
	from, to := nomination(before), nomination(after)
	if from == to && (from == "" || before.Info == after.Info) {
		return
	}
	if from != "" {
		c.view.Unnominate(before.Info.ID, from)
	}
	if to != "" {
		c.view.Nominate(after.Info, to)
	}
}

// patchMember keeps the members of groups by whether they are on a node.
func (c *core) patchMember(before, after *store.Workload) {
	if before != nil && before.Info.Group != "" {
		switch {
		case after != nil && before.Info == after.Info && before.Phase == after.Phase:
			return
		case place(before) != "":
			c.view.UnplaceMember(before.Info)
		case before.Phase == model.Pending:
			c.view.UnawaitMember(before.Info)
		}
	}
	if after != nil && after.Info.Group != "" {
		switch {
		case place(after) != "":
			c.view.PlaceMember(after.Info, after.Node)
		case after.Phase == model.Pending:
			c.view.AwaitMember(after.Info)
		}
	}
}

// place is the node whose room the row's workload takes.
func place(row *store.Workload) string {
	if row == nil || !row.Phase.TakesRoom() {
		return ""
	}
	return row.Node
}

// nomination is the node that the row's workload waits for.
func nomination(row *store.Workload) string {
	if row == nil || row.Phase != model.Pending {
		return ""
	}
	return row.Info.Nominated
}
