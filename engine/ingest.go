package engine

import (
	"errors"
	"time"

	"github.com/berth-project/berth/engine/internal/decide"
	"github.com/berth-project/berth/engine/internal/preempt"
	"github.com/berth-project/berth/engine/internal/record"
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
	return r.act("Apply", now, func() error {
		tx := r.rec.Begin()
		defer tx.Abort()
		in := intakeOf(r.decider.Profiles, tx, now)
		in.Admit, in.Batch.Before = r.queue.Admission(), r.handed
		if err := write(in, changes); err != nil {
			return err
		}
		for _, ch := range changes {
			ch.c.NoteIn(r.handed)
		}
		r.work.commit(now, tx)
		r.work.chargeUsages(now, in.Usages)
		for _, d := range in.Drains {
			r.work.drain(now, d)
		}
		r.settle(now, input{At: now, Apply: changes})
		return nil
	})
}

// drain evicts what is on a node that was closed.
func (o outside) drain(now time.Time, d record.Drain) {
	for row := range o.rec.Store.WorkloadsOn(d.Node) {
		o.evict(now, row.Info.ID, d.Reason, preempt.Nobody)
	}
}

// intakeOf is what changes are written to, of an engine with these profiles.
func intakeOf(profiles *decide.Profiles, tx *store.Txn, now time.Time) *record.Intake {
	return &record.Intake{Txn: tx, Now: now, HasProfile: func(w *model.Workload) bool { return profiles.Of(w) != nil }}
}

// write makes the changes in the transaction and collects the problems.
func write(in *record.Intake, changes []Change) error {
	var problems []error
	for i, ch := range changes {
		if err := ch.c.Write(in); err != nil {
			problems = append(problems, &ChangeError{Index: i, Verb: ch.Verb(), ID: ch.ID(), Err: err})
		}
	}
	return errors.Join(problems...)
}
