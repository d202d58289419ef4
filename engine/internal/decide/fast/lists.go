package fast

import "github.com/berth-project/berth/extpoints"

// lists has the feasible nodes as lists, in the order in which they were found, where the
// scores that the class does not add up tell them apart. Its memory is used again.
type lists struct {
	totals []int64
	slots  []int32
	scores []int64
	nodes  []*extpoints.NodeInfo // only where a plugin normalises scores
}

// add adds the scores to the totals.
func (l *lists) add(scores []int64, weight int64) {
	for i, score := range scores {
		l.totals[i] += score * weight
	}
}
