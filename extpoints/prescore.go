package extpoints

// PreScorePlugin prepares its own Score, once for all feasible nodes.
//
// Called on the scheduling goroutine, in the order of the profile, only where
// there are at least two feasible nodes; must not block. Codes: Success; Skip
// leaves out the plugin's Score in this cycle; anything else is an error.
// Conformance: extpointstest.TestPlugin.
type PreScorePlugin interface {
	Plugin
	PreScore(s *CycleState, w *WorkloadInfo, nodes []*NodeInfo) *Status
}
