package extpoints

import "github.com/berth-project/berth/model"

// ReservePlugin sets aside what the workload needs on its node besides plain
// resources.
//
// Called on the scheduling goroutine when the node is chosen, in the order of
// the profile; must not block. Reserve may add Devices and Decided to the
// binding, and nothing else, and the binding must be valid then
// ([model.Binding.Validate]); later points get a copy of it. What is Decided is
// what the engine's views say of the objects from then on, until the decision is
// taken back, or the workload is bound and the objects are reported like that.
// It also runs on branches and when a group is tried, where nothing is bound and
// Unreserve is not called: see [CycleState.Trial]. Success goes on. A rejection
// makes the workload unschedulable; anything else is an error. After a failure of any
// Reserve, and after every later failure up to Bind, Unreserve of all reserve
// plugins is called in reverse order, also of those whose Reserve was not
// reached: it must cope with that, and must not fail.
// Conformance: extpointstest.TestPlugin.
type ReservePlugin interface {
	Plugin
	Reserve(s *CycleState, w *WorkloadInfo, b *model.Binding) *Status
	Unreserve(s *CycleState, w *WorkloadInfo, b *model.Binding)
}
