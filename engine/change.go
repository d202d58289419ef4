package engine

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/berth-project/berth/model"
)

// Change is one thing that happened outside, or that somebody wants. Exactly
// one field is set. What it points to belongs to the engine from then on.
type Change struct {
	// PutNode adds a node, or replaces the one of the same name.
	PutNode *model.Node `json:",omitempty"`
	// RemoveNode removes the node of the name. What is on it stays there as
	// far as the engine knows, until it is removed or requeued.
	RemoveNode string `json:",omitempty"`

	// Submit hands in a new workload to be placed.
	Submit *model.Workload `json:",omitempty"`
	// Adopt hands in a workload that already is on a node.
	Adopt *Placement `json:",omitempty"`
	// Update replaces the workload of the same ID.
	Update *model.Workload `json:",omitempty"`
	// Confirm says that a workload has been seen on its node: the one that was
	// chosen for it, or, if that was somebody else's choice, another. Since may
	// say when it started, also later, of one that is confirmed already.
	Confirm *model.Binding `json:",omitempty"`
	// Nominate says which node a workload waits for, where somebody else
	// decided that: an earlier engine, or another program. Of one that does not
	// wait for a node it changes nothing.
	Nominate *Nomination `json:",omitempty"`
	// Terminate says that the workload of the ID is on its way out; it keeps
	// its room until it is finished or removed. It may be repeated, and may come
	// after the engine had it from who evicted the workload.
	Terminate string `json:",omitempty"`
	// Displace is Terminate, or comes after it, and says besides that the
	// workload has to make room for another. It may be repeated too: what the
	// engine evicts for that it knows by itself.
	Displace string `json:",omitempty"`
	// Finish says that the workload has ended; its room is free.
	Finish string `json:",omitempty"`
	// Requeue says that the workload has lost its node and must be placed
	// again.
	Requeue string `json:",omitempty"`
	// Remove forgets the workload, in whatever phase it is.
	Remove string `json:",omitempty"`

	PutGroup        *model.Group     `json:",omitempty"`
	RemoveGroup     string           `json:",omitempty"`
	PutBudget       *model.Budget    `json:",omitempty"`
	RemoveBudget    string           `json:",omitempty"`
	PutNamespace    *model.Namespace `json:",omitempty"`
	RemoveNamespace string           `json:",omitempty"`

	// PutObject adds an object of storage or devices, or replaces the one of
	// the same kind and ID. What has been decided about it is kept, as far as
	// the new one does not say it; see [model.Decidable].
	PutObject model.Object `json:"-"`
	// RemoveObject removes it.
	RemoveObject *model.ObjectRef `json:",omitempty"`
}

// Placement is a workload and where it is.
type Placement struct {
	Workload *model.Workload
	Node     string
	Devices  []model.DeviceShare `json:",omitempty"`
	// Since is when it got there; zero: now.
	Since time.Time
}

// Nomination is the node that a workload waits for. Room is kept for it there, and
// the node is looked at first.
type Nomination struct {
	Workload string // ID
	Node     string // name; empty: it waits for none any more
}

// each calls f with the verb and the object of every field that is set.
func (ch *Change) each(f func(verb, object string)) {
	named := func(verb, object string) {
		if object != "" {
			f(verb, object)
		}
	}
	if ch.PutNode != nil {
		f("put node", ch.PutNode.Name)
	}
	named("remove node", ch.RemoveNode)
	if ch.Submit != nil {
		f("submit", ch.Submit.ID)
	}
	if ch.Adopt != nil {
		f("adopt", ch.Adopt.id())
	}
	if ch.Update != nil {
		f("update", ch.Update.ID)
	}
	if ch.Confirm != nil {
		f("confirm", ch.Confirm.Workload)
	}
	if ch.Nominate != nil {
		f("nominate", ch.Nominate.Workload)
	}
	named("terminate", ch.Terminate)
	named("displace", ch.Displace)
	named("finish", ch.Finish)
	named("requeue", ch.Requeue)
	named("remove", ch.Remove)
	if ch.PutGroup != nil {
		f("put group", ch.PutGroup.ID)
	}
	named("remove group", ch.RemoveGroup)
	if ch.PutBudget != nil {
		f("put budget", ch.PutBudget.ID)
	}
	named("remove budget", ch.RemoveBudget)
	if ch.PutNamespace != nil {
		f("put namespace", ch.PutNamespace.Name)
	}
	named("remove namespace", ch.RemoveNamespace)
	if !isNothing(ch.PutObject) {
		f("put "+string(ch.PutObject.ObjectKind()), ch.PutObject.ObjectID())
	}
	if ch.RemoveObject != nil {
		f("remove "+string(ch.RemoveObject.Kind), ch.RemoveObject.ID)
	}
}

func (p *Placement) id() string {
	if p.Workload == nil {
		return ""
	}
	return p.Workload.ID
}

// count is the number of fields that are set.
func (ch *Change) count() (n int) {
	ch.each(func(string, string) { n++ })
	return n
}

// String says what the change is, for messages.
func (ch *Change) String() string {
	switch ch.count() {
	case 0:
		return "an empty change"
	case 1:
		text := ""
		ch.each(func(verb, object string) { text = fmt.Sprintf("%s %q", verb, object) })
		return text
	default:
		return fmt.Sprintf("%d changes in one", ch.count())
	}
}

// plainChange is a Change without its methods.
type plainChange Change

// writtenChange is a Change as JSON: an object needs its kind beside it.
type writtenChange struct {
	*plainChange
	PutObject model.Objects `json:",omitempty"`
}

// MarshalJSON implements [json.Marshaler].
func (ch Change) MarshalJSON() ([]byte, error) {
	w := writtenChange{plainChange: (*plainChange)(&ch)}
	if ch.PutObject != nil {
		w.PutObject = model.Objects{ch.PutObject}
	}
	return json.Marshal(w)
}

// UnmarshalJSON implements [json.Unmarshaler].
func (ch *Change) UnmarshalJSON(text []byte) error {
	w := writtenChange{plainChange: (*plainChange)(ch)}
	if err := json.Unmarshal(text, &w); err != nil {
		return err
	}
	switch len(w.PutObject) {
	case 0:
	case 1:
		ch.PutObject = w.PutObject[0]
	default:
		return fmt.Errorf("putObject: %d objects in one change", len(w.PutObject))
	}
	return nil
}
