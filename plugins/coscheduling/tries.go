package coscheduling

import (
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// tries are the books about the gangs of which a member was lost since they were
// last complete. The lock is there because branches read them while the engine
// goes on.
type tries struct {
	mu     sync.Mutex
	byGang map[string]*try
	swept  int // how many there were after the last sweep
}

// try is the present try of a gang, or the one that failed last.
type try struct {
	// failed are the members that found no node, or lost it.
	failed map[string]struct{}
	// until is how long the gang stands back; zero while it is being tried.
	until time.Time
	// dismissed are the members that were rejected because of another and
	// have not given back their node yet.
	dismissed map[string]struct{}
}

// standing is how a member stands to the try of its gang that failed last.
type standing uint8

const (
	free           standing = iota // it may be tried
	backForAnother                 // the gang stands back, because of others
	backForItself                  // the gang stands back, because of it too
)

// standing says how a member stands: the gang stands back if its last try has
// failed not long ago, and those that had no node in it have found none since
// and are still members.
func (t *tries) standing(now time.Time, groups extpoints.Groups, g *model.Group, id string) standing {
	t.mu.Lock()
	defer t.mu.Unlock()
	try := t.byGang[g.ID]
	if try == nil || !now.Before(try.until) || !try.hopeless(groups, g) {
		return free
	}
	if _, failed := try.failed[id]; failed {
		return backForItself
	}
	return backForAnother
}

// hopeless reports whether too many members have failed for the rest to do.
// Those that are gone from the group do not count.
func (t *try) hopeless(groups extpoints.Groups, g *model.Group) bool {
	all, _ := groups.Members(g.ID)
	pending, placed := groups.Pending(g.ID), groups.Placed(g.ID)
	for id := range t.failed {
		if _, is := slices.BinarySearch(pending, id); is {
			all--
		} else if _, is := slices.BinarySearchFunc(placed, id, byID); is {
			all--
		}
	}
	return all < int(g.MinCount)
}

// fail notes that a member failed, and reports whether the try has failed with
// it; then the gang stands back until the given time.
func (t *tries) fail(now, until time.Time, groups extpoints.Groups, g *model.Group, id string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	try := t.note(now, groups, g, id)
	if !try.hopeless(groups, g) {
		return false
	}
	try.until = until
	return true
}

// miss notes that a member failed, and that the try goes on.
func (t *tries) miss(now time.Time, groups extpoints.Groups, g *model.Group, id string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.note(now, groups, g, id)
}

func (t *tries) note(now time.Time, groups extpoints.Groups, g *model.Group, id string) *try {
	try := t.byGang[g.ID]
	if try == nil {
		try = t.open(groups, g.ID)
	}
	try.renew(now)
	try.failed[id] = struct{}{}
	return try
}

// renew forgets who failed in the last try when the gang need not stand back
// any more: what was so then need not be so now.
func (t *try) renew(now time.Time) {
	if !t.until.IsZero() && !now.Before(t.until) {
		clear(t.failed)
		t.until = time.Time{}
	}
}

// untried lists the members without a node, apart from those that failed in this
// try.
func (t *tries) untried(now time.Time, groups extpoints.Groups, gang string) []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	pending, try := groups.Pending(gang), t.byGang[gang]
	if try == nil {
		return pending
	}
	try.renew(now)
	var list []string
	for _, id := range pending {
		if _, failed := try.failed[id]; !failed {
			list = append(list, id)
		}
	}
	return list
}

// open begins the book of a gang. From time to time it throws out those of gangs
// that have no members any more, so that they do not pile up.
func (t *tries) open(groups extpoints.Groups, gang string) *try {
	if t.byGang == nil {
		t.byGang = map[string]*try{}
	}
	sweep(groups, t.byGang, &t.swept)
	try := &try{failed: map[string]struct{}{}, dismissed: map[string]struct{}{}}
	t.byGang[gang] = try
	return try
}

// minSweep is how many entries are not worth a sweep.
const minSweep = 64

// sweep throws out the entries of groups without members when there are twice as
// many entries as after the last time.
func sweep[V any](groups extpoints.Groups, byGroup map[string]V, swept *int) {
	if len(byGroup) < minSweep || len(byGroup) < 2**swept {
		return
	}
	for id := range byGroup {
		if all, _ := groups.Members(id); all == 0 {
			delete(byGroup, id)
		}
	}
	*swept = len(byGroup)
}

// found notes that a member has a node.
func (t *tries) found(gang, id string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if try := t.byGang[gang]; try != nil {
		delete(try.failed, id)
		delete(try.dismissed, id)
	}
}

// dismiss notes that a member is rejected because of another.
func (t *tries) dismiss(gang, id string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if try := t.byGang[gang]; try != nil {
		try.dismissed[id] = struct{}{}
	}
}

// wasDismissed reports, once, whether that is why the member gives back its
// node.
func (t *tries) wasDismissed(gang, id string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	try := t.byGang[gang]
	if try == nil {
		return false
	}
	_, was := try.dismissed[id]
	delete(try.dismissed, id)
	return was
}

// end closes the book of a gang that is complete.
func (t *tries) end(gang string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.byGang, gang)
}

func byID(m extpoints.PlacedMember, id string) int { return strings.Compare(m.ID, id) }
