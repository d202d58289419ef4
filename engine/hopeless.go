package engine

import (
	"errors"
	"time"

	"github.com/berth-project/berth/engine/internal/decide"
	"github.com/berth-project/berth/queue"
)

// errHope is that of an attempt that was made for want of hope only; see [queue.Item].Hopeless.
var errHope = errors.New("a quota or a limit holds it back, and it was tried as no node could take it; now one could: the answers of plugins change")

// hopeless answers the queue, see [queue.Hooks].Hopeless. Of a tree of groups it asks for each member
// by itself.
func hopeless(d *decide.Decider, now time.Time, it *queue.Item) bool {
	if it.Group == nil {
		return d.Hopeless(now, it.Info)
	}
	for _, m := range it.Members {
		if !d.Hopeless(now, m.Info) {
			return false
		}
	}
	return true
}
