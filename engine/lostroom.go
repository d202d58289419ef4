package engine

import (
	"time"

	"github.com/berth-project/berth/engine/internal/store"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/queue"
)

// A workload that is nominated to a node waits for others to leave it, and displaces nobody
// elsewhere meanwhile. So it must be tried again when the node may not be worth waiting for any
// more: otherwise only a departure there would wake it, which need not come.

// lostRoomOn lets those look again who are nominated to a node that has gone or that is not
// what it was.
func (f facts) lostRoomOn(now time.Time, node *store.Change) {
	before, after := node.OldNode, node.NewNode
	if before == nil || after != nil && before.Seq == after.Seq && servesAsBefore(before.Node, after.Node) {
		return
	}
	for _, holder := range f.rec.View.Nominated(before.Node.Name) {
		f.lostRoom(now, holder)
	}
}

// servesAsBefore reports whether nothing that matters to scheduling has changed of a node.
func servesAsBefore(before, after *model.Node) bool {
	return before.Unschedulable == after.Unschedulable && len(queue.EventsForNodeUpdate(before, after)) == 0
}

// lostRoom lets a workload look again whose nomination has ended, or may be worth nothing any
// more, otherwise than by an attempt of its own. If evictions for it are under way it does so
// when they are over.
func (f facts) lostRoom(now time.Time, holder *extpoints.WorkloadInfo) {
	if f.cfg.Compat == extpoints.KubeScheduler137 {
		return
	}
	f.room.Changed(holder.ID)
	f.wake.LostRoom(now, holder)
}
