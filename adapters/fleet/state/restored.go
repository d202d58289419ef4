package state

import (
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/berth-project/berth/adapters/fleet/job"
)

// After a backup was restored, numbers of jobs and attempts are left out, as many as
// cannot have been used since it was made: a fixed number, and so many for each second
// of its age. No fleet has taken jobs, or tried one element, faster than that for long.
const (
	restoredJobs     = 1_000_000
	restoredAttempts = 100_000
	jobsASecond      = 1_000
	attemptsASecond  = 1
)

// maxLeftOut is the largest number of an attempt that is left out, for there must be
// some to go on with. By age alone it is reached after 34 years.
const maxLeftOut = 1 << 30

// Continue writes the picture of a backup anew, as one that a fleet can go on with at
// a time, and checks it on the way. Agents remember tasks by their IDs, and have seen
// some since the backup was made, which it does not know: no ID may be given out that
// they could have seen. So
//
//   - new jobs, and new attempts of jobs that are there, get numbers that were not used
//     before,
//   - attempts of which not all tasks have a node begin anew, for they may have been
//     completed with other nodes,
//   - tasks that were to be started, or run, are marked as Restored: an agent that does
//     not know such a task does not start it, it may have had and forgotten it.
//
// Certificates that were revoked since stay so, and tokens that were removed with them
// stay away.
//
// What agents run that the backup does not know is not listed for them any more: they
// end it. Present is the state that is given up, or an empty one; where it has used
// higher numbers than the backup's age lets expect, they count.
//
// A new leader may begin its work as soon as the picture is restored, so all of this is
// in the picture. The command Restored follows.
func Continue(backup io.Reader, present View, at time.Time, w io.Writer) error {
	s := New(nil)
	if err := s.Restore(backup); err != nil {
		return err
	}
	if v := s.View().Version(); v > present.Version() {
		return fmt.Errorf("the backup is of version %d, and not all servers of this fleet know that: it has version %d", v, present.Version())
	}
	txn := s.db.Txn(true)
	t := newTx(txn, s.View().Index(), 0)
	m := *t.meta()
	t.m = &m
	t.leaveOut(present, at)
	for _, e := range slices.Collect(elements.all(txn, "id", nil)) {
		j := t.Job(e.Job)
		if e.State == job.Starting && e.Placed < j.Spec.Tasks {
			again := *e
			t.release(j, &again, Outcome{State: job.Requeued, Message: "a backup was restored before all of its tasks had a node"})
		}
	}
	for _, old := range slices.Collect(t.Tasks()) {
		k := *old
		k.Restored = true
		t.putTask(&k)
	}
	t.keepRevoked(present)
	metas.put(txn, &m)
	txn.Commit()
	if _, err := s.Snapshot().WriteTo(w); err != nil {
		return fmt.Errorf("write the state to restore: %w", err)
	}
	return nil
}

// keepRevoked keeps what was revoked since the backup was made. A token of the backup whose
// user has been locked out comes back only if it is in the present state: it was made
// after that.
func (t *tx) keepRevoked(present View) {
	for r := range present.Revocations() {
		revoked.put(t.txn, r)
	}
	for _, k := range slices.Collect(t.Tokens()) {
		if !k.Join && present.Revocation(k.Bearer()) != nil && present.Token(k.ID) == nil {
			tokens.remove(t.txn, k)
		}
	}
}

// leaveOut leaves out the numbers that may have been used since the backup was made.
func (t *tx) leaveOut(present View, at time.Time) {
	var age time.Duration
	if at.After(t.m.Now) && at.Year() < lastYear {
		if !t.m.Now.IsZero() { // else nothing has happened ever
			age = at.Sub(t.m.Now)
		}
		t.m.Now = at
	}
	used := present.meta()
	t.m.Version = used.Version // it never falls
	since := uint64(age.Milliseconds() * jobsASecond / 1000)
	t.m.NextJob = max(t.m.NextJob+job.ID(since), used.NextJob) + restoredJobs
	// Readers of records continue after the last one that they have read.
	t.m.NextSeq = max(t.m.NextSeq+since, used.NextSeq) + restoredJobs
	attempts := max(int64(t.lastAttempt())+int64(age.Seconds()*attemptsASecond), int64(present.lastAttempt()))
	t.m.Attempts = int32(min(attempts+restoredAttempts, maxLeftOut))
	t.m.Since = t.m.NextJob
}

// lastAttempt is the highest number of an attempt that is known of.
func (v View) lastAttempt() int32 {
	last := v.meta().Attempts
	for e := range elements.all(v.txn, "id", nil) {
		last = max(last, e.Attempt)
	}
	for r := range v.RecordsAfter(0) {
		last = max(last, r.Attempt)
	}
	return last
}

// restored gives all orders again, after a backup was restored: agents have had some of
// a later index. What ended since the backup was made is reported again then.
func (t *tx) restored() Result {
	for _, old := range slices.Collect(t.Tasks()) {
		if old.Ready {
			k := *old
			t.putOrder(&k)
		}
	}
	return Result{}
}

// NextAttempt is the number of the attempt that an element's tasks are placed for: the
// one that waits for nodes, or the next. Who places asks it, and Place is checked by
// it. Numbers begin with 1. Those of a job that was there when a backup was restored go
// on above all that were used; a later job has a number that no task had before.
func (v View) NextAttempt(id job.ID, index int32) int32 {
	e := v.Element(id, index)
	if e != nil && e.State != job.Pending {
		return e.Attempt
	}
	var last int32
	if m := v.meta(); m.Since == 0 || id < m.Since {
		last = m.Attempts
	}
	if e != nil {
		last = max(last, e.Attempt)
	}
	return last + 1
}
