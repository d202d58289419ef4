package model_test

import (
	"errors"
	"fmt"

	"github.com/berth-project/berth/model"
)

// A workload is a plain value; what it does not say has a default.
func ExampleWorkload() {
	w := &model.Workload{
		ID:        "web-7f3a",
		Namespace: "shop",
		Name:      "web",
		Labels:    map[string]string{"app": "web"},
		Requests:  model.Resources{CPU: model.Cores(0.5), Memory: model.MiB(256)}.With("licences", 1),
		Tolerations: []model.Toleration{
			{Key: "dedicated", Operator: model.Exists},
		},
		// Not two of them on one host.
		AntiAffinity: &model.WorkloadAffinity{
			Required: []model.AffinityTerm{{
				Selector:    model.SelectLabels(map[string]string{"app": "web"}),
				TopologyKey: "host",
			}},
		},
	}
	fmt.Println(w.DisplayName(), w.Requests.Names(), w.Validate())
	// Output: shop/web [cpu memory licences] <nil>
}

// Validate says all that is wrong at once.
func ExampleWorkload_Validate() {
	w := &model.Workload{
		ID:       "web-1",
		Requests: model.Resources{CPU: -500},
		Ports:    []model.HostPort{{Port: 80}, {Port: 80}},
	}
	err := w.Validate()
	fmt.Println(errors.Is(err, model.ErrInvalid))

	var invalid *model.ValidationError
	if errors.As(err, &invalid) {
		fmt.Println(invalid.Object)
		for _, p := range invalid.Problems {
			fmt.Println("-", p)
		}
	}
	// Output:
	// true
	// workload "web-1"
	// - requests.cpu: -500 is less than 0
	// - ports[1]: has the same address, protocol and port as [0]
}

// To change an object that an engine has, change a copy.
func ExampleNode_Clone() {
	n := &model.Node{Name: "n1", Labels: map[string]string{"zone": "z1"}}
	moved := n.Clone()
	moved.Labels["zone"] = "z2"
	fmt.Println(n.Labels["zone"], moved.Labels["zone"])
	// Output: z1 z2
}

func ExampleSelector_Matches() {
	s := &model.Selector{Requirements: []model.Requirement{
		{Key: "app", Operator: model.In, Values: []string{"web", "api"}},
		{Key: "tier", Operator: model.NotIn, Values: []string{"canary"}},
	}}
	fmt.Println(s.Matches(map[string]string{"app": "web"}))
	fmt.Println(s.Matches(map[string]string{"app": "web", "tier": "canary"}))

	var nothing *model.Selector
	everything := &model.Selector{}
	fmt.Println(nothing.Matches(nil), everything.Matches(nil))
	// Output:
	// true
	// false
	// false true
}

func ExampleSelectLabels() {
	s := model.SelectLabels(map[string]string{"app": "web", "tier": "front"})
	for _, r := range s.Requirements {
		fmt.Println(r.Key, r.Operator, r.Values)
	}
	// Output:
	// app In [web]
	// tier In [front]
}

func ExampleNodeTerms_Matches() {
	// Fast disks, or the one node that is known to be good enough.
	terms := &model.NodeTerms{Terms: []model.NodeTerm{
		{Labels: []model.Requirement{{Key: "iops", Operator: model.Gt, Values: []string{"5000"}}}},
		{Fields: []model.Requirement{{Key: model.FieldName, Operator: model.In, Values: []string{"n3"}}}},
	}}
	for _, n := range []*model.Node{
		{Name: "n1", Labels: map[string]string{"iops": "20000"}},
		{Name: "n2", Labels: map[string]string{"iops": "300"}},
		{Name: "n3"},
	} {
		fmt.Println(n.Name, terms.Matches(n))
	}
	// Output:
	// n1 true
	// n2 false
	// n3 true
}

func ExampleResources_Sub() {
	node := model.Resources{CPU: model.Cores(4), Memory: model.GiB(8), Scalars: []model.Scalar{{Name: "licences", Amount: 2}}}
	used := model.Resources{CPU: model.Cores(2.5), Memory: model.GiB(1)}.With("licences", 1)

	free := node.Clone()
	free.Sub(&used)
	fmt.Println(free.CPU, free.Memory>>30, free.Scalar("licences"))
	// Output: 1500 7 1
}

// Amounts of CPU are thousandths of a core, amounts of memory are bytes.
func ExampleCores() {
	fmt.Println(model.Cores(4), model.Cores(0.5), model.MiB(256), model.GiB(32))
	// Output: 4000 500 268435456 34359738368
}
