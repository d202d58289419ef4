package engine

import (
	"errors"
	"fmt"
	"time"

	"github.com/berth-project/berth/engine/internal/decide"
	"github.com/berth-project/berth/engine/internal/store"
	"github.com/berth-project/berth/model"
)

// Apply makes the changes, in order, in one transaction: all of them or, if
// anything is wrong with any, none. The error then lists every problem of
// every change; see [ChangeError].
func (r *Raw) Apply(now time.Time, changes ...Change) error {
	if len(changes) == 0 {
		return nil
	}
	tx := r.rec.Begin()
	if err := write(r.decider.Profiles, tx, now, changes); err != nil {
		tx.Abort()
		return err
	}
	r.recorder.apply(now, changes)
	defer r.settle(now)
	r.commit(now, tx)
	return nil
}

// write makes the changes in the transaction and collects the problems.
func write(profiles *decide.Profiles, tx *store.Txn, now time.Time, changes []Change) error {
	var problems []error
	for i := range changes {
		if err := writeOne(profiles, tx, now, &changes[i]); err != nil {
			problems = append(problems, &ChangeError{Index: i, Change: changes[i].String(), Err: err})
		}
	}
	return errors.Join(problems...)
}

func writeOne(profiles *decide.Profiles, tx *store.Txn, now time.Time, ch *Change) error {
	var err error
	switch {
	case ch.count() > 1:
		err = errors.New("it says more than one thing")
	case ch.PutNode != nil:
		if err = ch.PutNode.Validate(); err == nil {
			err = tx.PutNode(ch.PutNode)
		}
	case ch.RemoveNode != "":
		err = tx.DeleteNode(ch.RemoveNode)
	case ch.Submit != nil:
		if err = check(profiles, tx, ch.Submit); err == nil {
			err = tx.Submit(ch.Submit)
		}
	case ch.Adopt != nil:
		err = adopt(tx, now, ch.Adopt)
	case ch.Update != nil:
		if err = checkUpdate(profiles, tx, ch.Update); err == nil {
			err = tx.UpdateWorkload(another(tx, ch.Update))
		}
	case ch.Confirm != nil && confirmedAlready(tx, ch.Confirm):
		err = started(tx, ch.Confirm)
	case ch.Confirm != nil:
		err = tx.Confirm(ch.Confirm.Workload, ch.Confirm.Node, ch.Confirm.Devices, since(tx, ch.Confirm, now))
	case ch.Nominate != nil:
		err = nominateFromOutside(tx, ch.Nominate)
	case ch.Terminate != "" && leavesAlready(tx, ch.Terminate), ch.Displace != "" && displacedAlready(tx, ch.Displace):
	case ch.Terminate != "":
		err = tx.Terminate(ch.Terminate)
	case ch.Displace != "":
		err = tx.Displace(ch.Displace)
	case ch.Finish != "":
		err = tx.Finish(ch.Finish)
	case ch.Requeue != "":
		if err = checkRequeue(profiles, tx, ch.Requeue); err == nil {
			err = tx.Requeue(ch.Requeue)
		}
	case ch.Remove != "":
		err = tx.DeleteWorkload(ch.Remove)
	default:
		err = writeOther(tx, ch)
	}
	return err
}

// confirmedAlready reports whether the confirmation says what is recorded
// already: orchestrators may repeat themselves.
func confirmedAlready(tx *store.Txn, b *model.Binding) bool {
	row := tx.Workload(b.Workload)
	return row != nil && (row.Phase == model.Confirmed || row.Phase == model.Terminating) && row.Node == b.Node
}

// leavesAlready reports whether it is recorded that the workload is on its way out:
// the engine may have had that from who evicted it.
func leavesAlready(tx *store.Txn, id string) bool {
	row := tx.Workload(id)
	return row != nil && row.Phase == model.Terminating
}

// displacedAlready is leavesAlready, for room that another workload needs.
func displacedAlready(tx *store.Txn, id string) bool {
	return leavesAlready(tx, id) && tx.Workload(id).Info.Displaced
}

// started records when a workload that is confirmed already has started, where
// that is new.
func started(tx *store.Txn, b *model.Binding) error {
	row := tx.Workload(b.Workload)
	if b.Since.IsZero() || b.Since.Equal(row.Info.PlacedAt) || row.Phase == model.Terminating {
		return nil
	}
	return tx.Started(b.Workload, b.Since)
}

// nominateFromOutside records a nomination that is not the engine's. The workload
// may have got a node in the meantime.
func nominateFromOutside(tx *store.Txn, n *Nomination) error {
	if row := tx.Workload(n.Workload); row != nil && row.Phase != model.Pending {
		return nil
	}
	return tx.Nominate(n.Workload, n.Node)
}

// writeOther makes the changes that are not about nodes or workloads.
func writeOther(tx *store.Txn, ch *Change) error {
	var err error
	switch {
	case ch.PutGroup != nil:
		if err = errors.Join(ch.PutGroup.Validate(), checkTree(tx, ch.PutGroup)); err == nil {
			err = tx.PutGroup(ch.PutGroup)
		}
	case ch.RemoveGroup != "":
		err = tx.DeleteGroup(ch.RemoveGroup)
	case ch.PutBudget != nil:
		if err = ch.PutBudget.Validate(); err == nil {
			err = tx.PutBudget(ch.PutBudget)
		}
	case ch.RemoveBudget != "":
		err = tx.DeleteBudget(ch.RemoveBudget)
	case ch.PutNamespace != nil:
		if err = ch.PutNamespace.Validate(); err == nil {
			err = tx.PutNamespace(ch.PutNamespace)
		}
	case ch.RemoveNamespace != "":
		err = tx.DeleteNamespace(ch.RemoveNamespace)
	case !isNothing(ch.PutObject):
		if err = checkObject(ch.PutObject); err == nil {
			err = tx.PutObject(anotherObject(tx, ch.PutObject))
		}
	case ch.RemoveObject != nil:
		err = tx.DeleteObject(*ch.RemoveObject)
	default:
		err = errors.New("it says nothing")
	}
	return err
}

// since is when a workload that is confirmed got to its node: as the orchestrator
// says, else the zero time, which keeps what is recorded, if that is where the
// engine put it.
func since(tx *store.Txn, b *model.Binding, now time.Time) time.Time {
	if !b.Since.IsZero() {
		return b.Since
	}
	if row := tx.Workload(b.Workload); row != nil && row.TakesRoomOn() == b.Node {
		return time.Time{}
	}
	return now
}

// adopt takes in a workload that already is on a node. Its node and group may
// be unknown as yet: what is there is there.
func adopt(tx *store.Txn, now time.Time, p *Placement) error {
	if p.Workload == nil {
		return errors.New("there is no workload")
	}
	if p.Node == "" {
		return fmt.Errorf("workload %q: there is no node", p.Workload.ID)
	}
	if err := p.Workload.Validate(); err != nil {
		return err
	}
	since := p.Since
	if since.IsZero() {
		since = now
	}
	return tx.Place(p.Workload, p.Node, p.Devices, since)
}
