package backfill

import (
	"cmp"
	"slices"
	"time"

	"github.com/berth-project/berth/model"
)

// Want is what is to be placed: so many tasks that are alike, at the same moment.
type Want struct {
	Tasks    int64
	Requests model.Resources // of each task
	// Device, where not nil, is what each task wants of devices.
	Device *model.DeviceRequest
	// SameLabel, where not empty, is a label: all tasks go to nodes with the same
	// value of it.
	SameLabel string
}

// Running is a task that has a node.
type Running struct {
	// Ends is when it must have ended; zero: it need not.
	Ends     time.Time
	Requests *model.Resources
	Shares   []model.DeviceShare
}

// Timeline is the room that a node has from now on, if nothing more starts there.
type Timeline struct {
	node *model.Node
	now  Room
	last Room      // when all has ended that must
	ends []Running // by time
}

// NewTimeline is the timeline of a node with what runs there. The list stays the
// caller's.
func NewTimeline(n *model.Node, running []Running) *Timeline {
	t := &Timeline{node: n, now: NewRoom(n), last: NewRoom(n), ends: make([]Running, 0, len(running))}
	for _, k := range running {
		t.now.Take(k.Requests, k.Shares)
		if k.Ends.IsZero() {
			t.last.Take(k.Requests, k.Shares)
		} else {
			t.ends = append(t.ends, k)
		}
	}
	slices.SortStableFunc(t.ends, func(a, b Running) int { return a.Ends.Compare(b.Ends) })
	return t
}

// Fits is how many tasks of the want there is room for at the moment, at most so many.
func (t *Timeline) Fits(want *Want, at time.Time, most int64) int64 {
	room := t.now.clone()
	for _, k := range t.ends {
		if k.Ends.After(at) {
			break
		}
		room.give(k.Requests, k.Shares)
	}
	return room.Fits(want, most)
}

// Candidate is a node that will do.
type Candidate struct {
	*Timeline
	// Closes, where not zero, is the last moment to start something there.
	Closes time.Time
}

// Plan is when something fits, and where.
type Plan struct {
	At    time.Time
	Parts []Part // by name
}

// Part is how many of the tasks go to a node.
type Part struct {
	Node  string
	Tasks int64
}

// Earliest is the earliest moment, from now on, at which all that is wanted fits on
// the candidates; false if there is none. Where there is a choice it takes those
// nodes that have the room last, so that what has it by now is left to others, and
// then by name.
func Earliest(want *Want, now time.Time, nodes []Candidate) (Plan, bool) {
	if !enough(want, nodes) {
		return Plan{}, false
	}
	s := sweep{want: want, nodes: nodes, room: make([]int64, len(nodes)), since: make([]time.Time, len(nodes)), sums: map[string]int64{}}
	steps := stepsOf(want, now, nodes)
	for i := 0; i < len(steps); {
		at := steps[i].at
		var changed []string
		for ; i < len(steps) && steps[i].at.Equal(at); i++ {
			changed = append(changed, s.apply(&steps[i]))
		}
		changed = slices.DeleteFunc(changed, func(d string) bool { return s.sums[d] < want.Tasks })
		if len(changed) > 0 {
			return Plan{At: at, Parts: s.choose(slices.Min(changed))}, true
		}
	}
	return Plan{}, false
}

// domainOf is what tasks that are together have in common with the node; false where
// it has nothing of the sort.
func domainOf(want *Want, n *model.Node) (string, bool) {
	if want.SameLabel == "" {
		return "", true
	}
	d, ok := n.Labels[want.SameLabel]
	return d, ok
}

// enough reports whether the tasks would fit once all has ended that must. It is
// quick, and most that never fits is found by it.
func enough(want *Want, nodes []Candidate) bool {
	sums := map[string]int64{}
	for i := range nodes {
		if d, ok := domainOf(want, nodes[i].node); ok {
			if sums[d] += nodes[i].last.Fits(want, want.Tasks); sums[d] >= want.Tasks {
				return true
			}
		}
	}
	return false
}

// step is that a node has room for more tasks, or less, from a moment on.
type step struct {
	at   time.Time
	node int
	by   int64
}

// stepsOf are the steps of all nodes, by time.
func stepsOf(want *Want, now time.Time, nodes []Candidate) []step {
	var steps []step
	for i := range nodes {
		c := &nodes[i]
		if _, ok := domainOf(want, c.node); !ok || !c.Closes.IsZero() && c.Closes.Before(now) {
			continue
		}
		steps = c.steps(steps, want, now, i)
	}
	slices.SortStableFunc(steps, func(a, b step) int { return cmp.Or(a.at.Compare(b.at), a.node-b.node) })
	return steps
}

// steps adds those of one node.
func (c *Candidate) steps(steps []step, want *Want, now time.Time, node int) []step {
	room := c.now.clone()
	has := room.Fits(want, want.Tasks)
	if has > 0 {
		steps = append(steps, step{now, node, has})
	}
	for k := 0; k < len(c.ends) && has < want.Tasks; {
		at := c.ends[k].Ends
		if !c.Closes.IsZero() && at.After(c.Closes) {
			break
		}
		for ; k < len(c.ends) && c.ends[k].Ends.Equal(at); k++ {
			room.give(c.ends[k].Requests, c.ends[k].Shares)
		}
		if n := room.Fits(want, want.Tasks); n > has {
			steps = append(steps, step{later(at, now), node, n - has})
			has = n
		}
	}
	if !c.Closes.IsZero() && has > 0 {
		steps = append(steps, step{c.Closes.Add(1), node, -has})
	}
	return steps
}

func later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}

// sweep goes through the steps.
type sweep struct {
	want  *Want
	nodes []Candidate
	room  []int64     // tasks that fit on each node
	since []time.Time // since when
	sums  map[string]int64
}

// apply takes a step, and returns the domain that it is in.
func (s *sweep) apply(e *step) string {
	s.room[e.node] += e.by
	s.since[e.node] = e.at
	d, _ := domainOf(s.want, s.nodes[e.node].node)
	s.sums[d] += e.by
	return d
}

// choose chooses among the nodes of the domain that have room.
func (s *sweep) choose(domain string) []Part {
	var with []int
	for i, n := range s.room {
		if d, ok := domainOf(s.want, s.nodes[i].node); ok && d == domain && n > 0 {
			with = append(with, i)
		}
	}
	slices.SortFunc(with, func(a, b int) int {
		return cmp.Or(s.since[b].Compare(s.since[a]), cmp.Compare(s.nodes[a].node.Name, s.nodes[b].node.Name))
	})
	var parts []Part
	left := s.want.Tasks
	for _, i := range with {
		n := min(left, s.room[i])
		parts = append(parts, Part{Node: s.nodes[i].node.Name, Tasks: n})
		if left -= n; left == 0 {
			break
		}
	}
	slices.SortFunc(parts, func(a, b Part) int { return cmp.Compare(a.Node, b.Node) })
	return parts
}
