package scheduler

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins"
)

// reasons remember why attempts that wait were not placed when they were last tried.
type reasons struct {
	mu   sync.Mutex
	last map[job.TaskID]*rejection // by the task of rank 0
}

// rejection is why an attempt was not placed. Of a gang the engine tries one task after
// the other, until one finds no node.
type rejection struct {
	over   bool              // the engine has told all of it
	nodes  int               // that were looked at for the task that found none
	why    []tally           // what speaks against them, the most common first
	never  bool              // no node could take the task, whatever ended
	fits   int               // tasks of a gang that found a node
	labels map[string]string // of a gang: those of one of the nodes
	making string            // the node where others are asked to leave for it
	other  string            // what is said where no nodes were looked at
}

// tally counts nodes against which the same speaks.
type tally struct {
	text  string
	nodes int
}

func newReasons() *reasons { return &reasons{last: map[job.TaskID]*rejection{}} }

// attemptOf names the attempt that a task is of by its task of rank 0.
func attemptOf(id job.TaskID) job.TaskID {
	id.Rank = 0
	return id
}

// rejected is told by the engine: of a gang once for each task, in the order in which
// they were tried.
func (r *reasons) rejected(e engine.RejectedEvent) {
	id := attemptOf(taskOf(e.Workload).id)
	r.mu.Lock()
	defer r.mu.Unlock()
	x := r.last[id]
	if x == nil || x.over {
		x = &rejection{over: e.Workload.Group == ""}
		r.last[id] = x
	}
	x.add(&e)
}

// decided is told by the engine when it has told of all tasks of a gang.
func (r *reasons) decided(e engine.GroupEvent) {
	id, err := job.ParseTaskID(e.Group.ID + ".0")
	if err != nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	x := r.last[id]
	if x == nil || x.over {
		return
	}
	x.over = true
	if x.nodes == 0 && x.other == "" && x.making == "" {
		x.other = groupWords(&e)
	}
}

// set says why an attempt waits, where the engine does not.
func (r *reasons) set(id job.TaskID, text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last[attemptOf(id)] = &rejection{over: true, other: text}
}

// clear forgets everything, for another engine.
func (r *reasons) clear() {
	r.mu.Lock()
	defer r.mu.Unlock()
	clear(r.last)
}

func (r *reasons) forget(id job.TaskID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.last, attemptOf(id))
}

// of says why the attempt of a task, of a job of the spec, waits; false: it has not been
// tried. Never: no node could take it when it was tried.
func (r *reasons) of(id job.TaskID, s *job.Spec) (text string, never, tried bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	x := r.last[attemptOf(id)]
	if x == nil {
		return "", false, false
	}
	return x.text(s), x.never, true
}

// add takes in what the engine tells of one task.
func (x *rejection) add(e *engine.RejectedEvent) {
	if x.nodes > 0 || x.other != "" {
		return // a later task of the gang, which was not tried
	}
	if e.Nominated != "" {
		x.making = e.Nominated
	}
	switch {
	case e.Code == extpoints.Error:
		x.other = failureWords(e.Err)
	case !e.Diagnosis.IsZero():
		x.diagnose(e.Workload, e.Diagnosis)
	case e.Message == engine.ErrNoNodes.Error():
		x.other = "no node of the fleet is up"
	case e.Workload.Group != "":
		x.fits++
	default:
		x.other = fmt.Sprintf("the scheduler says %q", e.Message)
	}
}

// failureWords says what is to be known of a failure. Its own words are in the log.
func failureWords(err error) string {
	var refused *api.Error
	if errors.As(err, &refused) {
		return "its place was taken back, and it is tried again: " + refused.Message
	}
	return "the scheduler failed to place it, and tries again; the log of the server that leads says why"
}

// diagnose takes in what was said of the nodes.
func (x *rejection) diagnose(w *model.Workload, d engine.Diagnosis) {
	var last *extpoints.Status
	counts := map[string]int{}
	same := map[*extpoints.Status][]string{} // what a status says of every node
	x.never = true
	for node, st := range d.Nodes() {
		x.nodes++
		x.never = x.never && st.Code() == extpoints.UnschedulableAndUnresolvable
		if x.nodes == 1 && w.Group != "" {
			x.labels = node.Labels
		}
		texts, ok := same[st]
		if !ok {
			texts = inWords(w, node, st.Plugin(), st.Reasons(), false)
			if !dependsOnNode(st) {
				same[st] = texts
			}
		}
		for _, text := range texts {
			counts[text]++
		}
		last = st
	}
	switch {
	case x.nodes == 0: // PreFilter has rejected it, on whatever node
		st := d.Status("")
		x.never, x.other = false, strings.Join(inWords(w, &model.Node{}, st.Plugin(), st.Reasons(), false), ", ")
		return
	case x.nodes == 1 && !aboutNodes(last):
		x.nodes, x.never, x.labels, x.other = 0, false, nil, refusedWords(last)
		return
	}
	for text, n := range counts {
		x.why = append(x.why, tally{text, n})
	}
	slices.SortFunc(x.why, func(a, b tally) int { return cmp.Or(b.nodes-a.nodes, strings.Compare(a.text, b.text)) })
}

// aboutNodes reports whether a rejection is one of a node, and not of a decision.
func aboutNodes(st *extpoints.Status) bool {
	return st.Plugin() != plugins.GangScheduling && st.Plugin() != plugins.DefaultBinder && st.Plugin() != ""
}

// dependsOnNode reports whether the words for a status depend on the node.
func dependsOnNode(st *extpoints.Status) bool {
	switch st.Plugin() {
	case plugins.NodeUnschedulable, plugins.NodeAffinity:
		return true
	case plugins.NodeResourcesFit:
		return st.Code() == extpoints.UnschedulableAndUnresolvable
	}
	return false
}

// text is what is said of the rejection to people.
func (x *rejection) text(s *job.Spec) string {
	text := x.other
	if text == "" {
		var parts []string
		for _, t := range x.why {
			parts = append(parts, fmt.Sprintf("%s (%d)", t.text, t.nodes))
		}
		text = fmt.Sprintf("0 of %d nodes fit: %s", x.nodes, strings.Join(parts, ", "))
		if s.Tasks > 1 {
			text = gangWords(s, x.fits, x.labels) + "; for the next task, " + text
		}
	}
	if x.making != "" {
		text = fmt.Sprintf("others are asked to leave node %s for it; %s", x.making, text)
	}
	return text
}
