package engine

import (
	"errors"
	"slices"
	"time"

	"github.com/berth-project/berth/engine/internal/decide"
	"github.com/berth-project/berth/extpoints"
)

// errHope is that of an attempt that was made for want of hope only; see [queue.Item].Hopeless.
var errHope = errors.New("a quota or a limit holds it back, and it was tried as no node could take it; now one could: the answers of plugins change")

// hopeless answers the queue, see [queue.Hooks].Hopeless.
func hopeless(d *decide.Decider, now time.Time, members []*extpoints.WorkloadInfo) bool {
	return !slices.ContainsFunc(members, func(w *extpoints.WorkloadInfo) bool { return !d.Hopeless(now, w) })
}
