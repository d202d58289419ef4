package engine

import (
	"errors"
	"time"

	"github.com/berth-project/berth/engine/internal/preempt"
	"github.com/berth-project/berth/engine/internal/record"
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
		in := &record.Intake{Txn: tx, Now: now, Admit: r.queue.Admission(), Batch: record.Batch{Before: r.handed}}
		if err := write(in, changes); err != nil {
			return err
		}
		for _, ch := range changes {
			ch.c.NoteIn(r.handed)
		}
		r.work.commit(now, tx)
		for _, id := range in.Unnominated {
			if row := r.rec.Workload(id); row != nil && row.Phase == model.Pending {
				r.work.lostRoom(now, row.Info)
			}
		}
		chargeUsages(r.queue, now, in.Usages)
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

// write makes the changes in the transaction and collects the problems.
func write(in *record.Intake, changes []Change) error {
	var problems []error
	for i, ch := range changes {
		if err := ch.c.Write(in); err != nil {
			problems = append(problems, &ChangeError{Index: i, Verb: ch.Verb(), ID: ch.ID(), Err: changeProblem(err)})
		}
	}
	return errors.Join(problems...)
}
