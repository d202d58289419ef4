package explain

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-project/berth/adapters/kubernetes/convert"
	"github.com/berth-project/berth/adapters/kubernetes/explain/api"
	"github.com/berth-project/berth/adapters/kubernetes/words"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/model"
)

// explainPod answers why a pod is where it is.
func (h *handler) explainPod(r *http.Request) (any, error) {
	pod, err := h.pod(r.PathValue("namespace"), r.PathValue("name"), r.URL.Query().Get("uid"))
	if err != nil {
		return nil, err
	}
	id := convert.ID(pod)
	e, err := h.engine.Explain(id, engine.ExplainOptions{AllFilters: true})
	record, known := h.engine.View().Workload(id)
	switch {
	case errors.Is(err, engine.ErrNotFound), !known:
		return nil, h.unknown(pod)
	case err != nil:
		return nil, err
	case e.Undecided:
		return undecided(&record), nil
	}
	x := h.explanation(e)
	x.NominatedNode = record.Nominated
	if fitsNowhere(e) {
		x.ClosestNodes = closest(x.Nodes)
		x.Preemption = h.preemption(e.Workload)
	}
	return x, nil
}

// pod is the pod with the name, if it has the UID; any where that is empty.
func (h *handler) pod(namespace, name, uid string) (*v1.Pod, error) {
	pod, err := h.o.Pods.Pods(namespace).Get(name)
	switch {
	case apierrors.IsNotFound(err):
		return nil, notFound("there is no pod %s/%s, or it has ended", namespace, name)
	case err != nil:
		return nil, err
	case uid != "" && uid != string(pod.UID):
		return nil, statusError(http.StatusConflict, metav1.StatusReasonConflict,
			"the UID of pod %s/%s is %s, not %s: it is another pod", namespace, name, pod.UID, uid)
	}
	return pod, nil
}

// unknown is why the engine does not know a pod that is there.
func (h *handler) unknown(pod *v1.Pod) error {
	name := pod.Namespace + "/" + pod.Name
	if !slices.Contains(h.o.Profiles, pod.Spec.SchedulerName) {
		return notFound("pod %s %s", name, h.notOurs(pod.Spec.SchedulerName))
	}
	if _, err := h.o.Gates.Pod(pod); err != nil {
		return notFound("the scheduler cannot place pod %s, because it does not understand it: %s", name, err)
	}
	return notFound("the scheduler has not taken in pod %s yet, or refused it: see the pod's events and ask again", name)
}

// notOurs says that a pod of the scheduler is another's to place.
func (h *handler) notOurs(scheduler string) string {
	return fmt.Sprintf("is not this scheduler's to place: its spec.schedulerName is %q, and the profiles are %s", scheduler, strings.Join(h.o.Profiles, ", "))
}

// undecided is what there is to say about a pod on a node where the decision is not
// known.
func undecided(w *model.WorkloadRecord) *api.PodExplanation {
	return &api.PodExplanation{
		TypeMeta: metav1.TypeMeta{APIVersion: api.Version, Kind: api.PodExplanationKind},
		Pod:      podOf(w.Workload), Phase: w.Phase.String(), Node: w.Node,
		Basis: api.BasisNone, At: metav1.NewMicroTime(w.PlacedAt),
	}
}

// explanation puts what the engine says in Kubernetes' words.
func (h *handler) explanation(e *engine.Explanation) *api.PodExplanation {
	x := &api.PodExplanation{
		TypeMeta: metav1.TypeMeta{APIVersion: api.Version, Kind: api.PodExplanationKind},
		Pod:      podOf(e.Workload), Phase: e.Phase.String(), Node: e.Node,
		Basis: api.BasisDecision, At: metav1.NewMicroTime(e.At), Message: h.text(e.Message),
		FilterPlugins: e.Filters, Ties: e.Ties, MissingTopologyKeys: e.MissingTopology,
	}
	if e.Phase == model.Pending {
		x.Basis = api.BasisNow
	}
	if l := e.Last; l != nil {
		x.LastAttempt = &api.Attempt{At: metav1.NewMicroTime(l.At), Code: l.Code.String(), Message: h.text(l.Message), Plugins: l.Plugins}
	}
	if e.Waiting != nil {
		position := h.position(e.Workload, e.Waiting)
		x.Queue = &position
		if position.HeldBy != "" && x.Message != "" {
			x.Message = position.HeldBy
		}
	}
	for _, s := range e.Scores {
		x.ScorePlugins = append(x.ScorePlugins, api.ScorePlugin{Plugin: s.Plugin, Weight: s.Weight})
	}
	for i := range e.Nodes {
		x.Nodes = append(x.Nodes, nodeOf(&e.Nodes[i], e.Scores))
	}
	if len(e.Ties) > 0 {
		x.TieBreak = e.TieBreak.String()
	}
	return x
}

func nodeOf(n *engine.NodeExplanation, plugins []engine.PluginWeight) api.Node {
	node := api.Node{Name: n.Node, Feasible: n.Feasible, Unseen: n.Unseen}
	for _, v := range n.Verdicts {
		node.Rejections = append(node.Rejections, api.Rejection{Plugin: v.Plugin, Code: v.Code.String(), Reasons: words.Texts(v.Reasons)})
	}
	if len(n.Scores) > 0 {
		node.Score = &n.Total
	}
	for i, s := range n.Scores {
		if !s.Skipped {
			node.Scores = append(node.Scores, api.Score{Plugin: plugins[i].Plugin, Raw: s.Raw, Normalized: s.Normalized, Weighted: s.Weighted})
		}
	}
	return node
}

// podOf is the pod that the workload is.
func podOf(w *model.Workload) api.Pod {
	p := api.Pod{
		Namespace: w.Namespace, Name: w.Name, UID: w.ID,
		SchedulerName: w.Profile, Priority: w.Priority,
	}
	if w.ID == w.Namespace+"/"+w.Name { // it has not been created
		p.UID = ""
	}
	p.PodGroup = w.Group[strings.LastIndex(w.Group, "/")+1:]
	return p
}

// fitsNowhere reports whether there is no node for a pod that waits for one.
func fitsNowhere(e *engine.Explanation) bool {
	return e.Phase == model.Pending && len(e.Nodes) > 0 &&
		!slices.ContainsFunc(e.Nodes, func(n engine.NodeExplanation) bool { return n.Feasible || n.Unseen })
}

// closest are the nodes that the fewest plugins reject; none where all are equally
// far.
func closest(nodes []api.Node) []string {
	var names []string
	fewest, most := len(nodes[0].Rejections), 0
	for i := range nodes {
		fewest, most = min(fewest, len(nodes[i].Rejections)), max(most, len(nodes[i].Rejections))
	}
	if fewest == most {
		return nil
	}
	for i := range nodes {
		if len(nodes[i].Rejections) == fewest && len(names) < api.MaxClosestNodes {
			names = append(names, nodes[i].Name)
		}
	}
	return names
}

// preemption is what would make room for a pod that fits nowhere, nil where nothing
// would. A member of a group gets room with the group, or not at all.
func (h *handler) preemption(w *model.Workload) *api.Preemption {
	if w.Group != "" || len(w.Gates) > 0 {
		return nil
	}
	b, now := h.engine.Branch(), time.Now()
	if held, err := b.Held(now, w.ID); err != nil || held != nil {
		return nil // room is not what it lacks
	}
	d, err := b.Schedule(now, w.ID)
	if err != nil || d.Nominated == "" || len(d.Evictions) == 0 {
		return nil // it is gone or placed by now, or there is nothing that helps
	}
	return &api.Preemption{Node: d.Nominated, Victims: victims(b.View(), d.Evictions)}
}
