package engine_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/engine/internal/timeline"
	"github.com/berth-project/berth/queue"
)

// reserved says what the reservations are.
func reserved(list []timeline.Reservation) (lines []string) {
	for i := range list {
		line := fmt.Sprintf("%s at %s:", list[i].ID(), list[i].At.Sub(epoch))
		for _, p := range list[i].Places {
			line += fmt.Sprintf(" %s on %s", p.ID, p.Node)
		}
		lines = append(lines, line)
	}
	return lines
}

// No reservation is put off without a cause: a node was lost or changed, somebody else put something
// somewhere, a limit passed, or the workload itself, or one before it, came or is another now. By
// queues it may also be passed by others, since shares change with each start and end.
func TestReservationsAreKept(t *testing.T) {
	oneGoroutine(t)
	for i, how := range someModes(1) {
		for _, seed := range append(seeds(t, 8), 11, 17, 91) {
			requireKept(t, seed*100+uint64(i), how)
		}
	}
}

// requireKept watches one history.
func requireKept(t *testing.T, seed uint64, how plannedWay) {
	t.Helper()
	h := newPlannedHistory(t, seed, how, 1)
	k := keptWatch{plannedHistory: h, overtaken: map[string]bool{}}
	if how.by == engine.OrderByQueues {
		h.watch = k.look
	}
	for range 50 {
		h.step()
		k.look()
	}
}

// keptWatch looks whether reservations are kept.
type keptWatch struct {
	*plannedHistory
	before map[string]time.Time
	turns  map[string]map[string]bool
	// overtaken are those that something has passed since their reservation was last another.
	overtaken map[string]bool
}

func (k *keptWatch) look() {
	k.Helper()
	list := k.r.Replan(k.now)
	byQueues, turns := k.how.by == engine.OrderByQueues, k.plannedHistory.turns()
	after := map[string]time.Time{}
	for i := range list {
		id, at := list[i].ID(), list[i].At
		after[id] = at
		was, had := k.before[id]
		if passed(id, k.turns, turns) {
			k.overtaken[id] = true
		}
		if had && at.After(was) {
			require.True(k, k.cause(id) || byQueues && k.overtaken[id] || k.wentAhead(id) || k.within(id, at), "seed %d, %v: %s was to start at %v, and now at %v, at %v\n%q",
				k.seed, k.how, id, was.Sub(epoch), at.Sub(epoch), k.now.Sub(epoch), reserved(list))
			p, ok := k.r.Promise(id)
			require.True(k, ok)
			anew := p.First.Equal(at) // it started meanwhile, and came back
			require.True(k, k.cause(id) || anew || len(p.Causes) > 0, "seed %d, %v: %s was put off at %v", k.seed, k.how, id, k.now.Sub(epoch))
		}
		if !had || !at.Equal(was) || k.how.Every == 0 {
			delete(k.overtaken, id)
		}
	}
	k.before, k.turns = after, turns
}

// within reports whether that is still as it was promised first, and for something that has started.
func (k *keptWatch) within(id string, at time.Time) bool {
	p, _ := k.r.Promise(id)
	return k.how.Slack && !at.After(p.First) && slices.ContainsFunc(p.Causes, func(c engine.PromiseCause) bool {
		return c.Reason == engine.SomethingAhead && !k.waits(c.Name)
	})
}

// wentAhead reports whether the cause is that something before the one started for which no time was
// found before, or is another now: by queues anything may be before it by now, or it is a quota of a
// queue; else that is a gang, whose members are placed one after the other, each where the first will do.
func (k *keptWatch) wentAhead(id string) bool {
	p, _ := k.r.Promise(id)
	return slices.ContainsFunc(p.Causes, func(c engine.PromiseCause) bool {
		if c.Reason != engine.SomethingAhead || c.Name == id {
			return c.Reason == engine.HeldBack
		}
		if k.how.by == engine.OrderByQueues {
			return !k.waits(c.Name) || k.plannedHistory.turns()[id][c.Name]
		}
		w, lone := k.r.View().Workload(c.Name)
		return !lone || w.Group != ""
	})
}

// waits reports whether something waits for room.
func (h *plannedHistory) waits(id string) bool {
	return slices.ContainsFunc(h.r.Tried(), func(it *queue.Item) bool { return it.ID() == id })
}

// cause reports whether something has happened in the last step for which what waits may be put off.
func (h *plannedHistory) cause(id string) bool {
	if h.happens.cluster || h.happens.late || h.happens.arrived[id] {
		return true
	}
	waiting := h.r.Tried()
	i := slices.IndexFunc(waiting, func(it *queue.Item) bool { return it.ID() == id })
	if i < 0 {
		return false
	}
	mine := priorityOf(waiting[i])
	for other := range h.happens.arrived {
		if j := h.jobs[other]; j != nil && j.Priority > mine {
			return true
		}
		if slices.ContainsFunc(waiting[:i], func(it *queue.Item) bool { return it.ID() == other }) {
			return true
		}
		for _, j := range h.jobs {
			if j.Group == other && j.Priority > mine {
				return true
			}
		}
	}
	return false
}

func priorityOf(it *queue.Item) int32 {
	if it.Group != nil {
		return it.Group.Priority
	}
	return it.Workload.Priority
}

// Where one has a reservation, it starts by the latest planned end as of when it became the first; where
// plans stay for a while, as of when the next one was made. Where several have one, others may have been
// promised what is free before, when one becomes the first: then it starts as it was promised.
func TestTheFirstStartsByTheLatestPlannedEnd(t *testing.T) {
	t.Parallel()
	for i, how := range someModes(1) {
		for _, seed := range seeds(t, 8) {
			h := newPlannedHistory(t, seed*100+uint64(i), how, 1)
			several := how.Mode == engine.Reservations || how.Mode == engine.Conservative
			if !h.calm || several || how.by == engine.OrderByQueues || how.holds {
				continue // by queues others may come before it for ever, and holds may come in its way
			}
			first, since, by := "", time.Time{}, time.Time{}
			for range 60 {
				h.step()
				list := h.r.Replan(h.now)
				if len(list) == 0 {
					first = ""
					continue
				}
				id := list[0].ID()
				if id != first {
					first, since = id, h.now
				}
				young := how.Every > 0 && !h.now.After(since.Add(how.Every))
				p, _ := h.r.Promise(id)
				moved := p.MovedAt.Equal(h.now) && len(p.Causes) > 0 // something before it fits now
				if since.Equal(h.now) || h.cause(id) || moved || young {
					by = h.now
					for _, j := range h.jobs {
						if end := j.start.Add(j.Limit); j.node != "" && end.After(by) {
							by = end
						}
					}
				}
				if young {
					continue
				}
				require.False(t, list[0].At.After(by), "seed %d, %v: %s became the first when all would have ended at %v, and is to start at %v",
					h.seed, how, first, by.Sub(epoch), list[0].At.Sub(epoch))
				require.False(t, h.now.After(by), "seed %d, %v: %s has not started", h.seed, how, first)
			}
		}
	}
}

// Nothing waits that could start now and plainly delays nobody: it fits on a node, on a branch, and has
// ended before any reservation of others begins, or, where nodes do not depend on each other, none
// of them is on that node.
func TestNothingWaitsThatDelaysNobody(t *testing.T) {
	oneGoroutine(t)
	looked := map[engine.Order]int{}
	for i, how := range someModes(1) {
		if how.Mode == engine.InOrder {
			continue
		}
		for _, seed := range append(seeds(t, 8), 143) {
			h := newPlannedHistory(t, seed*100+uint64(i), how, 1)
			for range 40 {
				h.step()
				list := h.r.Reservations()
				for _, it := range h.r.Tried() {
					if it.Group == nil && !h.heldBack(it.ID()) {
						looked[how.by] += h.requireNoPlace(it, list)
					}
				}
			}
		}
	}
	require.Positive(t, looked[engine.OrderBySort])
	require.Positive(t, looked[engine.OrderByQueues])
}

// requireNoPlace looks at each node on which the workload fits now, and returns on how many it does.
func (h *plannedHistory) requireNoPlace(it *queue.Item, list []timeline.Reservation) (fits int) {
	h.Helper()
	w := h.jobs[it.ID()].Workload
	for _, node := range h.nodes {
		b := h.r.Branch()
		there := *w
		if name, other := w.NodeSelector[historyName]; other && name != node {
			continue
		}
		there.NodeSelector = map[string]string{historyName: node}
		require.NoError(h, b.Apply(h.now, engine.Update(&there)))
		d, err := b.Schedule(h.now, w.ID)
		require.NoError(h, err)
		if !d.Placed() {
			continue
		}
		fits++
		harmless := true
		for i := range list {
			r := &list[i]
			mine := func(p timeline.Place) bool { return p.Node == node }
			switch {
			case r.ID() == w.ID:
			case w.Limit > 0 && !h.now.Add(w.Limit).After(r.At):
			case h.apart && !slices.ContainsFunc(r.Places, mine):
			default:
				harmless = false
			}
		}
		require.False(h, harmless, "seed %d, %v, at %v: %s waits and could start on %s\n%q", h.seed, h.how, h.now.Sub(epoch), w.ID, node, reserved(list))
	}
	return fits
}
