package extpoints

// Limits of a score after normalisation.
const (
	MinScore int64 = 0
	MaxScore int64 = 100
)

// ScorePlugin says how well a workload goes to a feasible node: higher is
// better.
//
// Score is called for each feasible node, from several goroutines at once;
// must not block or write to the state. Success, or an error that fails the
// cycle. A score outside [MinScore, MaxScore] after normalisation fails the
// cycle too. The node's total is the sum over all plugins of score times
// weight. Conformance: extpointstest.TestPlugin.
type ScorePlugin interface {
	Plugin
	Score(s *CycleState, w *WorkloadInfo, node *NodeInfo) (int64, *Status)
}

// ScoreNormalizer is implemented by Score plugins whose raw scores are not in
// [MinScore, MaxScore] by themselves. Called once per cycle after all nodes
// are scored; it changes the scores in place. Success, or an error that fails
// the cycle.
type ScoreNormalizer interface {
	ScorePlugin
	NormalizeScore(s *CycleState, w *WorkloadInfo, nodes []*NodeInfo, scores []int64) *Status
}
