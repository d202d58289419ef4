package nodemetadata

import (
	"math"
	"strconv"
	"time"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins/helper"
)

// unknown is the score of a node whose label says nothing, until scores are normalised.
const unknown = math.MinInt64

// NodeMetadata is the plugin. It has no state.
type NodeMetadata struct{ args Args }

// New makes the plugin. The error lists everything that is wrong with the arguments.
func New(a Args, _ extpoints.Handle) (*NodeMetadata, error) {
	if err := a.Validate(); err != nil {
		return nil, err
	}
	return &NodeMetadata{a.withDefaults()}, nil
}

// Name returns the plugin's name.
func (*NodeMetadata) Name() string { return Name }

// Score is the number in the label, or the time in seconds; negative where less is better.
func (p *NodeMetadata) Score(_ *extpoints.CycleState, _ *extpoints.WorkloadInfo, node *extpoints.NodeInfo) (int64, *extpoints.Status) {
	text, there := node.Node.Labels[p.args.Label]
	if !there {
		return unknown, nil
	}
	value, ok := p.parse(text)
	switch {
	case !ok:
		return unknown, nil
	case p.args.Strategy == Lowest || p.args.Strategy == Oldest:
		return -value, nil
	}
	return value, nil
}

// parse is the value of a label. Not ok is one that is neither what it should be nor, as a
// whole number, in the range of an int64.
func (p *NodeMetadata) parse(text string) (value int64, ok bool) {
	if p.args.Type == Timestamp {
		t, err := time.Parse(p.args.Layout, text)
		return t.Unix(), err == nil
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || !(math.Abs(n) < math.MaxInt64) { // also where it is not a number
		return 0, false
	}
	return int64(n), true
}

// NormalizeScore stretches the scores that are known to 1 to 100; all are 1 where they are
// equal. The others are 0.
func (*NodeMetadata) NormalizeScore(_ *extpoints.CycleState, _ *extpoints.WorkloadInfo, _ []*extpoints.NodeInfo, scores []int64) *extpoints.Status {
	lowest, highest := int64(math.MaxInt64), int64(unknown)
	for _, score := range scores {
		if score != unknown {
			lowest, highest = min(lowest, score), max(highest, score)
		}
	}
	for i, score := range scores {
		switch {
		case score == unknown:
			scores[i] = extpoints.MinScore
		case highest == lowest:
			scores[i] = 1
		default:
			scores[i] = 1 + helper.Stretch(score, lowest, highest, extpoints.MaxScore-1)
		}
	}
	return nil
}

// Sign signs nothing: all workloads are alike to it.
func (*NodeMetadata) Sign(*model.Workload) ([]extpoints.SignFragment, *extpoints.Status) {
	return nil, nil
}

var (
	_ extpoints.ScoreNormalizer = (*NodeMetadata)(nil)
	_ extpoints.SignPlugin      = (*NodeMetadata)(nil)
)
