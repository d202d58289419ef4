package simulate

import (
	"time"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// turns is the outcome of the room that was made for workloads, by ID.
type turns map[string]*turn

type turn struct {
	of    *model.Workload
	found bool      // a node, in the present attempt
	until time.Time // it was rejected there; zero: it was not
}

// found notes that a workload has found a node.
func (t turns) found(w *model.Workload) {
	if made := t[w.ID]; made != nil {
		made.found = true
	}
}

// popped notes that an attempt begins: what the one before has found does not count in it.
func (t turns) popped(id string) {
	if made := t[id]; made != nil {
		made.found = false
	}
}

// rejected notes that an attempt has failed. Then room was made in vain for a workload that had
// found a node, and that is no failure that is over the next time.
func (t turns) rejected(e engine.RejectedEvent) {
	made := t[e.Workload.ID]
	if made == nil {
		return
	}
	if made.found && e.Code != extpoints.Error {
		made.until = e.At.Add(time.Hour)
	}
	made.found = false
}
