package record

import (
	"errors"
	"fmt"
	"time"

	"github.com/berth-project/berth/engine/internal/store"
	"github.com/berth-project/berth/model"
)

// adoption is a workload and where it is.
type adoption struct {
	Workload *model.Workload
	Binding  model.Binding
}

func (a adoption) id() (string, bool) {
	if a.Workload == nil {
		return "", false
	}
	return a.Workload.ID, a.Binding.Node != ""
}

// nomination is the node that a workload waits for, empty for none.
type nomination struct {
	Workload string
	Node     string
}

func (n nomination) id() (string, bool) { return n.Workload, n.Workload != "" }

// submit takes in a workload that waits for a node. What it names, its node, its profile,
// its group, may be unknown as yet, or be gone: until it is there the workload waits.
func (in *Intake) submit(w *model.Workload) error {
	if err := w.Validate(); err != nil {
		return err
	}
	if in.Admit != nil {
		if err := in.Admit(w); err != nil {
			return err
		}
	}
	return in.Submit(w)
}

// adopt takes in a workload that already is on a node. Its node and group may
// be unknown as yet: what is there is there.
func (in *Intake) adopt(a adoption) error {
	w, b := a.Workload, a.Binding
	var other error
	if b.Workload != "" && b.Workload != w.ID {
		other = fmt.Errorf("workload %q: the binding is of workload %q", w.ID, b.Workload)
	}
	b.Workload = w.ID
	if err := errors.Join(other, w.Validate(), b.Validate()); err != nil {
		if in.Workload(w.ID) != nil {
			err = errors.Join(err, &store.RowError{Kind: store.WorkloadKind, ID: w.ID, Err: store.ErrExists})
		}
		return err
	}
	if b.Since.IsZero() {
		b.Since = in.Now
	}
	return in.Place(w, b)
}

func (in *Intake) update(w *model.Workload) error {
	if err := w.Validate(); err != nil {
		return err
	}
	return in.UpdateWorkload(in.another(w))
}

// confirm records where a workload has been seen. Orchestrators may repeat
// themselves, and may say later when it started.
func (in *Intake) confirm(b model.Binding) error {
	row := in.Workload(b.Workload)
	if err := b.Validate(); err != nil {
		if row == nil {
			err = errors.Join(err, &store.RowError{Kind: store.WorkloadKind, ID: b.Workload, Err: store.ErrNotFound})
		}
		return err
	}
	switch {
	case row == nil || row.Node != b.Node || row.Phase != model.Confirmed && row.Phase != model.Terminating:
		return in.Confirm(b.Workload, b.Node, b.Devices, in.since(b))
	case row.Phase == model.Terminating || b.Since.IsZero() || b.Since.Equal(row.Info.PlacedAt):
		return nil
	}
	return in.Started(b.Workload, b.Since)
}

// since is when a workload that is confirmed got to its node: as the orchestrator
// says, else the zero time, which keeps what is recorded, if that is where the
// engine put it.
func (in *Intake) since(b model.Binding) time.Time {
	if !b.Since.IsZero() {
		return b.Since
	}
	if row := in.Workload(b.Workload); row != nil && row.TakesRoomOn() == b.Node {
		return time.Time{}
	}
	return in.Now
}

// nominate records a nomination that is not the engine's. The workload may have got
// a node in the meantime.
func (in *Intake) nominate(n nomination) error {
	if err := CheckText("nomination of workload", n.Workload, "node", n.Node); err != nil {
		return err
	}
	row := in.Workload(n.Workload)
	if row != nil && row.Phase != model.Pending {
		return nil
	}
	if was := row.NominatedTo(); was != "" && was != n.Node {
		in.Unnominated = append(in.Unnominated, n.Workload)
	}
	return in.Nominate(n.Workload, n.Node)
}

// terminate records that the workload is terminating; the engine may have had that
// from the orchestrator that evicted it.
func (in *Intake) terminate(id string) error {
	if row := in.Workload(id); row != nil && row.Phase == model.Terminating {
		return nil
	}
	return in.Terminate(id)
}

// displace is terminate, for room that another workload needs.
func (in *Intake) displace(id string) error {
	if row := in.Workload(id); row != nil && row.Phase == model.Terminating && row.Info.Displaced {
		return nil
	}
	return in.Displace(id)
}

// finish records that the workload has ended; that may be repeated.
func (in *Intake) finish(id string) error {
	if row := in.Workload(id); row != nil && row.Phase == model.Finished {
		return nil
	}
	return in.Finish(id)
}

// requeue has the workload wait for a node again; it may do so already.
func (in *Intake) requeue(id string) error {
	if row := in.Workload(id); row != nil && row.Phase == model.Pending {
		return nil
	}
	return in.Requeue(id)
}
