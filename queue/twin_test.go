package queue

import (
	"cmp"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// twin is the queue without any of its structures: flat lists, looked through
// from end to end each time, and a log that is never pruned. It is the
// specification, and [TestTwin] holds the queue against it.
type twin struct {
	cfg     config
	waiting []*twinItem
	flights []*twinItem
	log     []extpoints.Event
	parked  int // counts parkings, for their order
	arrived int // counts arrivals, for theirs
	moves   []Move
	groupTwin
}

type twinItem struct {
	pos     Position
	info    *extpoints.WorkloadInfo
	flushed time.Time
	order   int // of parking
	arrival int // the last one
	start   int // first event of the flight
	latest  *extpoints.WorkloadInfo
	deleted bool
	groupTwinItem
}

func find(list []*twinItem, id string) *twinItem {
	for _, it := range list {
		if it.pos.ID == id {
			return it
		}
	}
	return nil
}

func without(list []*twinItem, it *twinItem) []*twinItem {
	return slices.DeleteFunc(slices.Clone(list), func(o *twinItem) bool { return o == it })
}

// in lists what is in a place, in order.
func (t *twin) in(places ...Place) []*twinItem {
	var list []*twinItem
	for _, it := range t.waiting {
		if slices.Contains(places, it.pos.Place) {
			list = append(list, it)
		}
	}
	slices.SortFunc(list, func(a, b *twinItem) int {
		byBackoff := a.pos.BackoffExpiration.Compare(b.pos.BackoffExpiration)
		p, q := a.queued(), b.queued()
		byArrival := cmp.Or(cmp.Compare(a.arrival, b.arrival), cmp.Compare(a.pos.ID, b.pos.ID))
		byLess := cmp.Or(priorityAndAge(&p, &q), byArrival)
		switch a.pos.Place {
		case Active:
			return byLess
		case Backoff:
			if t.cfg.NoPopFromBackoff {
				return cmp.Or(byBackoff, byArrival)
			}
			return cmp.Or(byBackoff, byLess)
		case ErrorBackoff:
			return cmp.Or(byBackoff, byArrival)
		}
		return cmp.Compare(a.order, b.order)
	})
	return list
}

// priorityAndAge calls many equal, whose order is that of arrival.
func priorityAndAge(a, b *extpoints.Queued) int {
	return cmp.Or(-cmp.Compare(a.Priority, b.Priority), a.Timestamp.Compare(b.Timestamp))
}

func (t *twin) arrive(it *twinItem, now time.Time) {
	t.arrived++
	it.arrival, it.pos.Timestamp = t.arrived, now
}

func (t *twin) to(it *twinItem, p Place, e extpoints.ClusterEvent, plugin string, at time.Time) {
	if it.group != nil {
		for _, m := range it.sorted() {
			t.tell(m, p, e, plugin, at)
		}
		it.pos.Place = p
	} else {
		t.tell(it, p, e, plugin, at)
	}
	t.waiting = without(t.waiting, it)
	switch p {
	case None, InFlight:
	case Unschedulable, Gated:
		t.parked++
		it.order = t.parked
		fallthrough
	default:
		t.waiting = append(t.waiting, it)
	}
}

func (t *twin) tell(it *twinItem, p Place, e extpoints.ClusterEvent, plugin string, at time.Time) {
	from := it.pos.Place
	it.pos.Place = p
	if from != p {
		t.moves = append(t.moves, Move{ID: it.pos.ID, Group: it.treeID(), From: from, To: p, Event: e, Plugin: plugin, At: at})
	}
}

func (t *twin) label(s string) extpoints.ClusterEvent { return extpoints.ClusterEvent{Label: s} }

// gated asks the gates.
func (t *twin) gated(it *twinItem) bool {
	if it.group != nil {
		return t.anyGated(it)
	}
	gates := slices.Clone(t.cfg.PreEnqueue[it.info.Profile])
	slices.SortStableFunc(gates, func(a, b extpoints.PreEnqueuePlugin) int {
		rank := func(p extpoints.PreEnqueuePlugin) int {
			if p.Name() == it.pos.GatingPlugin {
				return 0
			}
			return 1
		}
		return rank(a) - rank(b)
	})
	for _, g := range gates {
		if st := g.PreEnqueue(it.info.Workload); !st.IsSuccess() {
			it.pos.GatingPlugin, it.pos.Gate = g.Name(), st.WithPlugin(g.Name())
			it.pos.Flushed = false
			if !slices.Contains(it.pos.UnschedulablePlugins, g.Name()) {
				it.pos.UnschedulablePlugins = append(it.pos.UnschedulablePlugins, g.Name())
			}
			return true
		}
	}
	it.pos.GatingPlugin, it.pos.Gate = "", nil
	return false
}

func (t *twin) active(it *twinItem, ask bool, e extpoints.ClusterEvent, plugin string, now time.Time) {
	if ask && t.gated(it) {
		t.to(it, Gated, e, it.pos.GatingPlugin, now)
		return
	}
	t.to(it, Active, e, plugin, now)
}

func (t *twin) requeue(it *twinItem, v verdict, e extpoints.ClusterEvent, plugin string, now time.Time) {
	window := now
	if !t.cfg.NoPopFromBackoff {
		window = now.Truncate(time.Second)
	}
	if v == skip {
		t.to(it, parkedPlace(it), e, plugin, now)
		return
	}
	if v == immediately || it.pos.BackoffExpiration.IsZero() || it.pos.BackoffExpiration.Before(window) {
		t.active(it, true, e, plugin, now)
		return
	}
	if !t.cfg.NoPopFromBackoff && t.gated(it) {
		t.to(it, Gated, e, it.pos.GatingPlugin, now)
		return
	}
	place := Backoff
	if len(it.pos.UnschedulablePlugins)+len(it.pos.PendingPlugins) == 0 {
		place = ErrorBackoff
	}
	t.to(it, place, e, plugin, now)
}

// interesting reports whether some plugin of some profile asked for the event.
func (t *twin) interesting(e extpoints.ClusterEvent) bool {
	for _, plugins := range t.cfg.Hints {
		for _, p := range plugins {
			if asked(p, e) {
				return true
			}
		}
	}
	return e.IsWildcard()
}

func asked(p PluginHints, e extpoints.ClusterEvent) bool {
	return slices.ContainsFunc(p.Events, func(h extpoints.EventHint) bool { return h.Event.Matches(e) })
}

func (t *twin) worth(it *twinItem, c *extpoints.Event) (verdict, string) {
	if it.group != nil {
		return t.worthToAny(it, c)
	}
	p := it.pos
	if len(p.UnschedulablePlugins)+len(p.PendingPlugins) == 0 {
		return afterBackoff, ""
	}
	if c.ClusterEvent.IsWildcard() {
		if c.NewNode != nil || c.NewWorkload != nil && c.NewWorkload.ID != p.ID {
			return skip, ""
		}
		return afterBackoff, ""
	}
	plugins, ok := t.cfg.Hints[it.info.Profile]
	if !ok {
		return afterBackoff, ""
	}
	yes := map[string]bool{}
	for _, pl := range plugins {
		for _, h := range pl.Events {
			if h.Event.Matches(c.ClusterEvent) {
				hint := extpoints.HintQueue
				var err error
				if h.Hint != nil {
					hint, err = h.Hint(it.info.Workload, c)
				}
				yes[pl.Plugin] = yes[pl.Plugin] || hint == extpoints.HintQueue || err != nil
			}
		}
	}
	for _, name := range p.PendingPlugins {
		if yes[name] {
			return immediately, name
		}
	}
	for _, name := range p.UnschedulablePlugins {
		if yes[name] {
			return afterBackoff, name
		}
	}
	return skip, ""
}

func (t *twin) add(now time.Time, w *extpoints.WorkloadInfo) {
	if old := t.seek(w.ID); old != nil {
		t.drop(old, now)
	}
	it := &twinItem{info: w}
	it.pos = Position{ID: w.ID, AddedAt: now}
	t.arrive(it, now)
	if t.isMember(w) {
		t.join(it, WorkloadAdded, now)
		return
	}
	t.active(it, true, WorkloadAdded, "", now)
}

func (t *twin) pop(now time.Time) string {
	for {
		list, label := t.in(Active), popped
		if len(list) == 0 && !t.cfg.NoPopFromBackoff {
			list, label = t.in(Backoff), PopFromBackoffQ
		}
		if len(list) == 0 {
			return ""
		}
		it := list[0]
		it.pos.Attempts++
		if it.group != nil {
			if t.launch(it, label, now) {
				return it.pos.ID
			}
			continue
		}
		if f := find(t.flights, it.pos.ID); f != nil {
			f.latest, f.deleted = it.info, false
			t.to(it, None, t.label(discarded), "", now)
			continue
		}
		it.start, it.latest, it.deleted = len(t.log), it.info, false
		t.flights = append(t.flights, it)
		t.to(it, InFlight, t.label(label), "", now)
		return it.pos.ID
	}
}

func (t *twin) done(id string) {
	if f := find(t.flights, id); f != nil {
		t.flights = without(t.flights, f)
		t.to(f, None, t.label(finished), "", time.Time{})
	}
}

func (t *twin) delete(id string) {
	it := t.seek(id)
	if it != nil {
		t.drop(it, time.Time{})
	}
	if f := find(t.flights, id); f != nil {
		f.deleted = true
		if tree := t.treeOf(f.latest); tree != nil && it == nil {
			t.again(tree, t.label(Deleted), time.Time{})
		}
	}
}

func (t *twin) fail(now time.Time, it *twinItem, rejected, pending []string) {
	f := find(t.flights, it.pos.ID)
	if t.seek(it.pos.ID) != nil || f != nil && f.deleted {
		t.done(it.pos.ID)
		return
	}
	if f != nil {
		it.info = f.latest
	}
	p := &it.pos
	p.UnschedulablePlugins, p.PendingPlugins = rejected, pending
	p.GatingPlugin, p.Gate, p.Flushed, it.flushed = "", nil, false, time.Time{}
	count := 0
	if len(rejected)+len(pending) == 0 {
		p.ConsecutiveErrors++
		count = p.ConsecutiveErrors
	} else {
		p.UnschedulableCount++
		p.ConsecutiveErrors = 0
		count = p.UnschedulableCount
	}
	t.arrive(it, now)
	if t.isMember(it.info) {
		t.flights = without(t.flights, f)
		p.BackoffExpiration = time.Time{}
		t.join(it, t.label(ScheduleAttemptFailure), now)
		return
	}
	it.tree = nil
	p.BackoffExpiration = t.backoff(now, count, 1)
	best, by := skip, ""
	if f == nil || len(rejected)+len(pending) == 0 {
		best = afterBackoff
	} else {
		for i := range t.log[f.start:] {
			if v, plugin := t.worth(it, &t.log[f.start:][i]); v > best {
				best, by = v, plugin
			}
		}
	}
	if f != nil {
		t.flights = without(t.flights, f)
	}
	t.requeue(it, best, t.label(ScheduleAttemptFailure), by, now)
}

// backoff is when it ends after the count-th failure of so many members.
func (t *twin) backoff(now time.Time, count, members int) time.Time {
	if t.cfg.MaxBackoff == NoBackoff {
		return time.Time{}
	}
	backoff, longest := t.cfg.InitialBackoff, time.Duration(float64(t.cfg.MaxBackoff)*math.Sqrt(float64(members)))
	for range count - 1 {
		backoff = min(2*backoff, longest)
	}
	if t.cfg.NoPopFromBackoff {
		return now.Add(backoff)
	}
	return now.Add(backoff).Truncate(time.Second)
}

func (t *twin) update(now time.Time, old, new *extpoints.WorkloadInfo) {
	events := extpoints.EventsForWorkloadUpdate(old.Workload, new.Workload, extpoints.TargetWorkload)
	if !old.SameDemands(new.Workload) || len(old.Tolerations) == len(new.Tolerations) && !slices.Equal(old.Tolerations, new.Tolerations) {
		events = []extpoints.ClusterEvent{everything(DemandsChanged)}
	}
	change := func(e extpoints.ClusterEvent) extpoints.Event {
		return extpoints.Event{ClusterEvent: e, OldWorkload: old, NewWorkload: new}
	}
	if f := find(t.flights, new.ID); f != nil {
		f.latest = new
		for _, e := range events {
			t.log = append(t.log, change(e))
		}
		return
	}
	it := t.seek(new.ID)
	if it == nil || it.waits != t.isMember(new) || it.waits && it.info.Group != new.Group {
		t.add(now, new)
		return
	}
	profile := it.info.Profile
	it.info = new
	if it.waits && it.tree != nil {
		it = it.tree // its place is what matters
	}
	if it.pos.Place != Unschedulable && it.pos.Place != Gated {
		return
	}
	if profile != new.Profile {
		t.to(it, it.pos.Place, extpoints.ClusterEvent{}, "", now)
	}
	for _, e := range events {
		c := change(e)
		if v, plugin := t.worth(it, &c); v != skip {
			t.requeue(it, v, e, plugin, now)
		}
		if it.pos.Place != Unschedulable && it.pos.Place != Gated {
			return
		}
	}
}

func (t *twin) move(now time.Time, c *extpoints.Event, preCheck func(*model.Workload) bool) {
	if !t.interesting(c.ClusterEvent) {
		return
	}
	for _, it := range t.in(Unschedulable, Gated) {
		if preCheck != nil && !it.any(preCheck) {
			continue
		}
		if it.pos.Place == Gated && !c.ClusterEvent.IsWildcard() {
			opens := false
			for _, plugins := range t.cfg.Hints {
				for _, p := range plugins {
					opens = opens || p.Plugin == it.pos.GatingPlugin && asked(p, c.ClusterEvent)
				}
			}
			if !opens {
				continue
			}
		}
		if v, plugin := t.worth(it, c); v != skip {
			t.requeue(it, v, c.ClusterEvent, plugin, now)
		}
	}
	if len(t.flights) > 0 {
		t.log = append(t.log, *c)
	}
}

func (t *twin) activate(now time.Time, id string) {
	if it := t.reach(id); it != nil && it.pos.Place != Active {
		fromBackoff := it.pos.Place == Backoff || it.pos.Place == ErrorBackoff
		t.active(it, !fromBackoff || t.cfg.NoPopFromBackoff, t.label(ForceActivate), "", now)
	} else if f := find(t.flights, id); f != nil {
		t.log = append(t.log, extpoints.Event{ClusterEvent: everything(ForceActivate), NewWorkload: f.latest})
	}
}

func (t *twin) retry(now time.Time, id string) {
	it := t.seek(id)
	if it != nil && it.waits {
		it = it.tree
	}
	if it == nil || it.pos.Place != Unschedulable && it.pos.Place != Gated {
		return
	}
	p := &it.pos
	p.UnschedulablePlugins, p.PendingPlugins, p.GatingPlugin, p.Gate = nil, nil, "", nil
	t.arrive(it, now)
	p.BackoffExpiration = time.Time{}
	if count := cmp.Or(p.ConsecutiveErrors, p.UnschedulableCount); count > 0 {
		p.BackoffExpiration = t.backoff(now, count, max(1, len(it.members)))
	}
	t.requeue(it, afterBackoff, t.label(EvictionFailed), "", now)
}

func (t *twin) tick(now time.Time) {
	for _, it := range append(t.in(Backoff), t.in(ErrorBackoff)...) {
		if it.pos.BackoffExpiration.Before(now.Truncate(time.Second)) {
			t.active(it, t.cfg.NoPopFromBackoff, t.label(BackoffComplete), "", now)
		}
	}
	list := t.in(Unschedulable, Gated)
	slices.SortStableFunc(list, func(a, b *twinItem) int { return a.since().Compare(b.since()) })
	woken := false
	for _, it := range list {
		if now.Truncate(30*time.Second).Sub(it.since()) > 5*time.Minute {
			woken = true
			it.setFlushed(true)
			it.flushed = now
			t.requeue(it, afterBackoff, t.label(UnschedulableTimeout), "", now)
		}
	}
	if woken && len(t.flights) > 0 {
		t.log = append(t.log, extpoints.Event{ClusterEvent: everything(UnschedulableTimeout)})
	}
}

func (it *twinItem) since() time.Time {
	if it.flushed.After(it.pos.Timestamp) {
		return it.flushed
	}
	return it.pos.Timestamp
}

// due finds the next time at which tick would do something by trying out every
// second.
func (t *twin) due(now time.Time) (time.Time, bool) {
	var ends []time.Time
	for _, it := range t.in(Backoff, ErrorBackoff) {
		for at := it.pos.BackoffExpiration.Truncate(time.Second); ; at = at.Add(time.Second) {
			if it.pos.BackoffExpiration.Before(at) {
				ends = append(ends, at)
				break
			}
		}
	}
	for _, it := range t.in(Unschedulable, Gated) {
		for at := it.since().Truncate(30 * time.Second); ; at = at.Add(30 * time.Second) {
			if at.Sub(it.since()) > 5*time.Minute {
				ends = append(ends, at)
				break
			}
		}
	}
	if len(ends) == 0 {
		return time.Time{}, false
	}
	due := slices.MinFunc(ends, time.Time.Compare)
	if due.Before(now) {
		due = now
	}
	return due, true
}

// world is what the random plugins of the test look at.
type world struct {
	shut   map[string]bool // gate and workload
	groups groupMap
}

type randomGate struct {
	*world
	name string
}

func (g randomGate) Name() string { return g.name }

func (g randomGate) PreEnqueue(w *model.Workload) *extpoints.Status {
	if g.shut[g.name+w.ID] {
		return extpoints.NewStatus(extpoints.Unschedulable, g.name+" is shut")
	}
	return nil
}

// randomHint answers whatever, but always the same to the same question.
func randomHint(plugin string) extpoints.HintFunc {
	return func(w *model.Workload, c *extpoints.Event) (extpoints.Hint, error) {
		h := fnv.New32()
		fmt.Fprint(h, plugin, w.ID, w.Labels, c.ClusterEvent)
		switch h.Sum32() % 8 {
		case 0, 1, 2:
			return extpoints.HintQueue, nil
		case 3:
			return extpoints.HintSkip, errors.New("no idea")
		}
		return extpoints.HintSkip, nil
	}
}

var randomEvents = []extpoints.ClusterEvent{
	{Resource: extpoints.NodeResource, Action: extpoints.Add},
	{Resource: extpoints.NodeResource, Action: extpoints.UpdateNodeTaint},
	{Resource: extpoints.NodeResource, Action: extpoints.UpdateNodeLabel},
	{Resource: extpoints.AssignedWorkload, Action: extpoints.Delete},
	{Resource: extpoints.UnscheduledWorkload, Action: extpoints.Add},
	{Resource: extpoints.TargetWorkload, Action: extpoints.UpdateWorkloadLabel},
	{Resource: extpoints.TargetWorkload, Action: extpoints.UpdateWorkloadGatesEliminated},
	{Resource: extpoints.GroupResource, Action: extpoints.Update},
	{Resource: extpoints.AnyResource, Action: extpoints.AllActions},
}

// randomConfig makes profiles a and b with random registrations; a third one is
// left without.
func randomConfig(r *rand.Rand, w *world) config {
	cfg := config{
		Timing: Timing{NoPopFromBackoff: r.IntN(4) == 0}.WithDefaults(),
		Compat: extpoints.Compat(r.IntN(2)),
		Hooks: Hooks{
			Less: func(a, b *extpoints.Queued) bool {
				return priorityAndAge(a, b) < 0
			},
			AsGroups:   map[string]bool{"a": true, "b": true},
			Groups:     func() GroupTrees { return w.groups },
			PreEnqueue: map[string][]extpoints.PreEnqueuePlugin{},
			Hints:      map[string][]PluginHints{},
		},
	}
	if r.IntN(8) == 0 {
		cfg.MaxBackoff = NoBackoff
	}
	for _, profile := range []string{"a", "b"} {
		for _, name := range []string{"G", "H"} {
			if r.IntN(3) > 0 {
				cfg.PreEnqueue[profile] = append(cfg.PreEnqueue[profile], randomGate{w, name})
			}
		}
		for _, name := range []string{"G", "H", "P", "Q", "R"} {
			h := PluginHints{Plugin: name}
			for range r.IntN(4) {
				e := extpoints.EventHint{Event: randomEvents[r.IntN(len(randomEvents)-1)], Hint: randomHint(name)}
				switch r.IntN(8) {
				case 0:
					e.Event.Action = extpoints.Update
				case 1:
					e.Event = extpoints.ClusterEvent{Resource: extpoints.AnyWorkload, Action: extpoints.AllActions}
				case 2:
					e.Hint = nil
				}
				h.Events = append(h.Events, e)
			}
			cfg.Hints[profile] = append(cfg.Hints[profile], h)
		}
		if r.IntN(6) == 0 {
			cfg.Hints[profile][r.IntN(5)].Events = []extpoints.EventHint{{Event: everything(""), Hint: randomHint("all")}}
		}
	}
	return cfg
}

// TestTwin does random things to the queue and to its twin, and compares
// everything that can be seen after each.
func TestTwin(t *testing.T) {
	rounds := 100
	if testing.Short() {
		rounds = 10
	}
	for _, s := range seeds(t, rounds) {
		playTwins(t, s)
		if t.Failed() {
			return
		}
	}
}

func playTwins(t *testing.T, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 0))
	w := &world{shut: map[string]bool{}, groups: groupMap{}}
	grouped := r.IntN(4) > 0
	cfg := randomConfig(r, w)
	dumb := &twin{cfg: cfg, groupTwin: groupTwin{trees: map[string]*twinItem{}}}
	var moves []Move
	cfg.OnMove = func(m Move) { moves = append(moves, m) }
	q, err := New(cfg.Timing, cfg.Compat, cfg.Hooks)
	if err != nil {
		t.Fatal(err)
	}
	now := start
	const ids = 10
	know := map[string]*extpoints.WorkloadInfo{}
	items, twins := map[string]*Item{}, map[string]*twinItem{}
	subset := func() []string {
		var s []string
		for _, p := range []string{"P", "Q", "R"} {
			if r.IntN(3) == 0 {
				s = append(s, p)
			}
		}
		return s
	}
	for step := range 300 {
		now = now.Add(time.Millisecond) // so that no two backoffs end together
		id := string(rune('a' + r.IntN(ids)))
		did := ""
		switch op := r.IntN(23); {
		case op < 3:
			did = "add " + id
			if dumb.seek(id) != nil && r.IntN(10) > 0 {
				continue
			}
			know[id] = randomVersion(r, id, nil, grouped)
			q.Add(now, know[id])
			dumb.add(now, know[id])
		case op < 7:
			did = "pop"
			got := ""
			it, ok := q.Pop(now)
			if ok {
				got = it.ID()
				items[got] = it
				for _, m := range it.Members {
					items[m.ID()] = m
				}
			}
			if want := dumb.pop(now); got != want {
				t.Errorf("seed %d, step %d: popped %q, want %q", seed, step, got, want)
				return
			}
			for _, f := range dumb.flights {
				twins[f.pos.ID] = f
			}
			if got != "" && it.Group != nil && treeText(it.Tree) != dumb.trees[got].text {
				t.Errorf("seed %d, step %d: popped %s, want %s", seed, step, treeText(it.Tree), dumb.trees[got].text)
			}
		case op < 11:
			if items[id] == nil || items[id].place != InFlight && (items[id].place != None || r.IntN(4) > 0) {
				continue
			}
			a, b := subset(), subset()
			did = fmt.Sprint("fail ", id, a, b)
			q.AddUnschedulable(now, items[id], a, b)
			dumb.fail(now, twins[id], slices.Clone(a), slices.Clone(b))
		case op < 12:
			if r.IntN(3) == 0 {
				did = "done " + id
				q.Done(id)
				dumb.done(id)
			} else if r.IntN(2) == 0 {
				did = "delete " + id
				q.Delete(id)
				dumb.delete(id)
			}
		case op < 14:
			if know[id] == nil {
				continue
			}
			did = "update " + id
			old := know[id]
			know[id] = randomVersion(r, id, old, grouped)
			q.Update(now, old, know[id])
			dumb.update(now, old, know[id])
		case op < 15:
			if r.IntN(3) == 0 {
				did = "retry " + id
				q.Retry(now, id, EvictionFailed)
				dumb.retry(now, id)
				break
			}
			did = "activate " + id
			q.Activate(now, id)
			dumb.activate(now, id)
		case op < 17:
			c := &extpoints.Event{ClusterEvent: randomEvents[r.IntN(len(randomEvents))]}
			if r.IntN(2) == 0 {
				c.NewWorkload = know[id]
			}
			var check func(*model.Workload) bool
			if limit := int32(r.IntN(6)); limit < 3 {
				check = func(w *model.Workload) bool { return w.Priority <= limit }
			}
			did = fmt.Sprintf("move %+v", c)
			q.Move(now, c, check)
			dumb.move(now, c, check)
		case op < 19 && grouped:
			did = playGroup(r, q, dumb, now, items)
		case op < 20:
			key := []string{"G", "H"}[r.IntN(2)] + id
			w.shut[key] = !w.shut[key]
		default:
			now = now.Add(time.Duration(r.IntN(3000)) * time.Millisecond)
			if r.IntN(12) == 0 {
				now = now.Add(time.Duration(r.IntN(6)) * time.Minute)
			}
			if r.IntN(3) > 0 {
				did = "tick"
				q.Tick(now)
				dumb.tick(now)
			}
		}
		if diff := difference(q, dumb, moves, now, ids); diff != "" {
			t.Errorf("seed %d (use -seed), step %d, %s: %s", seed, step, did, diff)
			return
		}
		moves, dumb.moves = moves[:0], nil
	}
}

func randomVersion(r *rand.Rand, id string, old *extpoints.WorkloadInfo, grouped bool) *extpoints.WorkloadInfo {
	w := model.Workload{ID: id, Profile: []string{"a", "a", "b", "c"}[r.IntN(4)], Priority: int32(r.IntN(4))}
	if grouped {
		w.Group = []string{"", "K", "K", "L", "M"}[r.IntN(5)]
	}
	if old != nil {
		w = *old.Workload
	}
	switch r.IntN(6) {
	case 0:
		w.Labels = map[string]string{"x": fmt.Sprint(r.IntN(3))}
	case 1:
		w.Requests.CPU = r.Int64N(3)
	case 2:
		w.Gates = []string{"x"}[:r.IntN(2)]
	case 3:
		w.Tolerations = make([]model.Toleration, r.IntN(2))
	case 4:
		w.Priority = int32(r.IntN(4))
	case 5:
		w.Profile = []string{"a", "b", "c"}[r.IntN(3)]
	}
	return &extpoints.WorkloadInfo{Workload: &w}
}

// difference says where the queue and its twin are not the same.
func difference(q *Queue, dumb *twin, moves []Move, now time.Time, ids int) string {
	byEnd(moves)
	byEnd(dumb.moves)
	if !slices.Equal(moves, dumb.moves) {
		return fmt.Sprintf("moves\n%+v, want\n%+v", moves, dumb.moves)
	}
	for i := range ids {
		id := string(rune('a' + i))
		got, _ := q.Position(id)
		var want Position
		if it := cmp.Or(dumb.seek(id), find(dumb.flights, id)); it != nil {
			want = it.position()
		}
		got.Gate, want.Gate = textOf(got.Gate), textOf(want.Gate)
		if !reflect.DeepEqual(got, want) {
			return fmt.Sprintf("position\n%+v, want\n%+v", got, want)
		}
	}
	counts := Counts{InFlight: len(dumb.flights)}
	for p, n := range map[Place]*int{Active: &counts.Active, Backoff: &counts.Backoff, ErrorBackoff: &counts.ErrorBackoff,
		Unschedulable: &counts.Unschedulable, Gated: &counts.Gated} {
		list := dumb.in(p)
		for _, it := range list {
			*n += max(1, len(it.members))
		}
		got, want := names(q.listed(p), (*Item).ID), names(list, func(it *twinItem) string { return it.pos.ID })
		if !slices.Equal(got, want) {
			return fmt.Sprintf("%s: %v, want %v", p, got, want)
		}
	}
	if diff := groupDifference(q, dumb, &counts); diff != "" {
		return diff
	}
	if len(dumb.flights) > 0 {
		counts.Events = len(dumb.log) - dumb.flights[0].start
	}
	if got := q.Counts(); got != counts {
		return fmt.Sprintf("counts %+v, want %+v", got, counts)
	}
	got, ok := q.NextDue(now)
	want, wantOK := dumb.due(now)
	if !got.Equal(want) || ok != wantOK {
		return fmt.Sprintf("due %v %v, want %v %v", got, ok, want, wantOK)
	}
	return ""
}

// byEnd sorts what leaves backoff together: where backoffs end in the same
// window the order is that of the heap, which the twin does not know.
func byEnd(moves []Move) {
	n := 0
	for n < len(moves) && moves[n].Event.Label == BackoffComplete {
		n++
	}
	slices.SortFunc(moves[:n], func(a, b Move) int { return cmp.Compare(a.ID, b.ID) })
}

func names[T any](list []T, name func(T) string) []string {
	var s []string
	for _, it := range list {
		s = append(s, name(it))
	}
	return s
}

// textOf reduces a status to what it says.
func textOf(s *extpoints.Status) *extpoints.Status {
	if s == nil {
		return nil
	}
	return extpoints.NewStatus(extpoints.Unschedulable, s.String())
}
