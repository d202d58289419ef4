package queuelevel

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"github.com/berth-project/berth/queue"
)

// compare looks at every pod on both sides, and at the nominations.
func (h *history) compare(after string) {
	places := h.kubePlaces()
	for _, p := range h.pods {
		kube, berth := h.kubePosition(p, places), h.berthPosition(p)
		if kube.expiration.IsZero() {
			berth.expiration = time.Time{} // the reference works it out when it is needed
		}
		h.report.Count("(" + kube.place.String() + ")")
		h.compared("position after "+after, kube.String(), berth.String())
	}
	berth := h.berth.Nominations()
	for _, name := range slices.Sorted(maps.Keys(h.nodes)) {
		h.compared("nominations after "+after, join(h.kube.Nominations(name)), join(berth[name]))
	}
}

// position is where a side has a pod, in the words of Berth's queue.
type position struct {
	place                        queue.Place
	attempts, rejections, errors int
	plugins, pending, gate       string
	since, expiration            time.Time
	flushed                      bool
}

// String has all of it; times are those since the start.
func (p position) String() string {
	if p.place == queue.None {
		return p.place.String()
	}
	return fmt.Sprintf("%s since %s, attempts %d, rejections %d, errors %d, plugins [%s], pending [%s], gate %q, backoff until %s, timed out %t",
		p.place, sinceEpoch(p.since), p.attempts, p.rejections, p.errors, p.plugins, p.pending, p.gate, sinceEpoch(p.expiration), p.flushed)
}

func sinceEpoch(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.Sub(epoch).String()
}

func join(names []string) string { return strings.Join(sorted(names), " ") }

// kubePlaces says which part of the reference's queue each pod is in.
func (h *history) kubePlaces() map[string]queue.Place {
	q := h.kube.Queue()
	places := map[string]queue.Place{}
	put := func(place queue.Place, pods []*v1.Pod) {
		for _, p := range pods {
			places[p.Name] = place
		}
	}
	put(queue.InFlight, q.InFlightPods())
	put(queue.Active, q.PodsInActiveQ())
	put(queue.Backoff, q.PodsInBackoffQ())
	put(queue.Unschedulable, q.UnschedulablePods())
	return places
}

// kubePosition is where the reference has a pod. It knows no errorBackoff or
// gated as places, but keeps them apart by the same rules.
func (h *history) kubePosition(p *pod, places map[string]queue.Place) position {
	place := places[p.Name]
	if place == queue.None {
		return position{}
	}
	info := h.popped[p.UID]
	if place != queue.InFlight {
		info, _ = h.kube.Queue().GetPod(p.Name, namespace, nil)
	}
	switch {
	case place == queue.Backoff && info.UnschedulablePlugins.Len()+info.PendingPlugins.Len() == 0:
		place = queue.ErrorBackoff
	case place == queue.Unschedulable && info.Gated():
		place = queue.Gated
	}
	position := kubeInfo(place, info)
	if h.kind == ties { // where the clock has run
		position.since, position.expiration = position.since.Truncate(time.Microsecond), position.expiration.Truncate(time.Microsecond)
	}
	return position
}

func kubeInfo(place queue.Place, info *framework.QueuedPodInfo) position {
	return position{
		place: place, attempts: info.Attempts, rejections: info.UnschedulableCount, errors: info.ConsecutiveErrorsCount,
		plugins: join(info.UnschedulablePlugins.UnsortedList()), pending: join(info.PendingPlugins.UnsortedList()), gate: info.GatingPlugin,
		since: info.Timestamp, expiration: info.BackoffExpiration, flushed: info.WasFlushedFromUnschedulable,
	}
}

func (h *history) berthPosition(p *pod) position {
	q, ok := h.berth.Queue(p.id())
	place := q.Place
	switch {
	case !ok || place == queue.Binding || place == queue.OldBinding: // which are no places of its queue
		return position{}
	case place == queue.Permit:
		place = queue.InFlight
	}
	return position{
		place: place, attempts: q.Attempts, rejections: q.UnschedulableCount, errors: q.ConsecutiveErrors,
		plugins: join(q.UnschedulablePlugins), pending: join(q.PendingPlugins), gate: q.GatingPlugin,
		since: q.Timestamp, expiration: q.BackoffExpiration, flushed: q.Flushed,
	}
}
