// Package timeline is the future of the view: what will have ended by when, and when
// something that waits will first fit. It has no arithmetic of its own: whether something
// fits at a moment is found out by the same filters as now, on the view as it will be
// then; see [Fitter].
//
// A [Plan] gives the first of those that wait a reservation each, in order; others may
// start now only where that delays none of them (backfilling). The [Book] keeps the plan
// of an engine.
package timeline

import (
	"cmp"
	"slices"
	"time"

	"github.com/berth-project/berth/engine/internal/snapshot"
	"github.com/berth-project/berth/extpoints"
)

// Never is the end of what has no limit.
var Never = time.Unix(1<<40, 0)

// Overrunning is how long something is still expected to run whose limit has passed: it is
// there, so its room is not free, and it may end at any moment.
const Overrunning = time.Second

// Place is a workload on a node, with what was set aside for it there.
type Place struct {
	*extpoints.WorkloadInfo
	Node string
}

// Ends is when a workload that starts at the time must have ended: by its limit.
func Ends(w *extpoints.WorkloadInfo, start time.Time) time.Time {
	limit := w.RunLimit()
	if limit <= 0 {
		return Never
	}
	return start.Add(limit)
}

// release is that a place must be free again.
type release struct {
	at time.Time
	Place
}

func (r *release) compare(o *release) int {
	if c := r.at.Compare(o.at); c != 0 {
		return c
	}
	return cmp.Compare(r.ID, o.ID)
}

// Timeline is the view at each moment from now on at which something must have ended. It
// follows what takes room and what gives it back.
//
// What should have ended, and has not, is expected to end a second from now; what must
// end now counts as ended.
type Timeline struct {
	base func() *snapshot.View // the view as it is, frozen
	// patience is how long after its limit something is still expected to end; 0: for ever.
	patience time.Duration
	// releases are those that take room, in the order in which they must have ended.
	releases []*release
	// views are those that have been asked for, in order: each is that of a moment, with
	// all that is in releases after it, as of when it was last asked for; log is what has
	// changed since the first of them was made.
	views []moment
	log   []change
	// begun is the time as of which views are; next is when the first of those must have
	// ended that had not then.
	begun, next time.Time
	trail       trail
	bounds      *bounds // of the holds; nil where they are to be found anew
}

type moment struct {
	at   time.Time
	view *snapshot.View // frozen
	upTo int            // how much of the log is in it
}

// change is that a place was taken or left that is free from the time on in any case.
type change struct {
	Place
	before time.Time
	taken  bool
}

// longest is how long the log may become before views that nobody asks for are dropped
// with it.
const longest = 256

// New makes the timeline of a cluster on which nothing runs.
func New(base func() *snapshot.View, patience time.Duration) *Timeline {
	return &Timeline{base: base, patience: patience}
}

// Add takes note of a workload that takes room.
func (tl *Timeline) Add(p Place) {
	r := &release{Ends(p.WorkloadInfo, p.PlacedAt), p}
	i, _ := slices.BinarySearchFunc(tl.releases, r, (*release).compare)
	tl.releases = slices.Insert(tl.releases, i, r)
	tl.trail.touch(p.Node)
	tl.patch(change{p, r.at, true})
}

// Remove forgets one that takes room no more. The place is as it was when it was added.
func (tl *Timeline) Remove(p Place) {
	r := &release{Ends(p.WorkloadInfo, p.PlacedAt), p}
	if i, found := slices.BinarySearchFunc(tl.releases, r, (*release).compare); found {
		tl.releases = slices.Delete(tl.releases, i, i+1)
	}
	tl.trail.touch(p.Node)
	tl.patch(change{p, r.at, false})
}

// patch notes a change for the views of the moments before it. What had run over when they
// were begun was expected to end a second later.
func (tl *Timeline) patch(c change) {
	switch {
	case len(tl.views) == 0:
		return
	case len(tl.log) == longest:
		tl.drop()
		return
	case tl.patience > 0 && c.before.Before(tl.begun.Add(-tl.patience)):
		c.before = Never
	case c.before.Before(tl.begun):
		c.before = tl.begun.Add(Overrunning)
	}
	tl.log = append(tl.log, c)
}

// current brings a view up to date.
func (tl *Timeline) current(m *moment) *snapshot.View {
	var v *snapshot.View
	for _, c := range tl.log[m.upTo:] {
		if !m.at.Before(c.before) {
			continue
		}
		if v == nil {
			v = m.view.Trial()
		}
		if c.taken {
			occupy(v, c.Place)
		} else {
			vacate(v, c.Place)
		}
	}
	if m.upTo = len(tl.log); v != nil {
		m.view = v.Branch()
	}
	return m.view
}

func (tl *Timeline) drop() { tl.views, tl.log = nil, nil }

// Forget drops all views, since more is different than what takes room.
func (tl *Timeline) Forget() {
	tl.drop()
	tl.bounds = nil
	tl.trail.touchAll()
}

// ForgetNode drops all views, since a node is different, came or went.
func (tl *Timeline) ForgetNode(name string) {
	tl.drop()
	tl.bounds = nil
	tl.trail.touch(name)
}

// moments are when something must have ended, from now on.
func (tl *Timeline) moments(now time.Time) []time.Time {
	list := []time.Time{now}
	from := tl.until(now, false)
	if tl.late(now) {
		list = append(list, now.Add(Overrunning))
	}
	for i := from; i < len(tl.releases) && tl.releases[i].at.Before(Never); i++ {
		if last := tl.releases[i].at; i == from || !last.Equal(tl.releases[i-1].at) {
			list = append(list, last)
		}
	}
	return list
}

// after is when the next of what takes room must have ended.
func (tl *Timeline) after(now time.Time) time.Time {
	if i := tl.until(now, true); i < len(tl.releases) {
		return tl.releases[i].at
	}
	return Never
}

// overrun are those whose limit has passed and that are expected to end.
func (tl *Timeline) overrun(now time.Time) []*release {
	return tl.releases[tl.lost(now):tl.until(now, false)]
}

// lost is how many there are of which that is not expected any more.
func (tl *Timeline) lost(now time.Time) int {
	if tl.patience == 0 {
		return 0
	}
	return tl.until(now.Add(-tl.patience), false)
}

// late reports whether something has run over.
func (tl *Timeline) late(now time.Time) bool { return len(tl.overrun(now)) > 0 }

// until is how many of the releases are before the time, or at it, too.
func (tl *Timeline) until(at time.Time, inclusive bool) int {
	i, _ := slices.BinarySearchFunc(tl.releases, at, func(r *release, at time.Time) int {
		if c := r.at.Compare(at); c != 0 || !inclusive {
			return c
		}
		return -1
	})
	return i
}

// ended are the releases between two moments, as they are expected now: after the one, and
// not after the other. The first moment is zero for all that there are.
func (tl *Timeline) ended(now, after, at time.Time) []*release {
	from, to := tl.until(now, false), tl.until(at, true)
	late := tl.overrun(now)
	list := tl.releases[min(from, to):to]
	if !after.IsZero() {
		list = tl.releases[min(tl.until(after, true), to):to]
	}
	if over := now.Add(Overrunning); len(late) > 0 && after.Before(over) && !at.Before(over) {
		return append(slices.Clone(late), list...)
	}
	return list
}

// view is the cluster at a moment that is not before now.
func (tl *Timeline) view(now, at time.Time) *snapshot.View {
	if len(tl.views) > 0 && (now.After(tl.next) || now.After(tl.begun) && (tl.late(now) || tl.late(tl.begun))) {
		tl.drop() // something runs over: another second from now on
	}
	if len(tl.views) == 0 {
		tl.begun, tl.next = now, Never
		if i := tl.until(now, false); i < len(tl.releases) {
			tl.next = tl.releases[i].at
		}
	}
	for len(tl.views) > 1 && !tl.views[1].at.After(now) {
		tl.views = tl.views[1:] // that time has passed
	}
	i, found := slices.BinarySearchFunc(tl.views, at, func(m moment, at time.Time) int { return m.at.Compare(at) })
	if found {
		return tl.current(&tl.views[i])
	}
	before, after := tl.base, time.Time{}
	if i > 0 {
		before, after = func() *snapshot.View { return tl.current(&tl.views[i-1]) }, tl.views[i-1].at
	}
	v := before().Trial()
	for _, r := range tl.ended(now, after, at) {
		vacate(v, r.Place)
	}
	tl.views = slices.Insert(tl.views, i, moment{at, v.Branch(), len(tl.log)})
	return tl.views[i].view
}

// vacate takes a workload off its node.
func vacate(v *snapshot.View, p Place) {
	v.Unplace(p.ID, p.Node)
	if p.Group != "" {
		v.UnplaceMember(p.WorkloadInfo)
	}
}

// occupy puts a workload on its node.
func occupy(v *snapshot.View, p Place) {
	if p.Nominated != "" {
		v.Unnominate(p.ID, p.Nominated)
	}
	v.Place(p.WorkloadInfo, p.Node)
	if p.Group != "" {
		v.UnawaitMember(p.WorkloadInfo)
		v.PlaceMember(p.WorkloadInfo, p.Node)
	}
}
