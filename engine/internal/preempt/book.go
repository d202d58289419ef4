package preempt

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/berth-project/berth/engine/internal/store"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// Awaited reports whether nothing is to be scheduled until evictions have ended.
func (b *Book) Awaited() bool { return b.awaited > 0 }

// Idle reports whether nobody waits for evictions.
func (b *Book) Idle() bool { return len(b.byBeneficiary) == 0 }

// Plan takes down which evictions the cycle's PostFilter asked for, before the
// beneficiary goes back to the queue: from now on it is held back.
func (b *Book) Plan(by Beneficiary, s extpoints.Requests) {
	asked := s.Evictions
	if len(asked) == 0 {
		return
	}
	p := b.byBeneficiary[by]
	if p == nil {
		p = &preemption{by: by}
		b.byBeneficiary[by] = p
		if by.Group != "" {
			b.forGroups++
		}
	}
	p.rest = append(p.rest, asked...)
	p.rank, _ = b.rank(by)
	p.standing = b.standing(p.rest[len(p.rest)-1].ID)
	if s.AwaitEvictions && !p.awaited {
		p.awaited = true
		b.awaited++
	}
}

// Begin asks for the planned evictions, when the beneficiary is back in the queue: what
// happens now may wake it.
func (b *Book) Begin(now time.Time, by Beneficiary) {
	p := b.byBeneficiary[by]
	if p == nil || len(p.rest) == 0 {
		return
	}
	if p.stage == planned {
		p.stage, p.began = asking, b.clock()
	}
	for _, e := range p.due() {
		b.evict(now, p, e)
	}
	b.touchAll(p)
}

// evict asks for one eviction.
func (b *Book) evict(now time.Time, p *preemption, e extpoints.Eviction) {
	b.port.Evict(now, e, p.by)
	if b.port.Leaving(e.ID) && !slices.Contains(p.waits, e.ID) {
		p.waits = append(p.waits, e.ID)
		b.byVictim[e.ID] = append(b.byVictim[e.ID], p)
	}
}

// Proceed takes the preemptions to which something has happened one step further. It
// is called at the end of every input.
func (b *Book) Proceed(now time.Time) {
	for len(b.touched) > 0 {
		p := b.touched[0]
		b.touched = b.touched[1:]
		p.news.queued = false
		if b.byBeneficiary[p.by] == p {
			b.advance(now, p)
		}
	}
	for _, id := range b.dropped {
		if !b.Victims()[id] {
			b.port.Dropped(now, id)
		}
	}
	b.dropped = b.dropped[:0]
}

// advance is the step from one stage to the next.
func (b *Book) advance(now time.Time, p *preemption) {
	p.settle(b.port.Leaving, func(victim string) { b.forget(victim, p) })
	switch {
	case len(p.waits) > 0:
	case len(p.rest) > 0 && b.outdated(p):
		b.fail(p)
		b.touchAll(p)
	case len(p.rest) > 0:
		last := p.rest[0]
		p.stage, p.rest, p.last = lastAsked, nil, last.ID
		b.evict(now, p, last)
		p.gone = b.rec.Workload(last.ID).TakesRoomOn() == ""
		b.touchAll(p)
	default:
		b.end(p)
		b.port.Ended(now, p.by, p.outcome(), b.clock()-p.began)
	}
}

// end strikes the preemption out.
func (b *Book) end(p *preemption) {
	b.drop(p)
	delete(b.byBeneficiary, p.by)
	if p.by.Group != "" {
		b.forGroups--
	}
	for _, victim := range p.waits {
		b.forget(victim, p)
	}
	if p.awaited {
		b.awaited--
	}
}

func (b *Book) forget(victim string, p *preemption) {
	list := slices.DeleteFunc(b.byVictim[victim], func(q *preemption) bool { return q == p })
	if len(list) == 0 {
		delete(b.byVictim, victim)
	} else {
		b.byVictim[victim] = list
	}
}

// touch makes Proceed look at the preemption and at these victims.
func (b *Book) touch(p *preemption, victims ...string) {
	p.news.victims = append(p.news.victims, victims...)
	if !p.news.queued {
		p.news.queued = true
		b.touched = append(b.touched, p)
	}
}

// touchAll makes Proceed look at the preemption and at all of its victims.
func (b *Book) touchAll(p *preemption) {
	p.news.all = true
	b.touch(p)
}

// VictimChanged is told of everything that happens to a workload or its eviction.
func (b *Book) VictimChanged(victim string) {
	for _, p := range b.byVictim[victim] {
		b.touch(p, victim)
	}
}

// VictimCalledOff is told of a victim whose binding was called off: it has gone without
// a departure that could still be observed.
func (b *Book) VictimCalledOff(victim string) {
	for _, p := range b.byVictim[victim] {
		p.gone = p.gone || p.last == victim
		b.touch(p, victim)
	}
}

// VictimStays is told of a victim whose eviction has failed. The other evictions for
// the same beneficiary are of no use then, unless somebody else wants them too.
func (b *Book) VictimStays(victim string) {
	b.dropped = append(b.dropped, victim)
	for _, p := range b.byVictim[victim] {
		b.touch(p, victim)
		if p.stage == failing {
			continue
		}
		b.fail(p)
		for _, other := range p.waits {
			if len(b.byVictim[other]) == 1 {
				b.port.CallOff(other, p.by, fmt.Errorf("called off, because the eviction of workload %q failed", victim))
			}
		}
	}
}

// FirstFor is the first beneficiary that waits for the victim's eviction; false where
// none does.
func (b *Book) FirstFor(victim string) (Beneficiary, bool) {
	if waiting := b.byVictim[victim]; len(waiting) > 0 {
		return waiting[0].by, true
	}
	return Nobody, false
}

// Follow looks whether a change is about a victim, or ends the preemption because the
// workload that room is made for needs none any more.
func (b *Book) Follow(before, after *store.Workload) {
	if len(b.byBeneficiary) == 0 {
		return
	}
	id := rowID(before, after)
	b.VictimChanged(id)
	p := b.byBeneficiary[Beneficiary{Workload: id}]
	if p != nil && (before == nil || after == nil || after.Phase != model.Pending || before.CreateIndex != after.CreateIndex) {
		b.end(p)
	} else if p != nil && before.Info.Workload != after.Info.Workload {
		p.changed = true
	}
	b.followMember(before, after)
}

func rowID(before, after *store.Workload) string {
	if after != nil {
		return after.Info.ID
	}
	return before.Info.ID
}

// Changed is told of a workload for which what was found when it was last tried does not hold any
// more. If room is being made for it, or for its tree, that is looked at anew at the end.
func (b *Book) Changed(id string) {
	if p := b.of(id); p != nil {
		p.changed = true
	}
}

// followMember looks after the preemptions for trees of groups when a member of any
// group comes, goes or changes.
func (b *Book) followMember(before, after *store.Workload) {
	same := before != nil && after != nil && before.Phase == after.Phase && before.Info.Workload == after.Info.Workload
	if same {
		return
	}
	for _, row := range []*store.Workload{before, after} {
		if row != nil && row.Info.Group != "" {
			b.FollowGroup(row.Info.Group)
		}
	}
}

// FollowGroup ends the preemptions for trees of groups in which no member waits for a
// node any more, or whose highest group is not there as such. The one for the tree that
// the changed group is in, if there is one, is told that the tree is not what it was
// when it was tried.
func (b *Book) FollowGroup(changed string) {
	if b.forGroups == 0 {
		return
	}
	groups := b.rec.View.Groups()
	of := groups.Root(changed)
	byGroup := func(x, y Beneficiary) int { return strings.Compare(x.Group, y.Group) }
	for _, by := range slices.SortedFunc(maps.Keys(b.byBeneficiary), byGroup) {
		if by.Group == "" {
			continue
		}
		p := b.byBeneficiary[by]
		if root := groups.Root(by.Group); root == nil || root.ID != by.Group || b.FirstPending(by.Group) == "" {
			b.end(p)
			continue
		}
		p.changed = p.changed || of == nil || of.ID == by.Group
	}
}

// Victims are those that are to leave, whether they have been asked yet or not, and have not
// accepted.
func (b *Book) Victims() map[string]bool {
	all := map[string]bool{}
	for _, p := range b.byBeneficiary {
		for _, e := range p.rest {
			all[e.ID] = true
		}
		for _, victim := range p.waits {
			all[victim] = true
		}
	}
	return all
}

// VictimsOf are those that are to leave for the workload, or for the tree of groups that it
// is a member of, and have not accepted.
func (b *Book) VictimsOf(id string) (victims []string) {
	p := b.of(id)
	if p == nil {
		return nil
	}
	for _, e := range p.rest {
		victims = append(victims, e.ID)
	}
	return append(victims, p.waits...)
}

// UnderWay reports whether the workload, or the tree of groups that it is a member of,
// must wait for evictions: it is what [extpoints.Preemption.UnderWay] says. It looks at
// the victims as they are, so that the departure of the last one finds the way open.
func (b *Book) UnderWay(id string) bool {
	p := b.of(id)
	return p != nil && (len(p.rest) > 0 || slices.ContainsFunc(p.waits, b.port.Leaving))
}

// of is the preemption for the workload, or for the tree that it is in; nil where there is
// none.
func (b *Book) of(id string) *preemption {
	p := b.byBeneficiary[Beneficiary{Workload: id}]
	if p == nil && b.forGroups > 0 {
		p = b.forGroupOf(id)
	}
	return p
}

// forGroupOf is the preemption for the tree of groups that the workload is a member of,
// nil where there is none.
func (b *Book) forGroupOf(id string) *preemption {
	row := b.rec.Workload(id)
	if row == nil || row.Info.Group == "" {
		return nil
	}
	root := b.rec.View.Groups().Root(row.Info.Group)
	if root == nil {
		return nil
	}
	return b.byBeneficiary[Beneficiary{Group: root.ID}]
}
