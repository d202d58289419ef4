package state

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
)

// Reservation sets nodes aside for a time.
type Reservation = api.Reservation

// Limits of reservations.
const (
	maxReservations = 1000
	// keepReservation is how long one that is over is remembered, so that people see
	// what was there.
	keepReservation = 24 * time.Hour
	// maxReservation is the longest one. It is longer than any job's limit.
	maxReservation = 3660 * 24 * time.Hour
)

// CheckReservation says all that is wrong with a reservation by itself, so that the same
// is refused on every server. Whether there is such a zone it does not look at: machines
// may differ in that.
func CheckReservation(r *Reservation) []api.Problem {
	var list []api.Problem
	bad := func(field, format string, args ...any) {
		list = append(list, api.Problem{Field: field, Message: fmt.Sprintf(format, args...)})
	}
	if err := job.CheckName(r.Name); err != nil {
		bad("name", "%v", err)
	}
	switch {
	case len(r.Nodes) == 0 && len(r.Constraints) == 0:
		bad("nodes", "there are neither nodes nor constraints that select them")
	case len(r.Nodes) > 0 && len(r.Constraints) > 0:
		bad("constraints", "there are nodes, too; write the ones or the others")
	}
	list = append(list, checkKeep(r.Keep)...)
	checkNames(bad, "nodes", r.Nodes)
	checkNames(bad, "users", r.Users)
	checkNames(bad, "accounts", r.Accounts)
	if len(r.Constraints) > job.MaxConditions {
		bad("constraints", "there are %d, at most %d are allowed", len(r.Constraints), job.MaxConditions)
	}
	for i := range r.Constraints {
		var e *job.ValidationError
		if errors.As(r.Constraints[i].Validate(), &e) {
			for _, p := range e.Problems {
				bad(fmt.Sprintf("constraints[%d].%s", i, p.Field), "%s", p.Message)
			}
		}
	}
	if y := r.From.UTC().Year(); y < 1970 || y > lastYear {
		bad("from", "it is in the year %d", y)
	}
	switch {
	case !r.To.After(r.From):
		bad("to", "it is not after from")
	case r.To.Sub(r.From) > maxReservation:
		bad("to", "it is more than ten years after from")
	case r.Repeat == api.RepeatDaily && r.To.Sub(r.From) > 24*time.Hour, r.Repeat == api.RepeatWeekly && r.To.Sub(r.From) > 7*24*time.Hour:
		bad("to", "it is after the next one begins, which comes %s", r.Repeat)
	}
	if !slices.Contains([]api.Repeat{"", api.RepeatDaily, api.RepeatWeekly}, r.Repeat) {
		bad("repeat", "%.80q is neither %s nor %s", r.Repeat, api.RepeatDaily, api.RepeatWeekly)
	}
	if len(r.Zone) > 64 {
		bad("zone", "it is longer than 64 characters")
	}
	if len(r.Reason) > api.MaxReason {
		bad("reason", "it is longer than %d characters", api.MaxReason)
	}
	return list
}

// checkKeep says what is wrong with how much is set aside.
func checkKeep(a *api.Amounts) (p problems) {
	if a == nil {
		return nil
	}
	p.amounts("keep", a)
	if a.GPUs != nil {
		p.bad("keep.gpus", "GPUs cannot be set aside by their number; set nodes aside")
	}
	for _, n := range eachAmount(a) {
		if n != 0 {
			return p
		}
	}
	p.bad("keep", "it is nothing; leave it out to set the nodes aside")
	return p
}

// checkNames looks at a list of names.
func checkNames(bad func(field, format string, args ...any), field string, names []string) {
	if len(names) > job.MaxNodeNames {
		bad(field, "there are %d, at most %d are allowed", len(names), job.MaxNodeNames)
		return
	}
	for i, n := range names {
		if err := job.CheckName(n); err != nil {
			bad(fmt.Sprintf("%s[%d]", field, i), "%v", err)
		}
	}
}

// notValid refuses what has problems.
func notValid(what string, problems []api.Problem) Result {
	return Result{Err: &api.Error{Code: api.CodeInvalid, Message: what + " is not valid", Problems: problems}}
}

// addReservation adds a reservation. One that there is is not changed: what others
// count on does not move under them.
func (t *tx) addReservation(r *Reservation) Result {
	if problems := CheckReservation(r); len(problems) > 0 {
		return notValid("the reservation", problems)
	}
	if t.Reservation(r.Name) != nil {
		return refuse(api.CodeConflict, "there is a reservation %q already; delete it first", r.Name)
	}
	n := 0
	for range t.Reservations() {
		n++
	}
	if n >= maxReservations {
		return refuse(api.CodeConflict, "there are %d reservations, as many as there may be; delete some first", n)
	}
	next := *r
	next.By, next.Created = t.by, t.now()
	reservations.put(t.txn, &next)
	t.touchReservation(r.Name)
	return Result{}
}

// removeReservation removes a reservation. Tasks that run in it run on, and jobs that
// name it wait.
func (t *tx) removeReservation(name string) Result {
	r := t.Reservation(name)
	if r == nil {
		return refuse(api.CodeNotFound, "there is no reservation %q", name)
	}
	reservations.remove(t.txn, r)
	t.touchReservation(name)
	return Result{}
}

// touchReservation says of the jobs that name a reservation that they have changed.
func (t *tx) touchReservation(name string) {
	t.reserved = true
	for j := range t.Jobs() {
		if j.Spec.Reservation == name && !j.Done() {
			t.jobs[j.ID] = true
		}
	}
}

// purgeReservations forgets those that have long been over.
func (t *tx) purgeReservations() {
	for _, r := range slices.Collect(t.Reservations()) {
		if r.Repeat == "" && t.now().After(r.To.Add(keepReservation)) {
			t.removeReservation(r.Name)
		}
	}
}

// waitsForReservation says whether the job waits for the reservation that it names: until
// it is on, or for ever.
func (v View) waitsForReservation(j *Job, now time.Time) Wait {
	name := j.Spec.Reservation
	if name == "" {
		return Wait{}
	}
	wait := func(format string, args ...any) Wait {
		return Wait{Reason: job.ReasonReservation, Message: fmt.Sprintf(format, args...)}
	}
	r := v.Reservation(name)
	switch {
	case r == nil:
		return wait("there is no reservation %s any more; it waits until there is one of that name, or until it is cancelled", name)
	case !r.Open(j.Owner, v.AccountsOf(j.Owner)):
		return wait("user %s may not use reservation %s", j.Owner, name)
	}
	next, ok := r.Next(now)
	switch {
	case !ok:
		return wait("reservation %s is over since %s", name, r.To.UTC().Format(time.RFC3339))
	case now.Before(next.From):
		w := wait("reservation %s begins at %s", name, next.From.UTC().Format(time.RFC3339))
		w.Until = next.From
		return w
	}
	return Wait{}
}
