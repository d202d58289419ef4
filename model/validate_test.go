package model_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	. "github.com/berth-project/berth/model"
	"github.com/berth-project/berth/model/modeltest"
)

// checkProblems compares all problems of an object with the wanted lines.
func checkProblems(t *testing.T, object interface{ Validate() error }, want ...string) {
	t.Helper()
	var got []string
	var invalid *ValidationError
	err := object.Validate()
	if errors.As(err, &invalid) {
		for _, p := range invalid.Problems {
			got = append(got, p.String())
		}
	} else if err != nil {
		t.Errorf("not a ValidationError: %v", err)
	}
	if g, w := strings.Join(got, "\n"), strings.Join(want, "\n"); g != w {
		t.Errorf("%+v\ngot\n%s\nwant\n%s", object, g, w)
	}
}

// TestValidateNode has a row for each rule of a node.
func TestValidateNode(t *testing.T) {
	tests := []struct {
		node Node
		want string
	}{
		{Node{Name: "n"}, ""},
		{Node{}, `name: must not be empty`},
		{Node{Name: "n", Labels: map[string]string{"": "x", "a": ""}}, `labels: has an empty key`},
		{Node{Name: "n", Allocatable: Resources{CPU: -1}}, `allocatable.cpu: -1 is less than 0`},
		{Node{Name: "n", Allocatable: Resources{Memory: -2}}, `allocatable.memory: -2 is less than 0`},
		{Node{Name: "n", Allocatable: Resources{EphemeralStorage: -3}}, `allocatable.ephemeralStorage: -3 is less than 0`},
		{Node{Name: "n", Allocatable: Resources{Scalars: []Scalar{{"x", 0}, {"y", -1}}}}, `allocatable.scalars[1].amount: -1 is less than 0`},
		{Node{Name: "n", Allocatable: Resources{Scalars: []Scalar{{"", 1}}}}, `allocatable.scalars[0].name: must not be empty`},
		{Node{Name: "n", Allocatable: Resources{Scalars: []Scalar{{"memory", 1}}}}, `allocatable.scalars[0].name: "memory" is no scalar, it has a field of its own`},
		{Node{Name: "n", Allocatable: Resources{Scalars: []Scalar{{"x", 1}, {"y", 1}, {"x", 2}}}}, `allocatable.scalars[2]: has the same name as [0]`},
		{Node{Name: "n", MaxWorkloads: NoWorkloads}, ``},
		{Node{Name: "n", MaxWorkloads: -2}, `maxWorkloads: -2 is less than -1`},
		{Node{Name: "n", Taints: []Taint{{"", "v", NoSchedule}}}, `taints[0].key: must not be empty`},
		{Node{Name: "n", Taints: []Taint{{"k", "v", ""}}}, `taints[0].effect: "" is not one of NoSchedule, PreferNoSchedule, NoExecute`},
		{Node{Name: "n", Taints: []Taint{{"k", "v", NoSchedule}, {"k", "v", NoExecute}, {"l", "v", NoSchedule}}}, ``},
		{Node{Name: "n", Taints: []Taint{{"k", "v", NoSchedule}, {"k", "w", NoSchedule}}}, `taints[1]: has the same key and effect as [0]`},
		{Node{Name: "n", Images: []NodeImage{{}, {Names: []string{"a", "a"}}}}, ``},
		{Node{Name: "n", Images: []NodeImage{{Names: []string{"a", ""}}}}, `images[0].names[1]: must not be empty`},
		{Node{Name: "n", Images: []NodeImage{{Size: -1}}}, `images[0].size: -1 is less than 0`},
		{Node{Name: "n", Devices: []Device{{"gpu", ""}, {"gpu", ""}}}, ``},
		{Node{Name: "n", Devices: []Device{{"", "T4"}}}, `devices[0].class: must not be empty`},
	}
	for _, tt := range tests {
		checkProblems(t, &tt.node, lines(tt.want)...)
	}
}

func TestValidateGroup(t *testing.T) {
	tests := []struct {
		group Group
		want  string
	}{
		{Group{ID: "g"}, ``},
		{Group{ID: "g", Parent: "p", Policy: Gang, MinCount: 1, Disruption: DisruptAll, Preemption: PreemptNever}, ``},
		{Group{}, `id: must not be empty`},
		{Group{ID: "g", Parent: "g"}, `parent: is the group itself`},
		{Group{ID: "g", Policy: "All", MinCount: 3}, `policy: "All" is not one of Basic, Gang`},
		{Group{ID: "g", Policy: Gang}, `minCount: 0 is less than 1`},
		{Group{ID: "g", Policy: Gang, MinCount: -1}, `minCount: -1 is less than 1`},
		{Group{ID: "g", Policy: Basic, MinCount: 2}, `minCount: 2 is not 0, and only a Gang has a smallest count`},
		{Group{ID: "g", Policy: Gang, MinCount: 2, PermitTimeout: -time.Second}, `permitTimeout: -1s is less than 0`},
		{Group{ID: "g", PermitTimeout: time.Second}, `permitTimeout: 1s is not 0, and only members of a Gang wait for each other`},
		{Group{ID: "g", MinCount: 2}, `minCount: 2 is not 0, and only a Gang has a smallest count`},
		{Group{ID: "g", Preemption: "Always"}, `preemption: "Always" is not one of PreemptLowerPriority, Never`},
		{Group{ID: "g", Disruption: "None"}, `disruption: "None" is not one of Single, All`},
	}
	for _, tt := range tests {
		checkProblems(t, &tt.group, lines(tt.want)...)
	}
}

func TestValidateOthers(t *testing.T) {
	badSelector := &Selector{[]Requirement{{Key: "a", Operator: Exists}, {Key: "b", Operator: In}}}
	checkProblems(t, &Budget{ID: "b"})
	checkProblems(t, &Budget{ID: "b", Displaced: []string{"w1", "w1"}, Selector: &Selector{}})
	checkProblems(t, &Budget{Selector: badSelector, Allowed: -1, Displaced: []string{"w", ""}},
		"id: must not be empty",
		"selector.requirements[1].values: In wants at least one value",
		"allowed: -1 is less than 0",
		"displaced[1]: must not be empty")

	checkProblems(t, &Namespace{Name: "n"})
	checkProblems(t, &Namespace{Labels: map[string]string{"": ""}},
		"name: must not be empty",
		"labels: has an empty key")
}

// TestValidationError: what the caller sees of it.
func TestValidationError(t *testing.T) {
	w := &Workload{ID: "web-1", Requests: Resources{CPU: -1}, Affinity: &WorkloadAffinity{Required: []AffinityTerm{{
		Selector:    &Selector{[]Requirement{{Key: "a", Operator: Exists}, {Key: "b", Operator: "Foo"}}},
		TopologyKey: "zone",
	}}}}
	err := fmt.Errorf("submit: %w", w.Validate())
	if !errors.Is(err, ErrInvalid) {
		t.Error("is not ErrInvalid")
	}
	var invalid *ValidationError
	if !errors.As(err, &invalid) || invalid.Object != `workload "web-1"` || len(invalid.Problems) != 2 {
		t.Errorf("%+v", invalid)
	}
	want := `submit: workload "web-1": requests.cpu: -1 is less than 0; ` +
		`affinity.required[0].selector.requirements[1].operator: "Foo" is not one of In, NotIn, Exists, DoesNotExist, Gt, Lt`
	if err.Error() != want {
		t.Errorf("got  %s\nwant %s", err, want)
	}

	for object, want := range map[interface{ Validate() error }]string{
		&Node{Name: "n", MaxWorkloads: -9}: `node "n": `,
		&Group{}:                           `group "": `,
		&Budget{ID: "b", Allowed: -1}:      `budget "b": `,
		&Namespace{}:                       `namespace "": `,
	} {
		if err := object.Validate(); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v does not start with %s", err, want)
		}
	}
}

// TestBrokenIsReported: several random breakages of one object are all
// reported, each for its field.
func TestBrokenIsReported(t *testing.T) {
	r := seeded(t)
	for range 3000 {
		w, n := modeltest.RandomWorkload(r), modeltest.RandomNode(r)
		checkBroken(t, w, modeltest.BreakWorkload(r, w))
		checkBroken(t, n, modeltest.BreakNode(r, n))
		g, b, ns := modeltest.RandomGroup(r), modeltest.RandomBudget(r), modeltest.RandomNamespace(r)
		checkBroken(t, g, modeltest.BreakGroup(r, g))
		checkBroken(t, b, modeltest.BreakBudget(r, b))
		checkBroken(t, ns, modeltest.BreakNamespace(r, ns))
		several := modeltest.RandomWorkload(r)
		several.ID = ""
		checkBroken(t, several, modeltest.BreakWorkload(r, several), modeltest.Breakage{Rule: "no id", Field: "id"})
	}
}

func checkBroken(t *testing.T, object interface{ Validate() error }, breakages ...modeltest.Breakage) {
	t.Helper()
	var invalid *ValidationError
	if !errors.As(object.Validate(), &invalid) {
		t.Fatalf("%v not reported for %+v", breakages, object)
	}
	for _, b := range breakages {
		found := false
		for _, p := range invalid.Problems {
			found = found || p.Field == b.Field
		}
		if !found {
			t.Fatalf("%v not reported in %v", b, invalid)
		}
	}
}

// TestInvalidRequirementMatchesNothing ties the rules to the matching.
func TestInvalidRequirementMatchesNothing(t *testing.T) {
	r := seeded(t)
	operators := []Operator{In, NotIn, Exists, DoesNotExist, Gt, Lt, "", "Foo"}
	for range 5000 {
		q := modeltest.RandomRequirement(r)
		q.Operator = operators[r.IntN(len(operators))]
		s := &Selector{[]Requirement{q}}
		labels := modeltest.RandomLabels(r)
		if err := (&Budget{ID: "b", Selector: s}).Validate(); err != nil && s.Matches(labels) {
			t.Fatalf("matches %v though %v", labels, err)
		}
	}
}

// TestValidateDoesNotAllocate: it runs on every submit.
func TestValidateDoesNotAllocate(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	c := modeltest.RandomCluster(r, 50, 200)
	allocs := testing.AllocsPerRun(10, func() {
		for _, w := range c.Workloads {
			if w.Validate() != nil {
				t.Fatal("not valid")
			}
		}
		for _, n := range c.Nodes {
			if n.Validate() != nil {
				t.Fatal("not valid")
			}
		}
	})
	if allocs != 0 {
		t.Errorf("%v allocations for valid objects", allocs)
	}
}

func BenchmarkValidate(b *testing.B) {
	w := fullWorkload()
	b.ReportAllocs()
	for b.Loop() {
		if err := w.Validate(); err != nil {
			b.Fatal(err)
		}
	}
}

func lines(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(s, "\n")
}
