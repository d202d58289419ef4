package extender_test

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/extender"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/model/modeltest"
)

// Everything that the model knows and Kubernetes has a place for.
func TestNeutralPod(t *testing.T) {
	selector := &model.Selector{Requirements: []model.Requirement{{Key: "app", Operator: model.In, Values: []string{"web"}}}}
	w := &extpoints.WorkloadInfo{
		Workload: &model.Workload{
			ID: "uid-1", Namespace: "shop", Name: "web", Labels: map[string]string{"app": "web"}, Profile: "batch", Group: "g",
			Priority: 7, Preemption: model.PreemptNever, CreatedAt: time.Date(2026, 1, 2, 3, 4, 5, 6, time.FixedZone("", 3600)),
			Requests:     model.Resources{CPU: 1500, Memory: 1 << 30, EphemeralStorage: 5, Scalars: []model.Scalar{{Name: "licences", Amount: 2}, {Name: "none"}}},
			Devices:      []model.DeviceRequest{{Class: "gpu", Count: 2, Share: 1000}, {Class: "gpu", Count: 1, Share: 500}, {Class: "fpga", Count: 1, Share: 1000}},
			NodeSelector: map[string]string{"disk": "ssd"},
			NodeAffinity: &model.NodeAffinity{
				Required: &model.NodeTerms{Terms: []model.NodeTerm{{
					Labels: []model.Requirement{{Key: "cores", Operator: model.Gt, Values: []string{"8"}}},
					Fields: []model.Requirement{{Key: model.FieldName, Operator: model.NotIn, Values: []string{"n9"}}},
				}}},
				Preferred: []model.PreferredNodeTerm{{Weight: 5, NodeTerm: model.NodeTerm{Labels: []model.Requirement{{Key: "new", Operator: model.Exists}}}}},
			},
			Affinity: &model.WorkloadAffinity{Required: []model.AffinityTerm{{Selector: selector, Namespaces: []string{"shop"}, TopologyKey: "zone"}}},
			AntiAffinity: &model.WorkloadAffinity{Preferred: []model.WeightedAffinityTerm{
				{Weight: 9, AffinityTerm: model.AffinityTerm{NamespaceSelector: &model.Selector{}, TopologyKey: "host"}}}},
			Spread: []model.SpreadConstraint{
				{TopologyKey: "zone", MaxSkew: 2, Mode: model.SpreadRequired, Selector: selector, MinDomains: 3, NodeAffinityPolicy: model.Ignore, NodeTaintsPolicy: model.Honor, MatchLabelKeys: []string{"rev"}},
				{TopologyKey: "host", MaxSkew: 1, Mode: model.SpreadPreferred},
			},
			Tolerations: []model.Toleration{{Key: "k", Operator: model.Equal, Value: "v", Effect: model.NoSchedule}, {Operator: model.Exists}},
			Ports:       []model.HostPort{{Port: 80}, {IP: "10.0.0.1", Protocol: model.UDP, Port: 53}},
			Images:      []string{"web:1", "log:2"}, Gates: []string{"quota"},
		},
		Nominated: "n3", PlacedAt: epoch,
	}
	raw, err := extender.Neutral{}.Pod(w, "")
	require.NoError(t, err)
	require.JSONEq(t, `{
		"metadata": {"name": "web", "namespace": "shop", "uid": "uid-1", "creationTimestamp": "2026-01-02T02:04:05Z", "labels": {"app": "web"}},
		"spec": {
			"schedulerName": "batch", "schedulingGroup": {"podGroupName": "g"}, "priority": 7, "preemptionPolicy": "Never",
			"nodeSelector": {"disk": "ssd"},
			"affinity": {
				"nodeAffinity": {
					"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{
						"matchExpressions": [{"key": "cores", "operator": "Gt", "values": ["8"]}],
						"matchFields": [{"key": "metadata.name", "operator": "NotIn", "values": ["n9"]}]}]},
					"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 5, "preference": {"matchExpressions": [{"key": "new", "operator": "Exists"}]}}]},
				"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{
					"labelSelector": {"matchExpressions": [{"key": "app", "operator": "In", "values": ["web"]}]}, "namespaces": ["shop"], "topologyKey": "zone"}]},
				"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 9, "podAffinityTerm": {"topologyKey": "host", "namespaceSelector": {}}}]}},
			"topologySpreadConstraints": [
				{"maxSkew": 2, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {"matchExpressions": [{"key": "app", "operator": "In", "values": ["web"]}]},
					"minDomains": 3, "nodeAffinityPolicy": "Ignore", "nodeTaintsPolicy": "Honor", "matchLabelKeys": ["rev"]},
				{"maxSkew": 1, "topologyKey": "host", "whenUnsatisfiable": "ScheduleAnyway"}],
			"tolerations": [{"key": "k", "operator": "Equal", "value": "v", "effect": "NoSchedule"}, {"operator": "Exists"}],
			"schedulingGates": [{"name": "quota"}],
			"containers": [
				{"name": "c0", "image": "web:1",
					"ports": [{"hostPort": 80, "containerPort": 80}, {"hostPort": 53, "containerPort": 53, "protocol": "UDP", "hostIP": "10.0.0.1"}],
					"resources": {
						"requests": {"cpu": "1500m", "memory": "1073741824", "ephemeral-storage": "5", "licences": "2", "none": "0", "gpu": "2500m", "fpga": "1"},
						"limits": {"licences": "2", "none": "0", "gpu": "2500m", "fpga": "1"}}},
				{"name": "c1", "image": "log:2", "resources": {}}]},
		"status": {"nominatedNodeName": "n3"}}`, string(raw))
}

func TestNeutralPodOfAlmostNothing(t *testing.T) {
	raw, err := extender.Neutral{}.Pod(&extpoints.WorkloadInfo{Workload: &model.Workload{ID: "uid-1"}, PlacedAt: epoch}, "n1")
	require.NoError(t, err)
	require.JSONEq(t, `{
		"metadata": {"name": "uid-1", "uid": "uid-1"},
		"spec": {"priority": 0, "nodeName": "n1", "containers": [{"name": "c0", "resources": {}}]},
		"status": {"startTime": "2026-01-01T00:00:00Z"}}`, string(raw))
}

// A workload that must have one node says so in a way that does not look as if
// it were there already.
func TestNeutralNodeName(t *testing.T) {
	required := func(a *model.NodeAffinity, node string) string {
		raw, err := extender.Neutral{}.Pod(&extpoints.WorkloadInfo{Workload: &model.Workload{ID: "w", NodeName: "n1", NodeAffinity: a}}, node)
		require.NoError(t, err)
		var p struct {
			Spec struct {
				NodeName string
				Affinity struct {
					NodeAffinity struct {
						Required json.RawMessage `json:"requiredDuringSchedulingIgnoredDuringExecution"`
					}
				}
			}
		}
		require.NoError(t, json.Unmarshal(raw, &p))
		require.Equal(t, node, p.Spec.NodeName)
		return string(p.Spec.Affinity.NodeAffinity.Required)
	}
	label := model.NodeTerm{Labels: []model.Requirement{{Key: "a", Operator: model.Exists}}}
	preferred := &model.NodeAffinity{Preferred: []model.PreferredNodeTerm{{Weight: 1, NodeTerm: label}}}
	const named = `{"key":"metadata.name","operator":"In","values":["n1"]}`
	require.Equal(t, `{"nodeSelectorTerms":[{"matchFields":[`+named+`]}]}`, required(nil, ""))
	require.Equal(t, `{"nodeSelectorTerms":[{"matchFields":[`+named+`]}]}`, required(preferred, ""))
	require.Equal(t, `{"nodeSelectorTerms":[{"matchExpressions":[{"key":"a","operator":"Exists"}],"matchFields":[`+named+`]},{}]}`,
		required(&model.NodeAffinity{Required: &model.NodeTerms{Terms: []model.NodeTerm{label, {}}}}, ""))
	require.Empty(t, required(nil, "n1"), "it is there")
}

func TestNeutralNode(t *testing.T) {
	n := &model.Node{
		Name: "n1", Labels: map[string]string{"zone": "a"}, Zone: "a", Unschedulable: true, MaxWorkloads: 110,
		Allocatable: model.Resources{CPU: 3500, Memory: 1 << 30, Scalars: []model.Scalar{{Name: "licences", Amount: 4}}},
		Taints:      []model.Taint{{Key: "k", Value: "v", Effect: model.NoExecute}},
		Images:      []model.NodeImage{{Names: []string{"web:1"}, Size: 5}},
		Devices:     []model.Device{{Class: "gpu"}, {Class: "gpu", Model: "T4"}, {Class: "fpga"}},
		Features:    []string{"Swap"},
	}
	raw, err := extender.Neutral{}.Node(n)
	require.NoError(t, err)
	const amounts = `{"cpu": "3500m", "memory": "1073741824", "licences": "4", "gpu": "2", "fpga": "1", "pods": "110"}`
	require.JSONEq(t, `{
		"metadata": {"name": "n1", "labels": {"zone": "a"}},
		"spec": {"unschedulable": true, "taints": [{"key": "k", "value": "v", "effect": "NoExecute"}]},
		"status": {"allocatable": `+amounts+`, "capacity": `+amounts+`, "images": [{"names": ["web:1"], "sizeBytes": 5}], "declaredFeatures": ["Swap"]}}`, string(raw))
	for most, want := range map[int64]string{model.Unlimited: "", model.NoWorkloads: `{"pods":"0"}`} {
		raw, err := extender.Neutral{}.Node(&model.Node{Name: "n", MaxWorkloads: most})
		require.NoError(t, err)
		var got struct {
			Status struct{ Allocatable json.RawMessage }
		}
		require.NoError(t, json.Unmarshal(raw, &got))
		require.Equal(t, want, string(got.Status.Allocatable))
	}
}

// Amounts beyond all bounds stay where they are.
func TestNeutralAbsurdDevices(t *testing.T) {
	huge := model.DeviceRequest{Class: "gpu", Count: math.MaxInt64, Share: 1000}
	raw, err := extender.Neutral{}.Pod(&extpoints.WorkloadInfo{Workload: &model.Workload{ID: "w", Devices: []model.DeviceRequest{huge, huge}}}, "")
	require.NoError(t, err)
	require.Contains(t, string(raw), `"gpu":"9223372036854775807m"`)
}

// Random objects are not changed, and become JSON that is the same each time.
func TestNeutralRandom(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 500 {
		w, n := modeltest.RandomWorkload(r), modeltest.RandomNode(r)
		before, err := json.Marshal([]any{w, n})
		require.NoError(t, err)
		info := &extpoints.WorkloadInfo{Workload: w}
		pod, err := extender.Neutral{}.Pod(info, "")
		require.NoError(t, err)
		node, err := extender.Neutral{}.Node(n)
		require.NoError(t, err)
		again, err := extender.Neutral{}.Pod(info, "")
		require.NoError(t, err)
		require.Equal(t, string(pod), string(again), "object %d", i)
		var read struct{ Metadata struct{ Name, UID string } }
		require.NoError(t, json.Unmarshal(pod, &read))
		require.Equal(t, w.ID, read.Metadata.UID)
		require.NoError(t, json.Unmarshal(node, &read))
		require.Equal(t, n.Name, read.Metadata.Name)
		after, err := json.Marshal([]any{w, n})
		require.NoError(t, err)
		require.Equal(t, string(before), string(after), "object %d", i)
	}
}
