package engine

import (
	"slices"
	"time"

	"github.com/berth-project/berth/engine/internal/store"
	"github.com/berth-project/berth/model"
)

// Departure is a workload that is to leave its node.
type Departure struct {
	Workload, Node string // the ID, and the name of the node that it is on
	// Since is when the engine asked for that, or since when the workload is terminating. It
	// is zero where the engine has not asked yet: it asks for the last victim when the others
	// have accepted.
	Since time.Time
	// Terminating: the orchestrator has accepted that, or said so by itself. It leaves its
	// node when the orchestrator says so, and never where it has forgotten; [Raw.Evict] asks again.
	Terminating bool
}

// departures lists those that are to leave their nodes: the workload of the row, where it is
// on one, or those that make room for it.
func (c *core) departures(row *store.Workload) (list []Departure) {
	ids := []string{row.Info.ID}
	if row.Phase == model.Pending {
		ids = c.room.VictimsOf(row.Info.ID)
		for w := range c.rec.Store.WorkloadsOn(row.NominatedTo()) {
			if w.Info.Displaced && w.Phase == model.Terminating {
				ids = append(ids, w.Info.ID)
			}
		}
		slices.Sort(ids)
	}
	for _, id := range slices.Compact(ids) {
		if d, leaves := c.departure(id, row.Phase == model.Pending); leaves {
			list = append(list, d)
		}
	}
	return list
}

// departure says since when a workload is to leave its node; false where nobody wants that
// yet. awaited: somebody waits for it.
func (c *core) departure(id string, awaited bool) (Departure, bool) {
	row := c.rec.Workload(id)
	if row.TakesRoomOn() == "" {
		return Departure{}, false
	}
	d := Departure{Workload: id, Node: row.Node, Terminating: row.Phase == model.Terminating}
	if d.Terminating {
		d.Since = c.leaving[id]
		return d, true
	}
	asked := c.tasks.Leaving(id, c.tasks.Of(id))
	if asked != nil {
		d.Since = asked.Since
	}
	return d, asked != nil || awaited
}
