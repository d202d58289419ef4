package model_test

import (
	"testing"

	. "github.com/berth-project/berth/model"
	"github.com/berth-project/berth/model/modeltest"
)

// fullWorkload uses every field that has rules.
func fullWorkload() *Workload {
	ssd := Requirement{Key: "disk", Operator: In, Values: []string{"ssd"}}
	return modeltest.Workload("w").Namespace("ns").Label("app", "web").CPU(100).Memory(1<<20).Resource("licences", 1).
		NodeSelector("disk", "ssd").RequireNode(ssd).PreferNode(5, ssd).Near("zone", "app", "db").Away("host", "app", "web").
		Spread("zone", 1, SpreadRequired, "app", "web").Spread("zone", 2, SpreadPreferred, "app", "web").
		Tolerate("dedicated").Port(80).Port(443).Images("web", "web").Devices(2, "gpu").DeviceShare(500, "gpu").Gate("quota").
		Build()
}

// TestValidateWorkload has a row for each rule of a workload; every row changes
// one thing in a valid workload.
func TestValidateWorkload(t *testing.T) {
	tests := []struct {
		change func(*Workload)
		want   string
	}{
		{func(*Workload) {}, ``},
		{func(w *Workload) { w.ID = "" }, `id: must not be empty`},
		{func(w *Workload) { w.Labels[""] = "x" }, `labels: has an empty key`},
		{func(w *Workload) { w.Preemption = "Maybe" }, `preemption: "Maybe" is not one of PreemptLowerPriority, Never`},
		{func(w *Workload) { w.QoS = BestEffort }, ``},
		{func(w *Workload) { w.QoS = "Good" }, `qos: "Good" is not one of Guaranteed, Burstable, BestEffort`},
		{func(w *Workload) { w.Syscalls = []string{"bind", "read"} }, ``},
		{func(w *Workload) { w.Syscalls = []string{"read", "bind", "bind"} }, "syscalls[1]: \"bind\" is not above \"read\", which is before it\nsyscalls[2]: \"bind\" is not above \"bind\", which is before it"},
		{func(w *Workload) { w.Syscalls = []string{""} }, `syscalls[0]: "" is not above "", which is before it`},
		{func(w *Workload) { w.Requests.CPU = -5 }, `requests.cpu: -5 is less than 0`},
		{func(w *Workload) { w.Requests.Scalars[0].Name = CPU }, `requests.scalars[0].name: "cpu" is no scalar, it has a field of its own`},
		{func(w *Workload) { w.Estimate = &Resources{} }, ``},
		{func(w *Workload) { w.Estimate = &Resources{Memory: -1} }, `estimate.memory: -1 is less than 0`},
		{func(w *Workload) { w.NodeSelector[""] = "x" }, `nodeSelector: has an empty key`},

		{func(w *Workload) { w.NodeAffinity.Required.Terms = nil }, `nodeAffinity.required.terms: must have at least one term; without any, no node would do`},
		{func(w *Workload) { w.NodeAffinity.Required.Terms[0] = NodeTerm{} }, ``},
		{func(w *Workload) { w.NodeAffinity.Required.Terms[0].Labels[0].Key = "" }, `nodeAffinity.required.terms[0].labels[0].key: must not be empty`},
		{func(w *Workload) { w.NodeAffinity.Preferred[0].Weight = 0 }, `nodeAffinity.preferred[0].weight: 0 is not between 1 and 100`},
		{func(w *Workload) { w.NodeAffinity.Preferred[0].Weight = 101 }, `nodeAffinity.preferred[0].weight: 101 is not between 1 and 100`},
		{func(w *Workload) { w.NodeAffinity.Preferred[0].NodeTerm = NodeTerm{} }, ``},
		{func(w *Workload) { w.NodeAffinity.Preferred[0].Labels[0].Values = nil }, `nodeAffinity.preferred[0].labels[0].values: In wants at least one value`},

		{func(w *Workload) { w.Affinity.Required[0].TopologyKey = "" }, `affinity.required[0].topologyKey: must not be empty`},
		{func(w *Workload) { w.Affinity.Required[0].Selector = nil }, ``},
		{func(w *Workload) { w.Affinity.Required[0].Namespaces = []string{""} }, ``},
		{func(w *Workload) {
			w.AntiAffinity.Required[0].NamespaceSelector = &Selector{[]Requirement{{Key: "a", Operator: "="}}}
		}, `antiAffinity.required[0].namespaceSelector.requirements[0].operator: "=" is not one of In, NotIn, Exists, DoesNotExist, Gt, Lt`},
		{func(w *Workload) {
			w.AntiAffinity.Preferred = []WeightedAffinityTerm{{Weight: -1, AffinityTerm: AffinityTerm{TopologyKey: "zone"}}}
		}, `antiAffinity.preferred[0].weight: -1 is not between 1 and 100`},

		{func(w *Workload) { w.Spread[0].TopologyKey = "" }, `spread[0].topologyKey: must not be empty`},
		{func(w *Workload) { w.Spread[0].MaxSkew = 0 }, `spread[0].maxSkew: 0 is less than 1`},
		{func(w *Workload) { w.Spread[0].Mode = "" }, `spread[0].mode: "" is not one of Required, Preferred`},
		{func(w *Workload) { w.Spread[1].Mode = SpreadRequired }, `spread[1]: has the same topology key and mode as [0]`},
		{func(w *Workload) { w.Spread[0].MinDomains = 3 }, ``},
		{func(w *Workload) { w.Spread[0].MinDomains = -1 }, `spread[0].minDomains: -1 is less than 0`},
		{func(w *Workload) { w.Spread[1].MinDomains = 3 }, `spread[1].minDomains: only has a meaning where mode is Required`},
		{func(w *Workload) { w.Spread[0].NodeAffinityPolicy = "no" }, `spread[0].nodeAffinityPolicy: "no" is not one of Honor, Ignore`},
		{func(w *Workload) { w.Spread[0].NodeTaintsPolicy = "no" }, `spread[0].nodeTaintsPolicy: "no" is not one of Honor, Ignore`},
		{func(w *Workload) { w.Spread[0].MatchLabelKeys = []string{"app", "app"} }, ``},
		{func(w *Workload) { w.Spread[0].MatchLabelKeys = []string{"app", ""} }, `spread[0].matchLabelKeys[1]: must not be empty`},
		{func(w *Workload) { w.Spread[0].Selector, w.Spread[0].MatchLabelKeys = nil, []string{"app"} }, `spread[0].matchLabelKeys: has no selector to be added to`},

		{func(w *Workload) { w.Tolerations[0].Value = "x" }, `tolerations[0].value: must be empty where operator is Exists`},
		{func(w *Workload) { w.Tolerations[0].Key = "" }, ``},
		{func(w *Workload) { w.Tolerations[0] = Toleration{} }, `tolerations[0].key: may only be empty, for every key, where operator is Exists`},
		{func(w *Workload) { w.Tolerations[0] = Toleration{Key: "a", Operator: "gt", Value: "1"} }, `tolerations[0].operator: "gt" is not one of Equal, Exists, Gt, Lt`},
		{func(w *Workload) { w.Tolerations[0] = Toleration{Key: "a", Operator: Gt, Value: "-1"} }, ``},
		{func(w *Workload) {
			w.Tolerations[0] = Toleration{Key: "a", Operator: Lt, Value: "9223372036854775807"}
		}, ``},
		{func(w *Workload) {
			w.Tolerations[0] = Toleration{Operator: Lt, Value: "9223372036854775808", Effect: "Evict"}
		},
			`tolerations[0].key: may only be empty, for every key, where operator is Exists
tolerations[0].value: "9223372036854775808" is not a whole number of 64 bits without a plus sign or leading zeros
tolerations[0].effect: "Evict" is not one of NoSchedule, PreferNoSchedule, NoExecute`},
		{func(w *Workload) { w.Tolerations[0] = Toleration{Key: "a", Operator: Gt} },
			`tolerations[0].value: "" is not a whole number of 64 bits without a plus sign or leading zeros`},
		{func(w *Workload) { w.Tolerations[0] = Toleration{Key: "a", Operator: Gt, Value: "+1"} },
			`tolerations[0].value: "+1" is not a whole number of 64 bits without a plus sign or leading zeros`},
		{func(w *Workload) { w.Tolerations[0] = Toleration{Key: "a", Operator: Gt, Value: "0"} }, ``},
		{func(w *Workload) { w.Tolerations[0] = Toleration{Key: "a", Operator: Gt, Value: "-"} },
			`tolerations[0].value: "-" is not a whole number of 64 bits without a plus sign or leading zeros`},
		{func(w *Workload) { w.Tolerations[0] = Toleration{Key: "a", Operator: Gt, Value: "95.5"} },
			`tolerations[0].value: "95.5" is not a whole number of 64 bits without a plus sign or leading zeros`},
		{func(w *Workload) { w.Tolerations[0] = Toleration{Key: "a", Operator: Lt, Value: "01"} },
			`tolerations[0].value: "01" is not a whole number of 64 bits without a plus sign or leading zeros`},
		{func(w *Workload) { w.Tolerations[0].Effect = "Evict" }, `tolerations[0].effect: "Evict" is not one of NoSchedule, PreferNoSchedule, NoExecute`},

		{func(w *Workload) { w.Ports[0].Port = 0 }, `ports[0].port: 0 is not between 1 and 65535`},
		{func(w *Workload) { w.Ports[0].Port = 65536 }, `ports[0].port: 65536 is not between 1 and 65535`},
		{func(w *Workload) { w.Ports[0].Protocol = "tcp" }, `ports[0].protocol: "tcp" is not one of TCP, UDP, SCTP`},
		{func(w *Workload) { w.Ports[1] = HostPort{Port: 80, Protocol: TCP} }, `ports[1]: has the same address, protocol and port as [0]`},
		{func(w *Workload) { w.Ports[1] = HostPort{Port: 80, Protocol: UDP} }, ``},
		{func(w *Workload) { w.Ports[1] = HostPort{Port: 80, IP: AllAddresses} }, ``},
		{func(w *Workload) { w.Images[1] = "" }, `images[1]: must not be empty`},

		{func(w *Workload) { w.Devices[0].Class = "" }, `devices[0].class: must not be empty`},
		{func(w *Workload) { w.Devices[0].Count = 0 }, `devices[0].count: 0 is less than 1`},
		{func(w *Workload) { w.Devices[0].Share = 0 }, `devices[0].share: 0 is not between 1 and 1000`},
		{func(w *Workload) { w.Devices[0].Share = 1001 }, `devices[0].share: 1001 is not between 1 and 1000`},
		{func(w *Workload) { w.Devices[1].Count = 2 }, `devices[1].count: 2 must be 1 where share is less than a whole device`},
		{func(w *Workload) { w.Devices[0].Models = []string{"T4", ""} }, `devices[0].models[1]: must not be empty`},
		{func(w *Workload) { w.Gates = []string{""} }, `gates[0]: must not be empty`},
		{func(w *Workload) { w.Gates = []string{"a", "b", "a"} }, `gates[2]: has the same name as [0]`},
	}
	for _, tt := range tests {
		w := fullWorkload()
		tt.change(w)
		checkProblems(t, w, lines(tt.want)...)
	}
}

// TestValidateRequirement has a row for each operator and number of values.
func TestValidateRequirement(t *testing.T) {
	const labels, fields = "nodeAffinity.required.terms[0].labels[0].", "nodeAffinity.required.terms[0].fields[0]."
	tests := []struct {
		requirement         Requirement
		asLabel, asTheField string
	}{
		{Requirement{"name", In, []string{"a"}}, ``, ``},
		{Requirement{"name", NotIn, []string{""}}, ``, ``},
		{Requirement{"name", In, []string{"a", "a"}}, ``, fields + `values: must be exactly one value, not 2`},
		{Requirement{"name", NotIn, nil}, labels + `values: NotIn wants at least one value`, fields + `values: must be exactly one value, not 0`},
		{Requirement{"name", Exists, []string{"a"}}, labels + `values: Exists wants no values`, fields + `operator: "Exists" is not one of In, NotIn`},
		{Requirement{"name", DoesNotExist, []string{"a"}}, labels + `values: DoesNotExist wants no values`, fields + `operator: "DoesNotExist" is not one of In, NotIn`},
		{Requirement{"name", Gt, []string{"-5"}}, ``, fields + `operator: "Gt" is not one of In, NotIn`},
		{Requirement{"name", Lt, []string{"x"}}, labels + `values[0]: "x" is not a whole number of 64 bits`, fields + `operator: "Lt" is not one of In, NotIn`},
		{Requirement{"name", Lt, nil}, labels + `values: Lt wants exactly one value, not 0`,
			fields + "operator: \"Lt\" is not one of In, NotIn\n" + fields + `values: must be exactly one value, not 0`},
		{Requirement{"name", Gt, []string{"1", "2"}}, labels + `values: Gt wants exactly one value, not 2`,
			fields + "operator: \"Gt\" is not one of In, NotIn\n" + fields + `values: must be exactly one value, not 2`},
		{Requirement{"", In, []string{"a"}}, labels + `key: must not be empty`, fields + `key: "" is not "name", the only field`},
		{Requirement{"zone", In, []string{"a"}}, ``, fields + `key: "zone" is not "name", the only field`},
	}
	for _, tt := range tests {
		q := []Requirement{tt.requirement}
		w := modeltest.Workload("w").RequireNode(tt.requirement).Build()
		checkProblems(t, w, lines(tt.asLabel)...)
		w.NodeAffinity.Required.Terms[0] = NodeTerm{Fields: q}
		checkProblems(t, w, lines(tt.asTheField)...)
	}
}

// TestValidateReportsAll: everything that is wrong is said at once, in the
// order of the fields.
func TestValidateReportsAll(t *testing.T) {
	checkProblems(t, &Workload{
		Gates:       []string{"", "a", "a"},
		Ports:       []HostPort{{Port: -1}},
		Tolerations: []Toleration{{Operator: "x"}},
		Spread:      []SpreadConstraint{{}},
		Affinity:    &WorkloadAffinity{Required: []AffinityTerm{{}, {}}},
		Requests:    Resources{Memory: -1, CPU: -1},
	},
		`id: must not be empty`,
		`requests.cpu: -1 is less than 0`,
		`requests.memory: -1 is less than 0`,
		`affinity.required[0].topologyKey: must not be empty`,
		`affinity.required[1].topologyKey: must not be empty`,
		`spread[0].topologyKey: must not be empty`,
		`spread[0].maxSkew: 0 is less than 1`,
		`spread[0].mode: "" is not one of Required, Preferred`,
		`tolerations[0].operator: "x" is not one of Equal, Exists, Gt, Lt`,
		`ports[0].port: -1 is not between 1 and 65535`,
		`gates[0]: must not be empty`,
		`gates[2]: has the same name as [1]`)
}
