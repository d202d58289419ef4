package fault

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
)

// story is all that is known when everything is over.
type story struct {
	accepted []*submission
	jobs     map[job.ID]api.JobDetail
	names    map[string]int // how many jobs the servers have of each name
	records  []api.Record
	ledger   map[job.TaskID]*run
	capacity map[string]int64 // thousandths of a core, by node
	hits     []hit
	// lacking are the nodes that lack something that jobs need.
	lacking []string
}

// check returns what is wrong.
func (s *story) check() []error {
	var wrong []error
	say := func(format string, args ...any) { wrong = append(wrong, fmt.Errorf(format, args...)) }
	s.checkAccepted(say)
	attempts := s.checkAttempts(say)
	s.checkRuns(attempts, say)
	s.checkCapacity(say)
	return wrong
}

type sayer func(format string, args ...any)

// checkAccepted: every job that was accepted is there, once, and has ended as it should.
func (s *story) checkAccepted(say sayer) {
	known := map[string]bool{}
	for _, a := range s.accepted {
		known[a.key] = true
		j, ok := s.jobs[a.id]
		switch {
		case !ok:
			say("job %s (%s) was accepted, and is not there", a.id, a.key)
			continue
		case j.Name != a.key:
			say("job %s was accepted as %s, and is %s", a.id, a.key, j.Name)
		case s.names[a.key] != 1:
			say("%s was accepted once, as job %s, and there are %d jobs of it", a.key, a.id, s.names[a.key])
		}
		if j.Ended.IsZero() || !j.State.Ended() {
			say("job %s (%s) has not ended, it is %s %s %s", a.id, a.key, j.State, j.Reason, j.Message)
		}
		var elements int32
		for state, n := range j.Counts {
			elements += n
			s.checkEnd(a, &j, state, n, say)
		}
		if elements != j.Job.Elements {
			say("job %s has %d elements, and the states of %d: %v", a.id, j.Job.Elements, elements, j.Counts)
		}
	}
	for name := range s.names {
		if !known[name] {
			say("there is a job %s that nobody submitted", name)
		}
	}
}

// checkEnd looks at one end of elements of a job.
func (s *story) checkEnd(a *submission, j *api.JobDetail, state job.State, n int32, say sayer) {
	if a.mistaken != (state == job.Failed) && n > 0 {
		say("job %s: %d elements are %s (it is mistaken: %v)", a.id, n, state, a.mistaken)
		return
	}
	switch state {
	case job.Completed, job.Failed:
	case job.Cancelled:
		if !a.cancelled && n > 0 {
			say("job %s: %d elements are cancelled, and nobody asked for it", a.id, n)
		}
	case job.NodeFail, job.BootFail:
		// After that many losses an element is given up.
		lost := 0
		for _, at := range j.Attempts {
			if at.State == job.NodeFail || at.State == job.BootFail {
				lost++
			}
		}
		if lost < int(n)*givenUpAfter {
			say("job %s: %d elements are %s after %d lost attempts", a.id, n, state, lost)
		}
	default:
		if n > 0 {
			say("job %s: %d elements are %s", a.id, n, state)
		}
	}
}

// givenUpAfter is how many attempts are lost before an element is given up: the first
// and ten more.
const givenUpAfter = 11

// attemptID names an attempt, by its first task.
func attemptID(id job.TaskID) job.TaskID { id.Rank = 0; return id }

// checkAttempts: each attempt was recorded once, and was hit if it did not complete.
func (s *story) checkAttempts(say sayer) map[job.TaskID]*api.Record {
	out := map[job.TaskID]*api.Record{}
	count := map[job.TaskID]int32{} // attempts of each element
	of := map[job.ID]*submission{}
	for _, a := range s.accepted {
		of[a.id] = a
	}
	for i := range s.records {
		r := &s.records[i]
		id := job.TaskID{Job: r.Job, Element: r.Element, Attempt: r.Attempt.Attempt}
		if out[id] != nil {
			say("attempt %s was recorded twice", id)
		}
		out[id] = r
		element := id
		element.Attempt = 0
		count[element] = max(count[element], id.Attempt)
		a := of[r.Job]
		if a != nil && !a.cancelledAt.IsZero() && r.Placed.After(a.cancelledAt) {
			say("attempt %s was placed at %s, and the job was cancelled by %s", id, clock(r.Placed), clock(a.cancelledAt))
		}
		if r.State == job.Completed || r.State == job.Cancelled && a != nil && a.cancelled {
			continue
		}
		if r.State == job.Requeued && r.Placed.IsZero() {
			continue // it was given up before it began: see checkRuns
		}
		if a != nil && s.couldNotStart(r, a) {
			continue
		}
		if !s.wasHit(id, r) {
			say("attempt %s on %v was not hit, and is %s: %s (placed %s, started %s, ended %s)", id, r.Nodes, r.State, r.Message,
				clock(r.Placed), clock(r.Started), clock(r.Ended))
		}
	}
	for element, n := range count {
		for at := int32(1); at <= n; at++ {
			element.Attempt = at
			if out[element] == nil {
				say("attempt %s was not recorded, and %d of the element were", element, n)
			}
		}
	}
	return out
}

// couldNotStart reports whether an attempt could not be started where it was, because its
// job is mistaken or a node of it lacks what the job needs.
func (s *story) couldNotStart(r *api.Record, a *submission) bool {
	if r.State != job.Failed && r.State != job.BootFail {
		return false
	}
	return a.mistaken || slices.ContainsFunc(r.Nodes, func(n string) bool { return slices.Contains(s.lacking, n) })
}

func clock(t time.Time) string { return t.UTC().Format("15:04:05.000") }

// wasHit reports whether an attempt was hit while it was under way.
func (s *story) wasHit(id job.TaskID, r *api.Record) bool {
	return slices.ContainsFunc(s.hits, func(h hit) bool {
		if h.node == "" {
			return h.attempt == id
		}
		if h.starting && r.State != job.BootFail {
			return false
		}
		begin := r.Placed
		if begin.IsZero() {
			begin = r.Ended
		}
		return slices.Contains(r.Nodes, h.node) && !begin.After(h.to) && !r.Ended.Before(h.from)
	})
}

// checkRuns: what has run is what was recorded.
func (s *story) checkRuns(attempts map[job.TaskID]*api.Record, say sayer) {
	for id, r := range s.ledger {
		if r.starts != 1 {
			say("task %s was started %d times", id, r.starts)
		}
		a := attempts[attemptID(id)]
		switch {
		case a == nil:
			say("task %s has run on %s, and the servers do not know the attempt", id, r.node)
		case int(id.Rank) >= len(a.Nodes) || a.Nodes[id.Rank] != r.node:
			say("task %s has run on %s, and was placed on %v", id, r.node, a.Nodes)
		case a.State == job.Requeued && a.Placed.IsZero():
			say("task %s has run on %s, and its attempt was given up before it began", id, r.node)
		}
	}
	for id, a := range attempts {
		if a.State != job.Completed {
			continue
		}
		for rank := range a.Tasks {
			id.Rank = rank
			if r := s.ledger[id]; r == nil || r.end != "done" {
				say("task %s is said to have completed, and its own file says %+v", id, r)
			}
		}
	}
}

// checkCapacity: at no time a node had more than it has.
func (s *story) checkCapacity(say sayer) {
	type change struct {
		at    time.Time
		milli int64
		task  job.TaskID
	}
	nodes := map[string][]change{}
	for id, r := range s.ledger {
		nodes[r.node] = append(nodes[r.node], change{r.from, r.milliCPU, id}, change{r.to, -r.milliCPU, id})
	}
	for _, node := range slices.Sorted(maps.Keys(nodes)) {
		changes := nodes[node]
		// At one time ends go first.
		slices.SortFunc(changes, func(a, b change) int { return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.milli, b.milli)) })
		var used int64
		present := map[job.TaskID]bool{}
		for _, c := range changes {
			used += c.milli
			if c.milli > 0 {
				present[c.task] = true
			} else {
				delete(present, c.task)
			}
			if used > s.capacity[node] {
				say("node %s has %d thousandths of a core, and at %s its tasks had %d: %v", node, s.capacity[node], clock(c.at), used,
					slices.Collect(maps.Keys(present)))
				break
			}
		}
	}
}
