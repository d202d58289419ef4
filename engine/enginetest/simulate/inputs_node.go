package simulate

import (
	"fmt"
	"slices"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/model"
)

func inputNode(s *sim) string {
	n := s.newNode()
	if n == nil {
		return ""
	}
	s.forced[n.Name] = true // what is said to be on it may be too much
	s.happened("")
	s.apply(engine.PutNode(n))
	s.world.put(n)
	return fmt.Sprintf("node %s: %+v, %d workloads, taints %v, %d devices", n.Name, n.Allocatable, n.MaxWorkloads, n.Taints, len(n.Devices))
}

func inputChangeNode(s *sim) string {
	name := pickOf(s, s.world.order)
	if name == "" {
		return ""
	}
	n, what := s.changeNode(s.world.nodes[name])
	s.forced[name] = true
	s.apply(engine.PutNode(n))
	s.world.put(n)
	return "change node " + name + ": " + what
}

// inputBreak breaks a node, so that it starts nothing, or mends it.
func inputBreak(s *sim) string {
	name := pickOf(s, s.world.order)
	if name == "" {
		return ""
	}
	if s.world.broken[name] = !s.world.broken[name]; s.world.broken[name] {
		return "break node " + name
	}
	return "mend node " + name
}

// inputRemoveNode removes a node. Sometimes what was on it is known to be lost,
// sometimes the node comes back at once.
func inputRemoveNode(s *sim) string {
	name := pickOf(s, s.world.order)
	if name == "" {
		return ""
	}
	n := s.world.nodes[name]
	changes := []engine.Change{engine.RemoveNode(name)}
	what := "remove node " + name
	switch {
	case s.chance(30):
		for _, id := range s.rowsWhere(func(w *model.WorkloadRecord) bool { return w.Node == name }) {
			s.abandon(id)
			s.world.book[id].lost()
			changes = append(changes, engine.Requeue(id))
			what += ", requeue " + id
		}
	case s.chance(30):
		s.world.drop(name)
		s.forced[name] = true
		s.apply(engine.RemoveNode(name), engine.PutNode(n))
		s.world.put(n)
		return what + ", and put it back"
	}
	s.world.drop(name)
	s.apply(changes...)
	return what
}

// inputLoseNode loses a node with all that is on it.
func inputLoseNode(s *sim) string {
	name := pickOf(s, s.world.order)
	if name == "" {
		return ""
	}
	on := s.rowsWhere(func(w *model.WorkloadRecord) bool { return w.Node == name })
	want := map[string]model.Phase{}
	for _, id := range on {
		row, _ := s.row(id)
		want[id] = model.Pending
		if row.Phase == model.Terminating {
			want[id] = model.Finished
		}
		s.abandon(id)
		e := s.world.book[id]
		e.lost()
		e.ended = want[id] == model.Finished
	}
	s.world.drop(name)
	if s.apply(engine.LoseNode(name)) {
		for _, id := range on {
			if row, _ := s.row(id); row.Phase != want[id] {
				s.fail("%s is %v after its node %s was lost, not %v", id, row.Phase, name, want[id])
			}
		}
	}
	return fmt.Sprintf("lose node %s with %v", name, on)
}

// inputDrain drains a node.
func inputDrain(s *sim) string {
	name := pickOf(s, s.world.order)
	if name == "" {
		return ""
	}
	asked := s.rowsWhere(func(w *model.WorkloadRecord) bool {
		return w.Node == name && (w.Phase == model.Bound || w.Phase == model.Confirmed)
	})
	n := s.world.nodes[name].Clone()
	n.Unschedulable = true
	if !s.apply(engine.Drain(name, "to be mended")) {
		return "drain node " + name
	}
	s.world.put(n)
	if row, _ := s.raw.View().Node(name); !row.Node.Unschedulable {
		s.fail("node %s is drained and still takes workloads", name)
	}
	s.takeTasks()
	for _, id := range asked {
		row, _ := s.row(id)
		if !slices.ContainsFunc(s.tasks, func(t *simTask) bool { return t.evicts && t.id == id && t.placed.Equal(row.PlacedAt) }) {
			s.fail("node %s is drained, and the eviction of %s is not asked of the orchestrator", name, id)
		}
	}
	return fmt.Sprintf("drain node %s with %v", name, asked)
}
