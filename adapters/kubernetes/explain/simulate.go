package explain

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-project/berth/adapters/kubernetes/explain/api"
	"github.com/berth-project/berth/adapters/kubernetes/words"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/queue"
)

// simulate answers where the pods of the body would go.
func (h *handler) simulate(r *http.Request) (any, error) {
	body, err := io.ReadAll(r.Body) // it is in memory, see receive
	if err != nil {
		return nil, err
	}
	objects, err := decode(body)
	if err != nil {
		return nil, err
	}
	namespace := cmp.Or(r.URL.Query().Get("namespace"), v1.NamespaceDefault)
	if wrong := validation.ValidateNamespaceName(namespace, false); len(wrong) > 0 {
		return nil, apierrors.NewBadRequest("parameter \"namespace\" is not the name of a namespace: " + strings.Join(wrong, "; "))
	}
	now, branch := time.Now(), h.engine.Branch()
	asked, err := h.translate(r.Context(), objects, branch.View(), namespace, now)
	if err != nil {
		return nil, err
	}
	s := &simulation{
		h: h, branch: branch, now: now, pods: map[string]*api.SimulatedPod{},
		result: api.Simulation{
			TypeMeta: metav1.TypeMeta{APIVersion: api.Version, Kind: api.SimulationKind}, At: metav1.NewMicroTime(now), Pods: []api.SimulatedPod{},
		},
	}
	if err := s.take(asked); err != nil {
		return nil, err
	}
	for _, p := range asked.there {
		s.pods[p.UID] = p // so that it is known of it if it is displaced
	}
	for _, a := range s.attempts(asked) {
		if err := r.Context().Err(); err != nil {
			return nil, err
		}
		if err := s.try(&a); err != nil {
			return nil, err
		}
	}
	s.order = append(s.order, asked.there...)
	s.leaveOut(asked.notOurs)
	return s.finish(asked), nil
}

// simulation is what happens on one branch.
type simulation struct {
	h      *handler
	branch *engine.Branch
	now    time.Time
	pods   map[string]*api.SimulatedPod // by workload ID
	order  []*api.SimulatedPod          // in which they were tried
	result api.Simulation
}

// take brings in what was asked about. The error says where in the body stands what
// the engine does not take.
func (s *simulation) take(asked *request) error {
	err := s.branch.Apply(s.now, asked.changes...)
	if err == nil {
		return nil
	}
	var list problems
	all := []error{err}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		all = joined.Unwrap()
	}
	for _, err := range all {
		var wrong *engine.ChangeError
		if !errors.As(err, &wrong) {
			return err
		}
		list.add(asked.places[wrong.Index].String(), "%s", wrong.Err)
	}
	return list.err()
}

// attempt is a pod that is tried by itself, or all those of a tree of groups.
type attempt struct {
	root     string // the highest group's ID; empty for a pod by itself
	missing  string // the ID of a group that is not there
	priority int32
	pods     []*model.Workload
}

// attempts are all, in the order in which the queue would have them by default: by
// priority, and otherwise as they came.
func (s *simulation) attempts(asked *request) []attempt {
	var list []attempt
	byRoot := map[string]int{}
	view := s.branch.View()
	for _, w := range asked.pods {
		a := attempt{priority: w.Priority, pods: []*model.Workload{w}}
		if w.Group != "" {
			a.root, a.missing, a.priority = rootOf(view, w)
		}
		if i, known := byRoot[a.root]; known && a.root != "" {
			list[i].pods = append(list[i].pods, w)
			continue
		}
		byRoot[a.root] = len(list)
		list = append(list, a)
	}
	slices.SortStableFunc(list, func(a, b attempt) int { return cmp.Compare(b.priority, a.priority) })
	return list
}

// rootOf is the highest group above a member, and its priority, or the first group
// that is missing on the way there.
func rootOf(view *engine.View, w *model.Workload) (root, missing string, priority int32) {
	id := w.Group
	for range model.MaxGroupDepth {
		g, ok := view.Group(id)
		switch {
		case !ok:
			return "", id, w.Priority
		case g.Parent == "":
			return g.ID, "", g.Priority
		}
		id = g.Parent
	}
	return "", id, w.Priority
}

// try places the pods of an attempt, as far as possible.
func (s *simulation) try(a *attempt) error {
	for _, w := range a.pods {
		p := &api.SimulatedPod{Pod: podOf(w), Outcome: api.Unplaced, SchedulingGates: w.Gates}
		s.pods[w.ID] = p
		s.order = append(s.order, p)
		if a.missing != "" {
			p.Message = fmt.Sprintf("it waits for its pod group: there is no group %q", a.missing)
		}
	}
	if a.missing != "" || s.isHeld(a) {
		return nil
	}
	if a.root != "" {
		return s.tryGroup(a)
	}
	return s.tryPod(a.pods[0].ID)
}

// isHeld reports whether a quota or a limit would hold the pods back, and says so of them.
func (s *simulation) isHeld(a *attempt) bool {
	held, err := s.branch.Held(s.now, cmp.Or(a.root, a.pods[0].ID))
	if err != nil || held == nil { // what is wrong with them is said when they are tried
		return false
	}
	why := s.h.heldBy(held)
	for _, w := range a.pods {
		s.pods[w.ID].Message, s.pods[w.ID].Plugins = why, []string{queue.QueuesGate}
	}
	if a.root != "" {
		g := groupOf(a.root)
		g.Message = why
		s.result.Groups = append(s.result.Groups, g)
	}
	return true
}

func (s *simulation) tryPod(id string) error {
	p := s.pods[id]
	d, err := s.branch.Schedule(s.now, id)
	if err == nil && !d.Placed() && d.Nominated != "" {
		p.NominatedNode = d.Nominated
		if p.Preempts, err = s.displace(d.Evictions, map[string]string{id: d.Nominated}, p.Namespace+"/"+p.Name); err != nil {
			return err
		}
		d, err = s.branch.Schedule(s.now, id)
	}
	p.Node, p.Message, p.Plugins = d.Binding.Node, words.Text(d.Message), d.Plugins
	p.EvaluatedNodes, p.FeasibleNodes = d.Evaluated, d.Feasible
	switch {
	case err != nil:
		p.Outcome, p.Message = api.Failed, words.Text(err.Error())
	case d.Placed():
		p.Outcome, p.NominatedNode = api.Placed, ""
	}
	return nil
}

// displace takes evicted pods away, so that those who are nominated find the room.
func (s *simulation) displace(evictions []extpoints.Eviction, nominated map[string]string, by string) ([]api.Victim, error) {
	list := victims(s.branch.View(), evictions)
	var changes []engine.Change
	gone := map[string]bool{}
	for _, e := range evictions {
		if gone[e.ID] {
			continue
		}
		gone[e.ID] = true
		changes = append(changes, engine.Remove(e.ID))
		if p := s.pods[e.ID]; p != nil {
			p.Outcome, p.Node, p.Message = api.Unplaced, "", "it would be displaced again to make room for "+by
		}
	}
	for id, node := range nominated {
		if !gone[id] {
			changes = append(changes, engine.Nominate(id, node))
		}
	}
	return list, s.branch.Apply(s.now, changes...)
}

// victims are the pods that are to be evicted, by namespace and name.
func victims(view *engine.View, evictions []extpoints.Eviction) []api.Victim {
	var list []api.Victim
	for _, e := range evictions {
		if w, ok := view.Workload(e.ID); ok {
			list = append(list, api.Victim{Pod: podOf(w.Workload), Node: w.Node})
		}
	}
	slices.SortFunc(list, func(a, b api.Victim) int {
		return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name), strings.Compare(a.UID, b.UID))
	})
	return slices.Compact(list)
}

// leaveOut says of pods that they are other schedulers' to place.
func (s *simulation) leaveOut(pods []*model.Workload) {
	for _, w := range pods {
		s.order = append(s.order, &api.SimulatedPod{
			Pod: podOf(w), Outcome: api.NotOurs, SchedulingGates: w.Gates, Message: "it " + s.h.notOurs(w.Profile),
		})
	}
}

// finish is what came of everything.
func (s *simulation) finish(asked *request) *api.Simulation {
	s.result.Fits = true
	for _, p := range s.order {
		s.result.Fits = s.result.Fits && (p.Outcome == api.Placed || p.InCluster)
		s.result.Pods = append(s.result.Pods, *p)
	}
	for _, o := range asked.owners {
		o.result.Pods = len(o.pods)
		for _, id := range o.pods {
			if p := s.pods[id]; p != nil && p.Outcome == api.Placed { // nil for pods of other schedulers
				o.result.Placed++
			}
		}
		s.result.Owners = append(s.result.Owners, o.result)
	}
	return &s.result
}
