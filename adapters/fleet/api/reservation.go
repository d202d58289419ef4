package api

import (
	"slices"
	"time"
	_ "time/tzdata" // zones are the same on machines without files of them

	"github.com/berth-project/berth/adapters/fleet/job"
)

// Repeat says how often a reservation comes again.
type Repeat string

// The repeats. The empty value is once.
const (
	RepeatDaily  Repeat = "daily"
	RepeatWeekly Repeat = "weekly"
)

// days is how many days are between two beginnings, 0 where there is one alone.
func (r Repeat) days() int {
	switch r {
	case RepeatDaily:
		return 1
	case RepeatWeekly:
		return 7
	}
	return 0
}

// Reservation sets nodes, or some of what each of them has, aside for an interval, for jobs that
// name it and whose owners may use it: POST /v1/reservations. Other jobs are not placed there if
// they could not end before it. It ends no tasks: what runs on its nodes when it begins runs on.
// Exactly one of Nodes and Constraints is set.
type Reservation struct {
	Name string `json:"name"` // unique in the fleet
	// Nodes are the nodes by name. There need not be such nodes yet.
	Nodes []string `json:"nodes,omitempty"`
	// Constraints select all nodes that fulfil them, also those that come later.
	Constraints []job.Constraint `json:"constraints,omitempty"`
	// Keep is how much of each of the nodes is set aside: other jobs may use the rest. GPUs cannot be.
	// Default: all of the node.
	Keep *Amounts `json:"keep,omitempty"`
	// From and To are the interval: From is in it, To is not.
	From time.Time `json:"from"`
	To   time.Time `json:"to"` // see From
	// Repeat has it come again after days or weeks: at the same time of the clock in the
	// Zone, and for as long. A time that the clock skips is an hour off, and what would run
	// into the next one ends when that begins. Empty: once.
	Repeat Repeat `json:"repeat,omitempty"`
	// Zone is a time zone by its name in the IANA database, such as "Europe/Zurich".
	// Default: UTC. It is of use with Repeat only.
	Zone string `json:"zone,omitempty"`
	// Users may use it, and those of Accounts and of the accounts below them. Where there
	// are neither nobody may, as for maintenance.
	Users    []string `json:"users,omitempty"`
	Accounts []string `json:"accounts,omitempty"` // see Users
	// Reason says what it is for.
	Reason string `json:"reason,omitempty"`
	// By is who made it, and Created when. The server fills them in.
	By      string    `json:"by,omitempty"`
	Created time.Time `json:"created,omitzero"` // see By
}

// ReservationStatus is a reservation and when it is on: GET /v1/reservations.
type ReservationStatus struct {
	Reservation
	// Active: it is on now.
	Active bool `json:"active,omitempty"`
	// NextFrom and NextTo are the interval that is on, or the next one. They are zero
	// where it is over.
	NextFrom time.Time `json:"nextFrom,omitzero"`
	NextTo   time.Time `json:"nextTo,omitzero"` // see NextFrom
	// Waiting counts jobs that name it and have not ended.
	Waiting int32 `json:"waiting,omitempty"`
}

// ReservationList is the answer to GET /v1/reservations, by name.
type ReservationList struct {
	Reservations []ReservationStatus `json:"reservations"` // all there are
}

// ReservationResponse is the answer to POST /v1/reservations.
type ReservationResponse struct {
	// Warnings say what may keep it from being what it should be, such as tasks that
	// may still run when it begins.
	Warnings []string `json:"warnings,omitempty"`
}

// Interval is a time from From on until before To.
type Interval struct {
	From time.Time // inclusive
	To   time.Time // exclusive
}

// Open reports whether a user may use it who belongs to these accounts.
func (r *Reservation) Open(user string, accounts []string) bool {
	return slices.Contains(r.Users, user) || slices.ContainsFunc(accounts, func(a string) bool { return slices.Contains(r.Accounts, a) })
}

// Because is the reason as the end of a sentence, where there is one.
func (r *Reservation) Because() string { return because(r.Reason) }

// Next is the interval that is on at the time, or the first after it; false where it is
// over. A zone that this machine does not know counts as UTC.
func (r *Reservation) Next(at time.Time) (Interval, bool) {
	days := r.Repeat.days()
	if days == 0 {
		return Interval{r.From, r.To}, at.Before(r.To)
	}
	// A day has 23 to 25 hours, so one before the quotient is never too late.
	zone, err := time.LoadLocation(r.Zone)
	if err != nil {
		zone = time.UTC
	}
	n := int((at.Unix()-r.From.Unix())/int64(days*24*60*60)) - 1
	for n = max(n, 0); ; n++ {
		if i := r.nth(n, days, zone); at.Before(i.To) {
			return i, true
		}
	}
}

// Between are the intervals that are not over at the one time and begin before the other,
// in order.
func (r *Reservation) Between(at, until time.Time) (list []Interval) {
	for i, ok := r.Next(at); ok && i.From.Before(until); i, ok = r.Next(i.To) {
		list = append(list, i)
	}
	return list
}

// nth is the interval after so many repeats.
func (r *Reservation) nth(n, days int, zone *time.Location) Interval {
	from := r.From.In(zone)
	begin := func(n int) time.Time {
		return time.Date(from.Year(), from.Month(), from.Day()+n*days, from.Hour(), from.Minute(), from.Second(), from.Nanosecond(), zone).UTC()
	}
	i := Interval{From: begin(n)}
	i.To = i.From.Add(r.To.Sub(r.From))
	if next := begin(n + 1); next.Before(i.To) {
		i.To = next
	}
	return i
}
