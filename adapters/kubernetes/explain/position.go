package explain

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-project/berth/adapters/kubernetes/explain/api"
	"github.com/berth-project/berth/adapters/kubernetes/words"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/queue"
)

// position is where a workload waits, and when it is to start.
func (h *handler) position(id string, p *queue.Position) api.QueuePosition {
	q := api.QueuePosition{
		Place: p.Place.String(), Attempts: p.Attempts,
		UnschedulablePlugins: p.UnschedulablePlugins, PendingPlugins: p.PendingPlugins,
		GatingPlugin: p.GatingPlugin, GateMessage: words.Text(strings.ReplaceAll(p.Gate.Message(), strconv.Quote(id), strconv.Quote(h.nameOf(id)))),
		AddedAt: timeOf(p.AddedAt), Since: timeOf(p.Timestamp), BackoffUntil: timeOf(p.BackoffExpiration),
		Node: p.Node, PermitPlugins: p.Permit,
	}
	if !p.Since.IsZero() {
		q.Since = timeOf(p.Since)
	}
	if st := p.Standing; st != nil {
		q.Before, q.QueuePath, q.HeldBy = &st.Before, queuePath(st.Path), h.heldBy(st.Held)
	}
	if promise, ok := h.engine.Promise(id); ok {
		q.Promise = h.promise(id, &promise)
	}
	return q
}

// queuePath are the names of the queues; namespaces are left out.
func queuePath(path []queue.Level) (names []string) {
	for i := range path {
		if path[i].Principal == "" {
			names = append(names, path[i].Queue)
		}
	}
	return names
}

// heldBy is what holds a pod back, with the name of the pod that it is about.
func (h *handler) heldBy(held *queue.Held) string {
	if held == nil {
		return ""
	}
	named := *held
	named.Workload = h.nameOf(held.Workload)
	text := words.Text(named.String())
	if held.Resource == model.CPU { // in thousandths, as quantities say it
		text = strings.Replace(text, fmt.Sprintf(" %d %s", held.Missing, model.CPU), fmt.Sprintf(" %dm %s", held.Missing, model.CPU), 1)
	}
	return text
}

// promise is the promise to a workload, or to its group.
func (h *handler) promise(id string, p *engine.Promise) *api.Promise {
	out := &api.Promise{First: timeOf(p.First), Current: timeOf(p.Current), Node: p.Nodes[id], MovedAt: timeOf(p.MovedAt)}
	for _, c := range p.Causes {
		out.Causes = append(out.Causes, words.Text(engine.PromiseCause{Reason: c.Reason, Name: h.nameOf(c.Name)}.String()))
	}
	return out
}

// nameOf is namespace and name of the pod with the UID, and anything else as it is.
func (h *handler) nameOf(id string) string {
	if w, ok := h.engine.View().Workload(id); ok {
		return strings.TrimPrefix(w.Namespace+"/"+w.Name, "/")
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
