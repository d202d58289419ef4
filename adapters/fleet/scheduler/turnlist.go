package scheduler

import (
	"maps"
	"slices"
	"strings"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
	"github.com/berth-project/berth/adapters/fleet/state"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/queue"
)

// Order lists elements that the engine has and that wait, in the order of their turns: of
// owners whom keep lets through, and no more than most. Waiting is how many there are of all
// owners. Those that a limit or a quota holds back have no place, and are last.
// Elements that wait for something else than their turn and room are not among them, nor
// those of an array that are not offered yet.
func (c *Controller) Order(v state.View, keep func(owner string) bool, most int) (turns []api.Turn, waiting int) {
	eng := c.eng.Load()
	ids := eng.Waiting()
	byQueues := v.ByQueues()
	for i, name := range ids {
		id, j := waitingJob(v, name)
		if j == nil || !keep(j.Owner) {
			continue
		}
		t := api.Turn{
			Place: i + 1, Job: j.ID, Element: id.Element, Array: !j.Spec.Array.IsZero(), Name: j.Spec.Name, Owner: j.Owner, Queue: j.Spec.Queue,
			Since: j.Submitted, Priority: j.Spec.Priority, QueuePriority: queueOf(v, j).Priority,
		}
		if byQueues {
			if p, ok := eng.Queue(id.String()); ok {
				if t.Held = heldBack(eng, name, &p); t.Held != "" {
					t.Place = 0
				}
			}
		}
		if turns = append(turns, t); len(turns) == most {
			break
		}
	}
	return turns, len(ids)
}

// heldBack says which limit or quota holds back what waits under a name: its turn, or an
// expected start of it. "" where none does.
func heldBack(eng *engine.Engine, name string, at *queue.Position) string {
	if _, message, held := turn(at); held {
		return message
	}
	if p, ok := eng.Promise(name); ok && p.Held != nil {
		return heldWords(p.Held)
	}
	return ""
}

// waitingJob is the first task of what waits under a name: a task's own, or a gang's group.
func waitingJob(v state.View, name string) (job.TaskID, *state.Job) {
	id, err := job.ParseTaskID(name)
	if err != nil {
		id, err = job.ParseTaskID(name + ".0") // of a gang
	}
	if err != nil {
		return id, nil
	}
	return id, v.Job(id.Job)
}

// levels is the path of a position.
func levels(p *queue.Position) (list []api.Level) {
	if p.Standing == nil {
		return nil
	}
	for _, l := range p.Standing.Path {
		level := api.Level{Queue: l.Queue, Weight: l.Weight}
		if l.Principal != "" {
			level.User = strings.TrimPrefix(l.Principal, userPrincipal(""))
		}
		if u, any := usageOf(&l); any {
			level.Usage = &u
		}
		if l.Capacity > 0 {
			level.Share = float64(l.Used) / float64(l.Capacity)
		}
		list = append(list, level)
	}
	return list
}

// explainTurn says where in the order an element stands that waits, and what it was promised.
func explainTurn(v state.View, x *engine.Explanation, out *api.Explanation) {
	if x.Waiting == nil || out.State != job.Pending {
		return
	}
	switch at := x.Waiting.Standing; {
	case at != nil:
		out.Position, out.Path = at.Before+1, levels(x.Waiting)
	case !v.ByQueues(): // else it has had its turn
		out.Position = x.Ahead + 1
	}
	if p := x.Promise; p != nil && !p.First.Equal(p.Current) {
		out.PromisedStart = p.First
		for _, cause := range p.Causes {
			out.Moved = append(out.Moved, causeWords(cause))
		}
	}
}

// causeWords say why a promise was moved.
func causeWords(c engine.PromiseCause) string {
	name := "job " + jobNumber(c.Name)
	switch c.Reason {
	case engine.SomethingAhead:
		return name + " goes before it"
	case engine.ItselfChanged:
		return "it was changed itself"
	case engine.LimitPassed:
		return name + " runs on although its time limit has passed"
	case engine.LimitMoved:
		return name + " must end later than was known"
	case engine.PlacedOutside:
		return name + " was placed before this server led"
	case engine.NodeChanged:
		return "node " + c.Name + " is gone or has changed"
	case engine.ObjectChanged:
		return "reservation or queue " + reservationOf(c.Name) + " has changed"
	}
	return c.String()
}

// Promises lists when and where elements are expected to start: the first that wait, of
// owners whom keep lets through, and no more than most.
func (c *Controller) Promises(v state.View, keep func(owner string) bool, most int) (list []api.PromisedStart) {
	eng := c.eng.Load()
	looked := 0
	for _, name := range eng.Waiting() {
		id, j := waitingJob(v, name)
		if j == nil || !keep(j.Owner) {
			continue
		}
		if looked++; looked > most {
			break
		}
		p, ok := eng.Promise(name)
		if !ok || p.Current.IsZero() {
			continue
		}
		s := api.PromisedStart{
			Job: j.ID, Element: id.Element, CPU: j.Spec.Resources.CPU, From: p.Current.UTC(),
			Nodes: slices.Compact(slices.Sorted(maps.Values(p.Nodes))),
		}
		if limit := roomLimit(j.Spec); limit > 0 {
			s.To = s.From.Add(limit)
		}
		s.Forecast = c.Forecast(v, j, id.Element)
		list = append(list, s)
	}
	return list
}
