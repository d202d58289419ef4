package engine

import (
	"fmt"
	"time"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/queue"
)

// Held says what a quota or a limit holds back of the pending workload with the ID, or of the
// whole tree that the group with the ID is in, if it had its turn now: nil for nothing, where the
// order is not by queues, and without a plan of what no node could take, which is tried all the same. Whose turn it is does not matter, but what has room on the branch counts, and
// what was used before it was taken. A queue or principal that is not there holds back, too. A limit on
// how many may be known ([model.LimitCount]) does not: it refuses what is submitted to an engine. A
// member of a group is asked about as if it were by itself.
//
// The first call on a branch takes time in proportion to all workloads. The error is ErrNotFound, or that the
// workload is not pending.
func (b *Branch) Held(now time.Time, id string) (*queue.Held, error) {
	group, members, err := b.turn(id)
	if err != nil {
		return nil, fmt.Errorf("what holds %q back on a branch: %w", id, err)
	}
	held := b.accounts.held(now, b.decider.Record, group, members)
	if held != nil && held.Absent == "" && !held.Never && !b.planned && hopeless(b.decider, now, members) {
		return nil, nil
	}
	return held, nil
}

// turn is what has its turn together: a workload, or the members that wait of a tree of groups.
func (b *Branch) turn(id string) (group *model.Group, members []*extpoints.WorkloadInfo, err error) {
	if row := b.decider.Record.Workload(id); row != nil {
		if row.Phase != model.Pending {
			return nil, nil, fmt.Errorf("it is %v, not Pending", row.Phase)
		}
		return nil, []*extpoints.WorkloadInfo{row.Info}, nil
	}
	root := b.decider.Record.View.Groups().Root(id)
	if root == nil {
		return nil, nil, fmt.Errorf("%w, or a group above it is not there", ErrNotFound)
	}
	b.decider.Tree(root).All(func(w *extpoints.WorkloadInfo) bool {
		members = append(members, w)
		return true
	})
	return root, members, nil
}
