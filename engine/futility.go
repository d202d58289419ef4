package engine

import (
	"time"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// rooms is for which workloads room was made, by ID, until they are placed or changed.
type rooms map[string]*madeRoom

// madeRoom is the room that was made for a workload, by itself or as a member of a group.
type madeRoom struct {
	// Vain is how often it was rejected after it had found a node.
	Vain int `json:",omitempty"`
	// Until is when room may be made for it again.
	Until time.Time `json:",omitzero"`
}

// How long nobody is displaced for a workload for which it was in vain: after the first time, and
// at most.
const (
	firstVain   = time.Hour
	longestVain = 24 * time.Hour
)

// made notes that room is made for the beneficiary.
func (r rooms) made(ids ...string) {
	for _, id := range ids {
		if r[id] == nil {
			r[id] = &madeRoom{}
		}
	}
}

// rejected notes that a workload has found a node and was rejected there.
func (r rooms) rejected(id string, now time.Time) {
	m := r[id]
	if m == nil || now.Before(m.Until) {
		return
	}
	wait := longestVain
	if m.Vain < 5 {
		wait = min(wait, firstVain<<m.Vain)
	}
	m.Vain++
	m.Until = now.Add(wait)
}

// inVain reports whether nobody is to be displaced for the workload.
func (r rooms) inVain(id string, now time.Time) bool {
	m := r[id]
	return m != nil && now.Before(m.Until)
}

// foundNode reports whether an attempt that was rejected had found a node.
func foundNode(b *model.Binding, st *extpoints.Status) bool { return st.IsRejected() && b.Node != "" }
