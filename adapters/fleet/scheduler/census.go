package scheduler

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/berth-project/berth/adapters/fleet/job"
	"github.com/berth-project/berth/adapters/fleet/state"
	"github.com/berth-project/berth/model"
)

// Doubts says what a job names that the fleet does not have, but can do without.
func Doubts(v state.View, s *job.Spec) []string {
	var out []string
	if missing := unknownNodes(v, s.Nodes); len(missing) < len(s.Nodes) {
		out = append(out, thereIsNoNode(missing, "that it asks for")...)
	}
	out = append(out, thereIsNoNode(unknownNodes(v, s.ExcludeNodes), "that it leaves out")...)
	return out
}

func unknownNodes(v state.View, names []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return v.Node(name) != nil })
}

func thereIsNoNode(names []string, which string) []string {
	if len(names) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("there is no node %s %s", alternatives(names), which)}
}

// Census says what the nodes of a fleet could run. It keeps them for as long as it is
// asked about the same state, for lists ask about many jobs. The zero value is ready, and
// may be used by any goroutine.
type Census struct {
	mu    sync.Mutex
	index uint64
	nodes []*model.Node
}

// Never says why no node of the fleet as it is could run a job, whatever ended: what it
// asks for that none has, or that its queue never lets it start. It is empty where one
// could, and of nodes where there are none.
func (c *Census) Never(v state.View, s *job.Spec) []string {
	if never := overQueue(v.Queue(s.Queue), s); never != "" {
		return []string{never}
	}
	c.mu.Lock()
	if c.nodes == nil || c.index != v.Index() {
		c.index, c.nodes = v.Index(), everyNode(v)
	}
	nodes := c.nodes
	c.mu.Unlock()
	return never(nodes, v.Queue(s.Queue), s)
}

// overQueue says why a queue never lets a job start, "" where it may.
func overQueue(q *state.Queue, s *job.Spec) string {
	if q == nil || q.MaxRunning == 0 || s.Tasks <= q.MaxRunning {
		return ""
	}
	return fmt.Sprintf("queue %s lets a user run %d tasks at once, and its %d tasks start together or not at all", q.Name, q.MaxRunning, s.Tasks)
}

// mayNeverFit reports whether it takes more than what was said of each node in an attempt
// to know that a job never fits: whether there is room for all tasks of a gang, and what
// is asked of nodes only after their cpu and memory, of which there may be too little now.
func mayNeverFit(s *job.Spec) bool {
	return s.Tasks > 1 || s.Resources.GPUs != nil || len(labelsNeeded(s)) > 0
}

// everyNode is every node, whatever its state is.
func everyNode(v state.View) []*model.Node {
	nodes := []*model.Node{}
	for n := range v.Nodes() {
		nodes = append(nodes, nodeModel(n, time.Time{}))
	}
	return nodes
}

// demand is one thing that a job asks of a node.
type demand struct {
	what  string // in short
	met   func(*model.Node) bool
	wrong func(nodes []*model.Node) string // what is said where no node meets it
}

func never(nodes []*model.Node, q *state.Queue, s *job.Spec) []string {
	if len(nodes) == 0 {
		return nil
	}
	all := demands(q, s)
	suits := func(n *model.Node) bool {
		return !slices.ContainsFunc(all, func(d demand) bool { return !d.met(n) })
	}
	if s.Tasks == 1 && slices.ContainsFunc(nodes, suits) {
		return nil
	}
	var problems, selective []string
	for _, d := range all {
		switch n := len(those(nodes, d.met)); n {
		case 0:
			problems = append(problems, d.wrong(nodes))
		case len(nodes):
		default:
			selective = append(selective, d.what)
		}
	}
	fit := those(nodes, suits)
	switch {
	case len(problems) > 0:
		return problems
	case len(fit) == 0:
		return []string{fmt.Sprintf("none of %d nodes has all of this together: %s", len(nodes), strings.Join(selective, ", "))}
	}
	return noRoom(fit, s)
}

func those(nodes []*model.Node, met func(*model.Node) bool) []*model.Node {
	return slices.DeleteFunc(slices.Clone(nodes), func(n *model.Node) bool { return !met(n) })
}

// demands are all that a job asks of each of its nodes.
func demands(q *state.Queue, s *job.Spec) []demand {
	var out []demand
	if q != nil {
		for i := range q.Nodes {
			out = append(out, constraintDemand("queue "+q.Name+" is for nodes with ", &q.Nodes[i]))
		}
	}
	for i := range s.Constraints {
		out = append(out, constraintDemand("constraint ", &s.Constraints[i]))
	}
	out = append(out, nameDemands(s)...)
	for _, label := range labelsNeeded(s) {
		out = append(out, demand{
			what: "the label " + label,
			met:  func(n *model.Node) bool { _, ok := n.Labels[label]; return ok },
			wrong: func(nodes []*model.Node) string {
				return fmt.Sprintf("none of %d nodes has the label %s", len(nodes), label)
			},
		})
	}
	out = append(out, sizeDemands(s)...)
	if s.Resources.GPUs != nil {
		out = append(out, gpuDemand(s.Resources.GPUs))
	}
	return out
}

// labelsNeeded are the labels by which tasks are to be together, or spread.
func labelsNeeded(s *job.Spec) []string {
	var out []string
	if s.SameLabel != "" {
		out = append(out, s.SameLabel)
	}
	for i := range s.Spread {
		if !s.Spread[i].Soft && s.Spread[i].Label != "" {
			out = append(out, s.Spread[i].Label)
		}
	}
	return out
}

// constraintDemand is that of a constraint, whose text begins so.
func constraintDemand(prefix string, k *job.Constraint) demand {
	r := requirement(k)
	term := model.NodeTerm{Labels: []model.Requirement{r}}
	what := prefix + constraintWords(&r)
	return demand{what: what, met: term.Matches, wrong: func(nodes []*model.Node) string {
		values := valuesOf(nodes, r.Key)
		switch {
		case len(values) == 0:
			return fmt.Sprintf("%s: none of %d nodes has the label %s", what, len(nodes), r.Key)
		case r.Operator == model.In || r.Operator == model.Gt || r.Operator == model.Lt:
			return fmt.Sprintf("%s: 0 of %d nodes meet it; %s is %s", what, len(nodes), r.Key, firstOf(values))
		}
		return fmt.Sprintf("%s: 0 of %d nodes meet it", what, len(nodes))
	}}
}

// valuesOf lists the values that a label has.
func valuesOf(nodes []*model.Node, label string) []string {
	values := map[string]bool{}
	for _, n := range nodes {
		if value, ok := n.Labels[label]; ok {
			values[value] = true
		}
	}
	return slices.Sorted(maps.Keys(values))
}

// firstOf is a list of alternatives that is not too long.
func firstOf(list []string) string {
	const most = 8
	if len(list) > most {
		return fmt.Sprintf("%s or %d others", strings.Join(list[:most], ", "), len(list)-most)
	}
	return alternatives(list)
}

// nameDemands are those of the nodes that a job names.
func nameDemands(s *job.Spec) []demand {
	var out []demand
	if len(s.Nodes) > 0 {
		out = append(out, demand{
			what:  "node " + firstOf(s.Nodes),
			met:   func(n *model.Node) bool { return slices.Contains(s.Nodes, n.Name) },
			wrong: func([]*model.Node) string { return "there is no node " + firstOf(s.Nodes) },
		})
	}
	if len(s.ExcludeNodes) > 0 {
		out = append(out, demand{
			what:  "not node " + firstOf(s.ExcludeNodes),
			met:   func(n *model.Node) bool { return !slices.Contains(s.ExcludeNodes, n.Name) },
			wrong: func(nodes []*model.Node) string { return fmt.Sprintf("it leaves out all of %d nodes", len(nodes)) },
		})
	}
	return out
}

// sizeDemands are those of the amounts that a task needs.
func sizeDemands(s *job.Spec) []demand {
	r := requests(&s.Resources)
	one := func(name, resource string, amount int64, text, there func(int64) string) demand {
		return demand{
			what: text(amount) + " " + name,
			met:  func(n *model.Node) bool { return amount <= n.Allocatable.Get(resource) },
			wrong: func(nodes []*model.Node) string {
				var largest int64
				for _, n := range nodes {
					largest = max(largest, n.Allocatable.Get(resource))
				}
				return fmt.Sprintf("no node is large enough: it asks for %s %s, and the largest of %d nodes has %s",
					text(amount), name, len(nodes), there(largest))
			},
		}
	}
	cores := func(n int64) string { return job.MilliCPU(n).String() }
	out := []demand{one("cpu", model.CPU, r.CPU, cores, cores)}
	bytes := func(n int64) string { return job.Bytes(n).String() }
	if r.Memory > 0 {
		out = append(out, one("memory", model.Memory, r.Memory, bytes, bytesThere))
	}
	if r.EphemeralStorage > 0 {
		out = append(out, one("disk", model.EphemeralStorage, r.EphemeralStorage, bytes, bytesThere))
	}
	number := func(n int64) string { return fmt.Sprint(n) }
	for _, scalar := range r.Scalars {
		out = append(out, one(scalar.Name, scalar.Name, scalar.Amount, number, number))
	}
	return out
}

// gpuDemand is that of the devices that a task needs.
func gpuDemand(g *job.GPUs) demand {
	what := fmt.Sprintf("%d GPUs", g.Count)
	if len(g.Models) > 0 {
		what += " of model " + alternatives(g.Models)
	}
	return demand{
		what: what,
		met:  func(n *model.Node) bool { return suitable(n, g) >= g.Count },
		wrong: func(nodes []*model.Node) string {
			models, most := map[string]bool{}, int64(0)
			for _, n := range nodes {
				most = max(most, suitable(n, g))
				for _, d := range n.Devices {
					models[d.Model] = true
				}
			}
			switch {
			case len(models) == 0:
				return fmt.Sprintf("none of %d nodes has GPUs", len(nodes))
			case most == 0:
				return fmt.Sprintf("no node has a GPU of model %s; there are %s", alternatives(g.Models), firstOf(slices.Sorted(maps.Keys(models))))
			}
			return fmt.Sprintf("no node is large enough: it asks for %s, and the most that a node has is %d", what, most)
		},
	}
}

// suitable counts the devices of a node that would do.
func suitable(n *model.Node, g *job.GPUs) (count int64) {
	for _, d := range n.Devices {
		if len(g.Models) == 0 || slices.Contains(g.Models, d.Model) {
			count++
		}
	}
	return count
}

// noRoom says that the nodes that would do for a task have not room for all tasks of a
// gang, even when nothing else runs.
func noRoom(nodes []*model.Node, s *job.Spec) []string {
	room := map[string]int64{}
	for _, n := range nodes {
		value := ""
		if s.SameLabel != "" {
			value = s.SameLabel + "=" + n.Labels[s.SameLabel]
		}
		room[value] = min(room[value]+capacity(n, s), int64(s.Tasks))
	}
	best := ""
	for _, value := range slices.Sorted(maps.Keys(room)) {
		if best == "" || room[value] > room[best] {
			best = value
		}
	}
	switch {
	case room[best] >= int64(s.Tasks):
		return nil
	case s.SameLabel != "":
		return []string{fmt.Sprintf("there is no %s for all of its %d tasks, even when nothing else runs: %s has room for %d, and no other for more",
			s.SameLabel, s.Tasks, best, room[best])}
	}
	return []string{fmt.Sprintf("the fleet has room for %d of its %d tasks when nothing else runs, and they start together or not at all",
		room[best], s.Tasks)}
}

// capacity is how many tasks of a job a node would hold by itself, at most: rules about
// where others are may leave fewer.
func capacity(n *model.Node, s *job.Spec) int64 {
	most := int64(s.Tasks)
	if n.MaxWorkloads > 0 {
		most = min(most, n.MaxWorkloads)
	}
	r := requests(&s.Resources)
	for _, x := range [][2]int64{{r.CPU, n.Allocatable.CPU}, {r.Memory, n.Allocatable.Memory}, {r.EphemeralStorage, n.Allocatable.EphemeralStorage}} {
		if x[0] > 0 {
			most = min(most, x[1]/x[0])
		}
	}
	for _, scalar := range r.Scalars {
		if scalar.Amount > 0 {
			most = min(most, n.Allocatable.Scalar(scalar.Name)/scalar.Amount)
		}
	}
	if g := s.Resources.GPUs; g != nil && g.Count > 0 && g.Share > 0 {
		most = min(most, suitable(n, g)*(model.WholeDevice/g.Share)/g.Count)
	}
	return most
}
