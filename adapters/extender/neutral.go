package extender

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// Neutral is the default codec: it writes what the model knows in the shape that
// Kubernetes has for it (k8s.io/api core/v1, 0.37.1), so that a server that
// decodes a v1.Pod or a v1.Node finds it in its place.
//
// A pod has the workload's Name (else ID), Namespace, ID as its UID, Labels and
// CreatedAt; its spec has Profile as schedulerName, Group, Priority, Preemption,
// NodeSelector, node and workload affinity, Spread, Tolerations, Gates, and one
// container for each image, at least one. The first container has the Ports and
// asks for the Requests and the Devices: a class of devices is a resource of that
// name, half a device is "500m". Scalars and devices are limits too. A NodeName
// that is not kept yet is a condition on metadata.name; the nodeName of the spec
// is where the workload is. The status has the nomination, and PlacedAt as
// startTime. Not written: Features, Estimate, OwnerSelector, the models of
// devices.
//
// A node has Name, Labels, Taints, Unschedulable, Images, Features, and
// Allocatable as allocatable and as capacity, with the number of whole devices of
// each class, and "pods" where MaxWorkloads sets a limit. Not written: Zone,
// because it need not be a label. The topology keys model.ByNode and model.ByZone are
// written as they are.
type Neutral struct{}

// Pod implements [Codec].
func (Neutral) Pod(w *extpoints.WorkloadInfo, node string) (json.RawMessage, error) {
	p := pod{
		Metadata: objectMeta{Name: podName(w.Workload), Namespace: w.Namespace, UID: w.ID, CreationTimestamp: stamp(w.CreatedAt), Labels: w.Labels},
		Spec: podSpec{
			NodeSelector: w.NodeSelector, NodeName: node, SchedulerName: w.Profile,
			Priority: w.Priority, PreemptionPolicy: string(w.Preemption),
			Affinity: affinityOf(w.Workload, node), Containers: containersOf(w.Workload),
		},
		Status: podStatus{NominatedNodeName: w.Nominated},
	}
	if node != "" {
		p.Status.StartTime = stamp(w.PlacedAt)
	}
	if w.Group != "" {
		p.Spec.SchedulingGroup = &schedulingGroup{w.Group}
	}
	for _, t := range w.Tolerations {
		p.Spec.Tolerations = append(p.Spec.Tolerations, toleration{t.Key, string(t.Operator), t.Value, string(t.Effect)})
	}
	for i := range w.Spread {
		p.Spec.Spread = append(p.Spec.Spread, spreadOf(&w.Spread[i]))
	}
	for _, name := range w.Gates {
		p.Spec.SchedulingGates = append(p.Spec.SchedulingGates, schedulingGate{name})
	}
	return json.Marshal(p)
}

// Node implements [Codec].
func (Neutral) Node(n *model.Node) (json.RawMessage, error) {
	out := node{
		Metadata: objectMeta{Name: n.Name, Labels: n.Labels},
		Spec:     nodeSpec{Unschedulable: n.Unschedulable},
		Status:   nodeStatus{Allocatable: amountsOf(&n.Allocatable), DeclaredFeatures: n.Features},
	}
	var devices model.Resources // in thousandths
	for _, t := range n.Taints {
		out.Spec.Taints = append(out.Spec.Taints, taint{t.Key, t.Value, string(t.Effect)})
	}
	for _, d := range n.Devices {
		devices.Add(&model.Resources{Scalars: []model.Scalar{{Name: d.Class, Amount: model.WholeDevice}}})
	}
	out.Status.Allocatable.addDevices(&devices)
	switch n.MaxWorkloads {
	case model.Unlimited:
	case model.NoWorkloads:
		out.Status.Allocatable["pods"] = "0"
	default:
		out.Status.Allocatable["pods"] = strconv.FormatInt(n.MaxWorkloads, 10)
	}
	out.Status.Capacity = out.Status.Allocatable
	for _, image := range n.Images {
		out.Status.Images = append(out.Status.Images, nodeImage{image.Names, image.Size})
	}
	return json.Marshal(out)
}

// containersOf spreads what the workload asks for over containers: the first has
// it all.
func containersOf(w *model.Workload) []container {
	list := make([]container, max(len(w.Images), 1))
	for i := range list {
		list[i].Name = "c" + strconv.Itoa(i)
		if i < len(w.Images) {
			list[i].Image = w.Images[i]
		}
	}
	for _, p := range w.Ports {
		list[0].Ports = append(list[0].Ports, containerPort{p.Port, p.Port, string(p.Protocol), p.IP})
	}
	var devices model.Resources // in thousandths
	for i := range w.Devices {
		d := &w.Devices[i]
		devices.Add(&model.Resources{Scalars: []model.Scalar{{Name: d.Class, Amount: d.Total()}}})
	}
	requests, limits := amountsOf(&w.Requests), amountsOf(&model.Resources{Scalars: w.Requests.Scalars})
	requests.addDevices(&devices)
	limits.addDevices(&devices)
	list[0].Resources.Requests, list[0].Resources.Limits = requests, limits
	return list
}

// stamp is a time as Kubernetes writes it, to the second; none for the zero time.
func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// affinityOf is the node and the workload affinity. A node that the workload
// insists on, and is not on yet, is one more condition of every term.
func affinityOf(w *model.Workload, node string) *affinity {
	a := affinity{PodAffinity: podAffinityOf(w.Affinity), PodAntiAffinity: podAffinityOf(w.AntiAffinity)}
	var required *model.NodeTerms
	var preferred []model.PreferredNodeTerm
	if w.NodeAffinity != nil {
		required, preferred = w.NodeAffinity.Required, w.NodeAffinity.Preferred
	}
	insists := w.NodeName != "" && node == ""
	if required == nil && insists {
		required = &model.NodeTerms{Terms: []model.NodeTerm{{}}}
	}
	if required != nil || len(preferred) > 0 {
		a.NodeAffinity = &nodeAffinity{}
	}
	if required != nil {
		a.NodeAffinity.Required = &nodeSelector{Terms: []nodeSelectorTerm{}}
		for i := range required.Terms {
			term := nodeTermOf(&required.Terms[i])
			// An empty term of the workload's own matches no node.
			if insists && (w.NodeAffinity == nil || w.NodeAffinity.Required == nil || !required.Terms[i].IsEmpty()) {
				term.MatchFields = append(term.MatchFields, requirement{fieldName, string(model.In), []string{w.NodeName}})
			}
			a.NodeAffinity.Required.Terms = append(a.NodeAffinity.Required.Terms, term)
		}
	}
	for i := range preferred {
		a.NodeAffinity.Preferred = append(a.NodeAffinity.Preferred, preferredNodeTerm{preferred[i].Weight, nodeTermOf(&preferred[i].NodeTerm)})
	}
	if a == (affinity{}) {
		return nil
	}
	return &a
}

// fieldName is what Kubernetes calls [model.FieldName].
const fieldName = "metadata.name"

func nodeTermOf(t *model.NodeTerm) nodeSelectorTerm {
	out := nodeSelectorTerm{MatchExpressions: requirementsOf(t.Labels), MatchFields: requirementsOf(t.Fields)}
	for i := range out.MatchFields {
		if out.MatchFields[i].Key == model.FieldName {
			out.MatchFields[i].Key = fieldName
		}
	}
	return out
}

func requirementsOf(list []model.Requirement) []requirement {
	var out []requirement
	for _, r := range list {
		out = append(out, requirement{r.Key, string(r.Operator), r.Values})
	}
	return out
}

func selectorOf(s *model.Selector) *labelSelector {
	if s == nil {
		return nil
	}
	return &labelSelector{requirementsOf(s.Requirements)}
}

func podAffinityOf(a *model.WorkloadAffinity) *podAffinity {
	if a == nil {
		return nil
	}
	out := &podAffinity{}
	for i := range a.Required {
		out.Required = append(out.Required, affinityTermOf(&a.Required[i]))
	}
	for i := range a.Preferred {
		out.Preferred = append(out.Preferred, weightedTerm{a.Preferred[i].Weight, affinityTermOf(&a.Preferred[i].AffinityTerm)})
	}
	return out
}

func affinityTermOf(t *model.AffinityTerm) podAffinityTerm {
	return podAffinityTerm{selectorOf(t.Selector), t.Namespaces, t.TopologyKey, selectorOf(t.NamespaceSelector)}
}

func spreadOf(c *model.SpreadConstraint) spreadConstraint {
	when := "DoNotSchedule"
	if c.Mode == model.SpreadPreferred {
		when = "ScheduleAnyway"
	}
	return spreadConstraint{
		MaxSkew: c.MaxSkew, TopologyKey: c.TopologyKey, WhenUnsatisfiable: when, LabelSelector: selectorOf(c.Selector),
		MinDomains: c.MinDomains, NodeAffinityPolicy: string(c.NodeAffinityPolicy), NodeTaintsPolicy: string(c.NodeTaintsPolicy),
		MatchLabelKeys: c.MatchLabelKeys,
	}
}
