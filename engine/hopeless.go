package engine

import (
	"errors"
	"slices"
	"time"

	"github.com/berth-project/berth/engine/internal/decide"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/queue"
)

// errHope is that of an attempt that was made for want of hope only; see [queue.Item].Hopeless.
var errHope = errors.New("a quota or a limit holds it back, and it was tried as no node could take it; now one could: the answers of plugins change")

// hopeless answers the queue, see [queue.Hooks].Hopeless.
func hopeless(d *decide.Decider, now time.Time, it *queue.Item) bool {
	if it.Group == nil {
		return noHope(d, now, []*extpoints.WorkloadInfo{it.Info})
	}
	members := make([]*extpoints.WorkloadInfo, len(it.Members))
	for i, m := range it.Members {
		members[i] = m.Info
	}
	return noHope(d, now, members)
}

// noHope reports whether no node could take any of the members, each by itself.
func noHope(d *decide.Decider, now time.Time, members []*extpoints.WorkloadInfo) bool {
	return !slices.ContainsFunc(members, func(w *extpoints.WorkloadInfo) bool { return !d.Hopeless(now, w) })
}
