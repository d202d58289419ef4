package helper

import "github.com/berth-project/berth/extpoints"

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
