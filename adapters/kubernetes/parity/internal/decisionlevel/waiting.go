package decisionlevel

import (
	"fmt"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/berth-project/berth/adapters/kubernetes/parity/internal/twin"
	"github.com/berth-project/berth/queue"
)

// compareWaiting compares, after something has happened, which pods are
// nominated to which nodes and in which part of the queue each is; false where
// that is not the same.
func (h *history) compareWaiting(after string) bool {
	refs, subs := h.referencePlaces(), h.subjectPlaces()
	if h.tell != nil {
		fmt.Fprintf(h.tell, "%s after %s: %v\n", h.Now().Format(time.StampMicro), after, refs)
	}
	for _, p := range h.Pods() {
		if p.Place != twin.Waiting {
			continue
		}
		h.report.Count("queue and nominations")
		if refs[p.ID] != subs[p.ID] {
			where := "queue or nomination after " + kind(after)
			if h.left != nil && h.left == h.treeOf(p) {
				where = "queue of a group after removal of a waiting member"
			}
			h.apart(where, refs[p.ID], subs[p.ID], p.ID)
			return false
		}
	}
	return true
}

// kind is what has happened without the names.
func kind(what string) string {
	words := strings.Fields(what)
	return strings.Join(slices.DeleteFunc(words, func(w string) bool { return strings.ContainsAny(w, "0123456789") }), " ")
}

// referencePlaces says of each waiting pod where it is in the reference's queue,
// and which node it is nominated to.
func (h *history) referencePlaces() map[string]string {
	nominated := map[string]string{}
	for _, node := range h.everyNode() {
		for _, id := range h.Reference.Nominations(node) {
			nominated[id] = node
		}
	}
	places := map[string]string{}
	add := func(place string, pods []*v1.Pod) {
		for _, p := range pods {
			places[string(p.UID)] = describe(place, nominated[string(p.UID)])
		}
	}
	q := h.Reference.Queue()
	add("active", q.PodsInActiveQ())
	add("backing off", q.PodsInBackoffQ())
	add("unschedulable", q.UnschedulablePods())
	add("incomplete", q.IncompletePodGroupPodsPods())
	add("joining", q.PendingPodGroupPods())
	return places
}

// subjectPlaces is referencePlaces of the subject.
func (h *history) subjectPlaces() map[string]string {
	view := h.Subject.View()
	places := map[string]string{}
	for _, p := range h.Pods() {
		position, ok := h.Subject.Queue(p.ID)
		if !ok || position.Place == queue.Binding || position.Place == queue.OldBinding {
			continue // it is not in the queue there either
		}
		w, _ := view.Workload(p.ID)
		places[p.ID] = describe(placeNames[position.Place], w.Nominated)
	}
	return places
}

var placeNames = map[queue.Place]string{
	queue.Active: "active", queue.Backoff: "backing off", queue.ErrorBackoff: "backing off",
	queue.Unschedulable: "unschedulable", queue.Gated: "unschedulable", queue.InFlight: "in flight", queue.Permit: "in flight",
	queue.Incomplete: "incomplete", queue.Joining: "joining",
}

func describe(place, nominated string) string {
	if nominated == "" {
		return place
	}
	return fmt.Sprintf("%s, nominated to %s", place, nominated)
}

// everyNode lists the nodes that there are and all others that pods may be
// nominated to.
func (h *history) everyNode() []string {
	names := map[string]bool{}
	for _, name := range h.Nodes() {
		names[name] = true
	}
	for w := range h.Subject.View().Workloads() {
		names[w.Nominated] = true
	}
	delete(names, "")
	var list []string
	for name := range names {
		list = append(list, name)
	}
	return list
}
