package extpoints

import "github.com/berth-project/berth/model"

// SignFragment is one part of what a plugin's verdict depends on.
type SignFragment struct {
	Key   string // what it is, for example "Tolerations"
	Value string // its value in a canonical form
}

// SignPlugin is implemented by plugins whose verdicts on a node depend on a
// few parts of the workload only. Two workloads with the same fragments of all
// plugins of a profile are interchangeable for it. Any code but Success says
// that the workload cannot be signed. Where order is strict, workloads with the same fragments wait behind
// the first of them, and events are offered to it alone, so that hints, too, must go by no more; for that a PostFilter plugin must be a SignPlugin, and by it says that what it does
// for a workload depends on no more than that and on its priority, policy, queue and group. Called on the engine's goroutine; must
// not block.
type SignPlugin interface {
	Plugin
	Sign(w *model.Workload) ([]SignFragment, *Status)
}
