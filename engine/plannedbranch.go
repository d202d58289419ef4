package engine

import (
	"fmt"
	"time"

	"github.com/berth-project/berth/engine/internal/snapshot"
	"github.com/berth-project/berth/engine/internal/timeline"
	"github.com/berth-project/berth/model"
)

// WhenFits says when each of the pending workloads or groups would first fit, the later
// ones next to those before them, if nothing else came. That is planned as by
// [Config].Backfill, for any configuration: by limits, and by the profile's own filters on the
// cluster as it will be. It is about room alone: what a quota or a limit of a queue would hold
// back is not asked, as in Schedule; see [Branch.Held]. A group stands for its whole tree. The
// branch stays as it is. The error is ErrNotFound, or that one is not pending.
func (b *Branch) WhenFits(now time.Time, ids ...string) ([]Fit, error) {
	entities := make([]*timeline.Entity, len(ids))
	for i, id := range ids {
		e, err := b.entity(id)
		if err != nil {
			return nil, err
		}
		entities[i] = e
	}
	tl := timeline.New(func() *snapshot.View { return b.decider.Record.View.Fork() }, 0)
	for row := range b.decider.Record.Store.Workloads() {
		if node := row.TakesRoomOn(); node != "" {
			tl.Add(timeline.Place{WorkloadInfo: row.Info, Node: node})
		}
	}
	plan := timeline.NewPlan(now, tl, b.decider.Fitter())
	fits := make([]Fit, len(ids))
	for i, e := range entities {
		fits[i].ID = ids[i]
		if !plan.Reserve(e) {
			continue
		}
		r := &plan.Reservations[len(plan.Reservations)-1]
		fits[i].At, fits[i].Nodes = r.At, r.Nodes()
	}
	return fits, nil
}

// entity is what the ID stands for.
func (b *Branch) entity(id string) (*timeline.Entity, error) {
	if row := b.decider.Record.Workload(id); row != nil {
		if row.Phase != model.Pending {
			return nil, fmt.Errorf("when workload %q fits: it is %v, not Pending", id, row.Phase)
		}
		if err := b.decider.Profiles.Missing(row.Info.Workload); err != nil {
			return nil, fmt.Errorf("when workload %q fits: %w", id, err)
		}
		return &timeline.Entity{Info: row.Info}, nil
	}
	e, err := b.decider.TreeEntity(id)
	if err != nil {
		return nil, fmt.Errorf("when %q fits: %w", id, err)
	}
	return e, nil
}
