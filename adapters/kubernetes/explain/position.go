package explain

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-project/berth/adapters/kubernetes/explain/api"
	"github.com/berth-project/berth/adapters/kubernetes/words"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/queue"
)

// position is where a workload waits, and when it is to start.
func (h *handler) position(w *model.Workload, p *queue.Position) api.QueuePosition {
	q := api.QueuePosition{
		Place: p.Place.String(), Attempts: p.Attempts,
		UnschedulablePlugins: p.UnschedulablePlugins, PendingPlugins: p.PendingPlugins,
		GatingPlugin: p.GatingPlugin, GateMessage: h.text(p.Gate.Message()), HeldBy: h.heldBy(heldOf(p)), QueuePath: queuePath(h.engine.View(), w),
		AddedAt: timeOf(p.AddedAt), Since: timeOf(p.Timestamp), BackoffUntil: timeOf(p.BackoffExpiration),
		Node: p.Node, PermitPlugins: p.Permit,
	}
	if !p.Since.IsZero() {
		q.Since = timeOf(p.Since)
	}
	if p.Refused != nil {
		q.GateMessage = q.HeldBy
	}
	if st := p.Standing; st != nil {
		q.Before = &st.Before
	}
	if promise, ok := h.engine.Promise(w.ID); ok {
		q.Promise = h.promise(w.ID, &promise)
	}
	return q
}

// queuePath are the names of the queues that the workload is in, from the top down; none where
// there are none. A queue that is not there is the first.
func queuePath(view *engine.View, w *model.Workload) (names []string) {
	name := queueOf(view, w)
	for name != "" && !slices.Contains(names, name) {
		names = append(names, name)
		if o, ok := view.Object(model.ObjectRef{Kind: model.QueueKind, ID: name}); ok {
			name = o.Object.(*model.Queue).Parent
		}
	}
	slices.Reverse(names)
	return names
}

// queueOf is the queue of the workload, which need not be there; empty for none.
func queueOf(view *engine.View, w *model.Workload) string {
	if o, ok := view.Object(model.ObjectRef{Kind: model.PrincipalKind, ID: w.Principal}); ok && w.Queue == "" {
		return o.Object.(*model.Principal).Queue
	}
	return w.Queue
}

// heldOf is what holds the pod at the position back, nil for nothing.
func heldOf(p *queue.Position) *queue.Held {
	if p.Refused == nil && p.Standing != nil {
		return p.Standing.Held
	}
	return p.Refused
}

// heldBy says what holds a pod back, with the name of the pod that it is about; empty for nothing.
func (h *handler) heldBy(held *queue.Held) string {
	if held == nil {
		return ""
	}
	return words.Held(held, h.nameOf(held.Workload))
}

// promise is the promise to a workload, or to its group.
func (h *handler) promise(id string, p *engine.Promise) *api.Promise {
	out := &api.Promise{First: timeOf(p.First), Current: timeOf(p.Current), Node: p.Nodes[id], MovedAt: timeOf(p.MovedAt)}
	for _, c := range p.Causes {
		out.Causes = append(out.Causes, words.Text(engine.PromiseCause{Reason: c.Reason, Name: h.nameOf(c.Name)}.String()))
	}
	return out
}

// text is a message of the engine about pods, by their names.
func (h *handler) text(message string) string { return words.Named(words.Text(message), h.nameOf) }

// nameOf is namespace and name of the pod with the UID, and anything else as it is.
func (h *handler) nameOf(id string) string {
	if w, ok := h.engine.View().Workload(id); ok {
		return w.DisplayName()
	}
	return id
}

// timeOf is the time, nil for none.
func timeOf(t time.Time) *metav1.MicroTime {
	if t.IsZero() {
		return nil
	}
	micro := metav1.NewMicroTime(t)
	return &micro
}
