package extender

import (
	"strconv"

	"github.com/berth-project/berth/model"
)

// The shapes of Kubernetes' objects, as far as [Neutral] fills them in
// (k8s.io/api core/v1/types.go, 0.37.1).

type objectMeta struct {
	Name              string            `json:"name,omitempty"`
	Namespace         string            `json:"namespace,omitempty"`
	UID               string            `json:"uid,omitempty"`
	CreationTimestamp string            `json:"creationTimestamp,omitempty"`
	Labels            map[string]string `json:"labels,omitempty"`
}

type pod struct {
	Metadata objectMeta `json:"metadata"`
	Spec     podSpec    `json:"spec"`
	Status   podStatus  `json:"status"`
}

type podSpec struct {
	Containers       []container        `json:"containers"`
	NodeSelector     map[string]string  `json:"nodeSelector,omitempty"`
	NodeName         string             `json:"nodeName,omitempty"`
	Affinity         *affinity          `json:"affinity,omitempty"`
	SchedulerName    string             `json:"schedulerName,omitempty"`
	Tolerations      []toleration       `json:"tolerations,omitempty"`
	Priority         int32              `json:"priority"`
	PreemptionPolicy string             `json:"preemptionPolicy,omitempty"`
	Spread           []spreadConstraint `json:"topologySpreadConstraints,omitempty"`
	SchedulingGates  []schedulingGate   `json:"schedulingGates,omitempty"`
	SchedulingGroup  *schedulingGroup   `json:"schedulingGroup,omitempty"`
}

type podStatus struct {
	StartTime         string `json:"startTime,omitempty"`
	NominatedNodeName string `json:"nominatedNodeName,omitempty"`
}

type container struct {
	Name      string          `json:"name"`
	Image     string          `json:"image,omitempty"`
	Ports     []containerPort `json:"ports,omitempty"`
	Resources struct {
		Limits   quantities `json:"limits,omitempty"`
		Requests quantities `json:"requests,omitempty"`
	} `json:"resources"`
}

type containerPort struct {
	HostPort      int32  `json:"hostPort"`
	ContainerPort int32  `json:"containerPort"`
	Protocol      string `json:"protocol,omitempty"`
	HostIP        string `json:"hostIP,omitempty"`
}

type toleration struct {
	Key      string `json:"key,omitempty"`
	Operator string `json:"operator,omitempty"`
	Value    string `json:"value,omitempty"`
	Effect   string `json:"effect,omitempty"`
}

type schedulingGate struct {
	Name string `json:"name"`
}

type schedulingGroup struct {
	PodGroupName string `json:"podGroupName"`
}

type affinity struct {
	NodeAffinity    *nodeAffinity `json:"nodeAffinity,omitempty"`
	PodAffinity     *podAffinity  `json:"podAffinity,omitempty"`
	PodAntiAffinity *podAffinity  `json:"podAntiAffinity,omitempty"`
}

type nodeAffinity struct {
	Required  *nodeSelector       `json:"requiredDuringSchedulingIgnoredDuringExecution,omitempty"`
	Preferred []preferredNodeTerm `json:"preferredDuringSchedulingIgnoredDuringExecution,omitempty"`
}

type nodeSelector struct {
	Terms []nodeSelectorTerm `json:"nodeSelectorTerms"`
}

type nodeSelectorTerm struct {
	MatchExpressions []requirement `json:"matchExpressions,omitempty"`
	MatchFields      []requirement `json:"matchFields,omitempty"`
}

type preferredNodeTerm struct {
	Weight     int32            `json:"weight"`
	Preference nodeSelectorTerm `json:"preference"`
}

type requirement struct {
	Key      string   `json:"key"`
	Operator string   `json:"operator"`
	Values   []string `json:"values,omitempty"`
}

type labelSelector struct {
	MatchExpressions []requirement `json:"matchExpressions,omitempty"`
}

type podAffinity struct {
	Required  []podAffinityTerm `json:"requiredDuringSchedulingIgnoredDuringExecution,omitempty"`
	Preferred []weightedTerm    `json:"preferredDuringSchedulingIgnoredDuringExecution,omitempty"`
}

type podAffinityTerm struct {
	LabelSelector     *labelSelector `json:"labelSelector,omitempty"`
	Namespaces        []string       `json:"namespaces,omitempty"`
	TopologyKey       string         `json:"topologyKey"`
	NamespaceSelector *labelSelector `json:"namespaceSelector,omitempty"`
}

type weightedTerm struct {
	Weight          int32           `json:"weight"`
	PodAffinityTerm podAffinityTerm `json:"podAffinityTerm"`
}

type spreadConstraint struct {
	MaxSkew            int32          `json:"maxSkew"`
	TopologyKey        string         `json:"topologyKey"`
	WhenUnsatisfiable  string         `json:"whenUnsatisfiable"`
	LabelSelector      *labelSelector `json:"labelSelector,omitempty"`
	MinDomains         int32          `json:"minDomains,omitempty"`
	NodeAffinityPolicy string         `json:"nodeAffinityPolicy,omitempty"`
	NodeTaintsPolicy   string         `json:"nodeTaintsPolicy,omitempty"`
	MatchLabelKeys     []string       `json:"matchLabelKeys,omitempty"`
}

type node struct {
	Metadata objectMeta `json:"metadata"`
	Spec     nodeSpec   `json:"spec"`
	Status   nodeStatus `json:"status"`
}

type nodeSpec struct {
	Unschedulable bool    `json:"unschedulable,omitempty"`
	Taints        []taint `json:"taints,omitempty"`
}

type taint struct {
	Key    string `json:"key"`
	Value  string `json:"value,omitempty"`
	Effect string `json:"effect"`
}

type nodeStatus struct {
	Capacity         quantities  `json:"capacity,omitempty"`
	Allocatable      quantities  `json:"allocatable,omitempty"`
	Images           []nodeImage `json:"images,omitempty"`
	DeclaredFeatures []string    `json:"declaredFeatures,omitempty"`
}

type nodeImage struct {
	Names     []string `json:"names,omitempty"`
	SizeBytes int64    `json:"sizeBytes,omitempty"`
}

// quantities are amounts by name, as Kubernetes writes them.
type quantities map[string]string

func amountsOf(r *model.Resources) quantities {
	q := quantities{}
	if r.CPU != 0 {
		q[model.CPU] = thousandths(r.CPU)
	}
	if r.Memory != 0 {
		q[model.Memory] = strconv.FormatInt(r.Memory, 10)
	}
	if r.EphemeralStorage != 0 {
		q[model.EphemeralStorage] = strconv.FormatInt(r.EphemeralStorage, 10)
	}
	for _, s := range r.Scalars {
		q[s.Name] = strconv.FormatInt(s.Amount, 10)
	}
	return q
}

// addDevices adds classes of devices, in thousandths. A scalar of the same name
// stays as it is.
func (q quantities) addDevices(devices *model.Resources) {
	for _, d := range devices.Scalars {
		if _, taken := q[d.Name]; !taken {
			q[d.Name] = thousandths(d.Amount)
		}
	}
}

func thousandths(n int64) string {
	if n%1000 == 0 {
		return strconv.FormatInt(n/1000, 10)
	}
	return strconv.FormatInt(n, 10) + "m"
}

// podName is the name of the pod that stands for the workload.
func podName(w *model.Workload) string {
	if w.Name == "" {
		return w.ID
	}
	return w.Name
}
