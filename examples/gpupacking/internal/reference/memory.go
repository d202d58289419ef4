package reference

import "github.com/berth-project/berth/examples/gpupacking/trace"

// memory is the one concession to speed. Only the node that takes a pod
// changes, so what was found out about the others, for a pod that asks for the
// same, still holds.
type memory map[trace.Pod][]verdict

// verdict is what is known of a pod on a node.
type verdict struct {
	valid bool
	fits  bool
	score int64 // where it fits; before normalization
}

// of returns what is known of such a pod, by node, to be read and completed.
func (m memory) of(pod *trace.Pod, nodes int) []verdict {
	kind := *pod
	kind.Name = ""
	if m[kind] == nil {
		m[kind] = make([]verdict, nodes)
	}
	return m[kind]
}

// forget drops what is known of a node that has changed.
func (m memory) forget(node int) {
	for _, verdicts := range m {
		verdicts[node].valid = false
	}
}
