package helper

import (
	"math/bits"
	"slices"

	"github.com/berth-project/berth/extpoints"
)

// DefaultNormalizeScore stretches scores from [0, largest score] to
// [0, maxScore] in place, rounding down; with reverse the best becomes the
// worst. Where no score is above 0 they stay 0, or with reverse all become
// maxScore. The scores must not be negative. It always succeeds and returns a
// status so that a NormalizeScore can end with it.
//
// Rule: kube-scheduler plugins/helper/normalize_score.go, 1.37.1.
func DefaultNormalizeScore(maxScore int64, reverse bool, scores []int64) *extpoints.Status {
	var largest int64
	for _, score := range scores {
		largest = max(largest, score)
	}
	for i := range scores {
		var score int64
		if largest > 0 {
			score = maxScore * scores[i] / largest
		}
		if reverse {
			score = maxScore - score
		}
		scores[i] = score
	}
	return nil
}

// StretchScore stretches scores, which may be negative, from [smallest, largest] to
// [0, maxScore] in place, rounding down. Where all are equal they become 0. It
// always succeeds and returns a status so that a NormalizeScore can end with it.
//
// Rule: kubernetes-sigs/scheduler-plugins pkg/noderesources/allocatable.go and
// pkg/podstate/pod_state.go, commit 903da7df; a difference that no int64 can hold is
// stretched rightly here.
func StretchScore(maxScore int64, scores []int64) *extpoints.Status {
	if len(scores) == 0 {
		return nil
	}
	smallest, largest := slices.Min(scores), slices.Max(scores)
	for i, score := range scores {
		scores[i] = 0
		if largest > smallest {
			scores[i] = Stretch(score, smallest, largest, maxScore)
		}
	}
	return nil
}

// Stretch is how far the score is from the smallest on the way to the largest, as a part
// of so many, rounded down. The largest must be more than the smallest.
func Stretch(score, smallest, largest, parts int64) int64 {
	hi, lo := bits.Mul64(uint64(score)-uint64(smallest), uint64(parts))
	part, _ := bits.Div64(hi, lo, uint64(largest)-uint64(smallest))
	return int64(part)
}
