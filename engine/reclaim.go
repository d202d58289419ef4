package engine

import (
	"sync"

	"github.com/berth-project/berth/engine/internal/framework"
	"github.com/berth-project/berth/engine/internal/record"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/queue"
)

// liveQueues is the order by queues of the engine itself.
type liveQueues struct{ *core }

var _, _ framework.Queues = liveQueues{}, (*forkedQueues)(nil)

// Reclaim implements [framework.Queues]. What somebody has asked to leave counts as if it
// had left.
func (q liveQueues) Reclaim(s *extpoints.CycleState, priority int32, members []*extpoints.WorkloadInfo) extpoints.Reclaim {
	victims := q.room.Victims()
	leaving := func(id string) bool { return victims[id] || q.tasks.Eviction(id) != nil }
	return q.queue.Reclaim(s.View(), s.Now(), leaving, priority, members)
}

// KeepsRoom implements [framework.Queues].
func (q liveQueues) KeepsRoom(nominated, from *model.Workload) bool {
	return q.queue.KeepsRoom(nominated, from)
}

// forkedQueues is that of a branch: made of what its record says, each time that it is
// asked who may be displaced.
type forkedQueues struct {
	rec   *record.Record
	named sync.Once
	names *queue.Queue // to say what is in the same queue; filters ask side by side
}

// Reclaim implements [framework.Queues].
func (q *forkedQueues) Reclaim(s *extpoints.CycleState, priority int32, members []*extpoints.WorkloadInfo) extpoints.Reclaim {
	charged := emptyQueues()
	loadAccounts(charged, q.rec, s.Now())
	return charged.Reclaim(s.View(), s.Now(), nil, priority, members)
}

// KeepsRoom implements [framework.Queues]. It goes by the queues and principals that there
// were when it was asked first.
func (q *forkedQueues) KeepsRoom(nominated, from *model.Workload) bool {
	q.named.Do(func() {
		q.names = emptyQueues()
		loadQueues(q.names, q.rec)
	})
	return q.names.KeepsRoom(nominated, from)
}
