package helper

import "sort"

// ShapePoint is one corner of a broken line.
type ShapePoint struct {
	// Utilization is where the corner is, in percent.
	Utilization int64
	// Score is the value of the line there.
	Score int64
}

// BrokenLinear returns the function whose graph is the line through the points,
// level before the first and after the last one. The points must be sorted by
// Utilization, without duplicates, and there must be at least one. Between two
// points the value is rounded towards the score of the left one, as integer
// division does.
//
// Rule: kube-scheduler plugins/helper/shape_score.go, 1.37.1.
func BrokenLinear(shape []ShapePoint) func(utilization int64) int64 {
	return func(u int64) int64 {
		right := sort.Search(len(shape), func(i int) bool { return u <= shape[i].Utilization })
		switch right {
		case 0:
			return shape[0].Score
		case len(shape):
			return shape[right-1].Score
		}
		a, b := &shape[right-1], &shape[right]
		return a.Score + (b.Score-a.Score)*(u-a.Utilization)/(b.Utilization-a.Utilization)
	}
}
