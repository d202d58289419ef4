package modeltest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/berth-project/berth/model"
)

// Breakage is what a breaker did to an object.
type Breakage struct {
	Rule  string // which rule is broken, in a few words
	Field string // the path for which it is to be reported, as the only problem
}

// BreakNode makes a valid node invalid in one random way.
func BreakNode(r *rand.Rand, n *model.Node) Breakage { return breakOne(r, n, nodeBreakers) }

// BreakGroup makes a valid group invalid in one random way.
func BreakGroup(r *rand.Rand, g *model.Group) Breakage { return breakOne(r, g, groupBreakers) }

// BreakBudget makes a valid budget invalid in one random way.
func BreakBudget(r *rand.Rand, b *model.Budget) Breakage { return breakOne(r, b, budgetBreakers) }

// BreakNamespace makes a valid namespace invalid in one random way.
func BreakNamespace(r *rand.Rand, n *model.Namespace) Breakage {
	return breakOne(r, n, namespaceBreakers)
}

// breaker breaks one rule; do returns the field.
type breaker[T any] struct {
	rule string
	do   func(r *rand.Rand, object *T) string
}

func breakOne[T any](r *rand.Rand, object *T, breakers []breaker[T]) Breakage {
	b := pick(r, breakers)
	return Breakage{Rule: b.rule, Field: b.do(r, object)}
}

// fresh is a key, name or value that the generators never use.
const fresh = "broken"

var nodeBreakers = []breaker[model.Node]{
	{"no name", func(_ *rand.Rand, n *model.Node) string { n.Name = ""; return "name" }},
	{"empty label key", func(_ *rand.Rand, n *model.Node) string {
		n.Labels = set(n.Labels, "", "x")
		return "labels"
	}},
	{"bad allocatable", func(r *rand.Rand, n *model.Node) string {
		return "allocatable." + breakResources(r, &n.Allocatable)
	}},
	{"bad capacity", func(r *rand.Rand, n *model.Node) string {
		return "capacity." + breakResources(r, &n.Capacity)
	}},
	{"max workloads", func(r *rand.Rand, n *model.Node) string {
		n.MaxWorkloads = negative(r) - 1
		return "maxWorkloads"
	}},
	{"taint without key", func(r *rand.Rand, n *model.Node) string {
		return add(&n.Taints, "taints", model.Taint{Effect: pick(r, effects)}) + ".key"
	}},
	{"taint effect", func(r *rand.Rand, n *model.Node) string {
		effect := pick(r, []model.TaintEffect{"", "noschedule", "NoAdmit"})
		return add(&n.Taints, "taints", model.Taint{Key: fresh, Effect: effect}) + ".effect"
	}},
	{"duplicate taint", func(_ *rand.Rand, n *model.Node) string {
		n.Taints = append(n.Taints, model.Taint{Key: fresh, Effect: model.NoSchedule})
		return add(&n.Taints, "taints", model.Taint{Key: fresh, Value: "other", Effect: model.NoSchedule})
	}},
	{"empty image name", func(_ *rand.Rand, n *model.Node) string {
		return add(&n.Images, "images", model.NodeImage{Names: []string{"web", ""}}) + ".names[1]"
	}},
	{"image size", func(r *rand.Rand, n *model.Node) string {
		return add(&n.Images, "images", model.NodeImage{Size: negative(r)}) + ".size"
	}},
	{"device without class", func(_ *rand.Rand, n *model.Node) string {
		return add(&n.Devices, "devices", model.Device{Model: "T4"}) + ".class"
	}},
}

var groupBreakers = []breaker[model.Group]{
	{"no id", func(_ *rand.Rand, g *model.Group) string { g.ID = ""; return "id" }},
	{"own parent", func(_ *rand.Rand, g *model.Group) string { g.Parent = g.ID; return "parent" }},
	{"policy", func(_ *rand.Rand, g *model.Group) string { g.Policy = "gang"; return "policy" }},
	{"gang without count", func(r *rand.Rand, g *model.Group) string {
		g.Policy, g.MinCount = model.Gang, pick(r, []int32{0, -1, math.MinInt32})
		return "minCount"
	}},
	{"basic with resources", func(_ *rand.Rand, g *model.Group) string {
		g.Policy, g.MinCount, g.MinResources, g.PermitTimeout = model.Basic, 0, model.Resources{Memory: 1}, 0
		return "minResources"
	}},
	{"basic with a timeout", func(_ *rand.Rand, g *model.Group) string {
		g.Policy, g.MinCount, g.MinResources, g.PermitTimeout = model.Basic, 0, model.Resources{}, time.Second
		return "permitTimeout"
	}},
	{"negative timeout", func(_ *rand.Rand, g *model.Group) string {
		g.Policy, g.MinCount, g.PermitTimeout = model.Gang, 1, -1
		return "permitTimeout"
	}},
	{"bad resources", func(r *rand.Rand, g *model.Group) string {
		g.Policy, g.MinCount = model.Gang, 1
		return "minResources." + breakResources(r, &g.MinResources)
	}},
	{"basic with count", func(r *rand.Rand, g *model.Group) string {
		g.Policy, g.MinCount, g.PermitTimeout = maybe(r, model.Basic), pick(r, []int32{1, -1, math.MaxInt32}), 0
		return "minCount"
	}},
	{"preemption", func(_ *rand.Rand, g *model.Group) string { g.Preemption = "Always"; return "preemption" }},
	{"disruption", func(_ *rand.Rand, g *model.Group) string { g.Disruption = "Some"; return "disruption" }},
}

var budgetBreakers = []breaker[model.Budget]{
	{"no id", func(_ *rand.Rand, b *model.Budget) string { b.ID = ""; return "id" }},
	{"selector", func(r *rand.Rand, b *model.Budget) string {
		requirement, field := badRequirement(r)
		b.Selector = &model.Selector{Requirements: []model.Requirement{requirement}}
		return "selector.requirements[0]." + field
	}},
	{"allowed", func(_ *rand.Rand, b *model.Budget) string { b.Allowed = -1; return "allowed" }},
	{"empty displaced", func(_ *rand.Rand, b *model.Budget) string { return add(&b.Displaced, "displaced", "") }},
}

var namespaceBreakers = []breaker[model.Namespace]{
	{"no name", func(_ *rand.Rand, n *model.Namespace) string { n.Name = ""; return "name" }},
	{"empty label key", func(_ *rand.Rand, n *model.Namespace) string {
		n.Labels = set(n.Labels, "", "x")
		return "labels"
	}},
}

// breakResources returns the field below the resources.
func breakResources(r *rand.Rand, res *model.Resources) string {
	switch r.IntN(6) {
	case 0:
		res.CPU = negative(r)
		return "cpu"
	case 1:
		res.Memory = negative(r)
		return "memory"
	case 2:
		res.EphemeralStorage = negative(r)
		return "ephemeralStorage"
	case 3:
		return add(&res.Scalars, "scalars", model.Scalar{Name: fresh, Amount: negative(r)}) + ".amount"
	case 4:
		name := pick(r, []string{"", model.CPU, model.Memory, model.EphemeralStorage})
		return add(&res.Scalars, "scalars", model.Scalar{Name: name}) + ".name"
	}
	res.Scalars = append(res.Scalars, model.Scalar{Name: fresh})
	return add(&res.Scalars, "scalars", model.Scalar{Name: fresh, Amount: 1})
}

// badRequirement returns a requirement with one thing wrong and the field below it.
func badRequirement(r *rand.Rand) (model.Requirement, string) {
	switch r.IntN(5) {
	case 0:
		return model.Requirement{Operator: model.Exists}, "key"
	case 1:
		return model.Requirement{Key: "app", Operator: pick(r, []model.Operator{"", "in", "Foo", "="})}, "operator"
	case 2:
		return model.Requirement{Key: "app", Operator: pick(r, []model.Operator{model.In, model.NotIn})}, "values"
	case 3:
		operator := pick(r, []model.Operator{model.Exists, model.DoesNotExist})
		return model.Requirement{Key: "app", Operator: operator, Values: []string{""}}, "values"
	}
	q := model.Requirement{Key: "app", Operator: pick(r, []model.Operator{model.Gt, model.Lt})}
	switch r.IntN(3) {
	case 0:
		return q, "values"
	case 1:
		q.Values = []string{"1", "2"}
		return q, "values"
	}
	q.Values = []string{pick(r, []string{"", "a", "1.5", " 1", "0x1", "9223372036854775808"})}
	return q, "values[0]"
}

// negative returns a negative amount of any size, but not the smallest int64.
func negative(r *rand.Rand) int64 {
	return pick(r, []int64{-1, -1000, math.MinInt64 + 1, -1 - r.Int64N(math.MaxInt64-1)})
}

// add appends the item and returns its path.
func add[T any](list *[]T, field string, item T) string {
	*list = append(*list, item)
	return fmt.Sprintf("%s[%d]", field, len(*list)-1)
}

// join joins the parts of a path that are not empty.
func join(parts ...string) string {
	kept := parts[:0]
	for _, p := range parts {
		if p != "" {
			kept = append(kept, p)
		}
	}
	return strings.Join(kept, ".")
}
