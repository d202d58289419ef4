package framework

import (
	"fmt"

	"github.com/berth-project/berth/engine/internal/parallel"
	"github.com/berth-project/berth/extpoints"
)

// Scores holds the scores of one cycle. Its memory is reused from cycle to
// cycle.
type Scores struct {
	// Raw and Normalized are indexed by plugin, then by node; a plugin that
	// was skipped has nil.
	Raw        [][]int64 // only where the caller asked to keep them
	Normalized [][]int64
	// Totals are the weighted sums by node.
	Totals []int64

	failures []*extpoints.Status
}

// Score runs PreScore, Score, normalisation and the weighted sum over the
// nodes. keepRaw keeps the scores from before normalisation. The result is the
// same for any number of workers. Where nobody scores, no extender either, each
// total is 1.
func (f *Framework) Score(s *extpoints.CycleState, w *extpoints.WorkloadInfo, nodes []*extpoints.NodeInfo, workers int, keepRaw bool, out *Scores) *extpoints.Status {
	out.reset(len(f.scores), len(nodes), keepRaw)
	if len(f.scores) == 0 && len(f.env.Extenders) == 0 {
		for i := range out.Totals {
			out.Totals[i] = 1
		}
		return nil
	}
	r := f.current(s)
	if st := f.preScore(r, s, w, nodes); st != nil {
		return st
	}
	parallel.For(workers, len(nodes), func(i int) { f.scoreNode(r, s, w, nodes, i, out) })
	f.tellScored(s, r, len(nodes))
	for _, st := range out.failures {
		if st != nil {
			return st // the lowest node's, whichever worker met it
		}
	}
	return f.sum(r, s, w, nodes, keepRaw, out)
}

func (o *Scores) reset(plugins, nodes int, keepRaw bool) {
	for len(o.Normalized) < plugins {
		o.Normalized = append(o.Normalized, nil)
	}
	o.Normalized = o.Normalized[:plugins]
	for i := range o.Normalized {
		o.Normalized[i] = sized(o.Normalized[i], nodes)
	}
	o.Totals = sized(o.Totals, nodes)
	clear(o.Totals)
	o.failures = sized(o.failures, nodes)
	clear(o.failures)
	o.Raw = nil
	if keepRaw {
		o.Raw = make([][]int64, plugins)
	}
}

func sized[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

func (f *Framework) preScore(r *run, s *extpoints.CycleState, w *extpoints.WorkloadInfo, nodes []*extpoints.NodeInfo) *extpoints.Status {
	clear(r.skipScore)
	for i := range f.preScores {
		p := &f.preScores[i]
		st := f.timed(r.timer, "PreScore", p.Name(), func() *extpoints.Status { return p.PreScore(s, w, nodes) })
		if st.Code() != extpoints.Skip {
			f.evaluated(s, "PreScore", p.Name())
		}
		switch {
		case st.IsSuccess():
		case st.Code() == extpoints.Skip:
			if p.score >= 0 {
				r.skipScore[p.score] = true
			}
		default:
			return failed("PreScore", p.Name(), about(w), st)
		}
	}
	return nil
}

// scoreNode runs all Score plugins on node i; at says which of them was
// running when one panics.
func (f *Framework) scoreNode(r *run, s *extpoints.CycleState, w *extpoints.WorkloadInfo, nodes []*extpoints.NodeInfo, i int, out *Scores) {
	at := 0
	defer func() {
		if cause := recover(); cause != nil {
			out.failures[i] = failed("Score", f.scores[at].Name(), on(w, nodes[i]), panicked("Score", f.scores[at].Name(), cause))
		}
	}()
	for ; at < len(r.scores); at++ {
		if r.skipScore[at] {
			continue
		}
		score, st := r.scores[at].Score(s, w, nodes[i])
		if !st.IsSuccess() {
			out.failures[i] = failed("Score", f.scores[at].Name(), on(w, nodes[i]), st)
			return
		}
		out.Normalized[at][i] = score
	}
}

// sum normalises every plugin's scores, and then checks their range and adds
// them up. The first score out of range is that of the lowest node.
func (f *Framework) sum(r *run, s *extpoints.CycleState, w *extpoints.WorkloadInfo, nodes []*extpoints.NodeInfo, keepRaw bool, out *Scores) *extpoints.Status {
	for p := range f.scores {
		if r.skipScore[p] {
			continue
		}
		plugin, scores := &f.scores[p], out.Normalized[p]
		if keepRaw {
			out.Raw[p] = append([]int64(nil), scores...)
		}
		if plugin.normalizer != nil {
			st := f.timed(r.timer, "NormalizeScore", plugin.Name(), func() *extpoints.Status {
				return plugin.normalizer.NormalizeScore(s, w, nodes, scores)
			})
			if !st.IsSuccess() {
				return failed("NormalizeScore", plugin.Name(), about(w), st)
			}
		}
	}
	var wrong *extpoints.Status
	lowest := len(nodes)
	for p := range f.scores {
		if r.skipScore[p] {
			continue
		}
		weight := f.scores[p].weight
		for i, score := range out.Normalized[p][:lowest] {
			if score < extpoints.MinScore || score > extpoints.MaxScore {
				wrong, lowest = outOfRange(f.scores[p].Name(), score), i
				break
			}
			out.Totals[i] += score * weight
		}
	}
	return wrong
}

func outOfRange(plugin string, score int64) *extpoints.Status {
	return extpoints.AsStatus(fmt.Errorf("plugin %q returns an invalid score %v, it should in the range of [%v, %v] after normalizing",
		plugin, score, extpoints.MinScore, extpoints.MaxScore)).WithPlugin(plugin)
}

// Skipped reports whether the Score plugin of the index was left out of the
// cycle.
func (f *Framework) Skipped(s *extpoints.CycleState, score int) bool {
	return f.current(s).skipScore[score]
}
