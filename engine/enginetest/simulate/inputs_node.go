package simulate

import (
	"fmt"

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
	s.apply(engine.Change{PutNode: n})
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
	s.apply(engine.Change{PutNode: n})
	s.world.put(n)
	return "change node " + name + ": " + what
}

// inputRemoveNode removes a node. Sometimes what was on it is known to be lost,
// sometimes the node comes back at once.
func inputRemoveNode(s *sim) string {
	name := pickOf(s, s.world.order)
	if name == "" {
		return ""
	}
	n := s.world.nodes[name]
	changes := []engine.Change{{RemoveNode: name}}
	what := "remove node " + name
	switch {
	case s.chance(30):
		for _, id := range s.rowsWhere(func(w *model.WorkloadRecord) bool { return w.Node == name }) {
			s.abandon(id)
			s.world.book[id].lost()
			changes = append(changes, engine.Change{Requeue: id})
			what += ", requeue " + id
		}
	case s.chance(30):
		s.world.drop(name)
		s.forced[name] = true
		s.apply(engine.Change{RemoveNode: name}, engine.Change{PutNode: n})
		s.world.put(n)
		return what + ", and put it back"
	}
	s.world.drop(name)
	s.apply(changes...)
	return what
}
