package framework

import (
	"encoding/binary"
	"slices"

	"github.com/berth-project/berth/engine/internal/parallel"
	"github.com/berth-project/berth/extpoints"
)

// findLocal finds the plugins that can say that they are node-local, when the points to Score
// are filled.
func (f *Framework) findLocal() {
	f.local.filters = make([]extpoints.NodeLocalPlugin, len(f.filters))
	f.local.slotFilters = make([]extpoints.SlotPlugin, len(f.filters))
	for i, p := range f.filters {
		f.local.filters[i], _ = p.(extpoints.NodeLocalPlugin)
		f.local.slotFilters[i], _ = p.(extpoints.SlotPlugin)
	}
	f.local.scores = make([]extpoints.NodeLocalPlugin, len(f.scores))
	f.local.slotScores = make([]extpoints.SlotPlugin, len(f.scores))
	f.local.filterOf = make([]int, len(f.scores))
	for i := range f.scores {
		f.local.scores[i], _ = f.scores[i].ScorePlugin.(extpoints.NodeLocalPlugin)
		f.local.slotScores[i], _ = f.scores[i].ScorePlugin.(extpoints.SlotPlugin)
		f.local.filterOf[i] = slices.Index(names(f.filters), f.scores[i].Name())
	}
	f.local.foreign = len(f.preScores) > 64 || len(f.scores) > 64 || len(f.filters)+len(f.scores) > 255 // beyond Skips and LocalKey
	for i := range f.preScores {
		f.local.foreign = f.local.foreign || f.preScores[i].score < 0
	}
}

// LocalKey appends to key what the filters and scores of the cycle, which has been through
// PreFilter, depend on besides the node, and reports whether all of them are node-local in it,
// apart from those that are asked by slot and are not in the key. To the others workloads with
// the same key are interchangeable as long as that is so. What it returns may be the key of
// another profile's workload: the profile is not in it, so each needs a place of its own.
func (f *Framework) LocalKey(s *extpoints.CycleState, w *extpoints.WorkloadInfo, key []byte) (_ []byte, ok bool) {
	defer func() {
		if cause := recover(); cause != nil {
			ok = false // whatever is wrong with the plugin, the reference will find out
		}
	}()
	if f.local.foreign {
		return key, false
	}
	r := f.current(s)
	r.slots = bySlot{}
	for i, p := range f.local.filters {
		if r.skipFilter[i] {
			continue
		}
		if f.wantsRefusals[i] {
			return key, false
		}
		if key, ok = appendLocal(key, byte(i), p, s, w); ok {
			continue
		}
		if f.local.slotFilters[i] == nil {
			return key, false
		}
		r.askBySlot(i)
	}
	for i, p := range f.local.scores {
		if filter := f.local.filterOf[i]; filter >= 0 && !r.skipFilter[filter] {
			if slices.Contains(r.slots.filters, filter) {
				r.slots.scores = append(r.slots.scores, i)
			}
			continue // it has been asked
		}
		if key, ok = appendLocal(key, byte(len(f.filters)+i), p, s, w); ok {
			continue
		}
		if f.local.slotScores[i] == nil {
			return key, false
		}
		r.slots.scores = append(r.slots.scores, i)
	}
	return key, true
}

// isLocal reports whether the filter is node-local in the cycle, which has been through PreFilter.
func (f *Framework) isLocal(filter int, s *extpoints.CycleState, w *extpoints.WorkloadInfo) (local bool) {
	p := f.local.filters[filter]
	if p == nil {
		return false
	}
	defer func() {
		if recover() != nil { // whatever is wrong with the plugin, an attempt will find out
			local = false
		}
	}()
	_, local = p.NodeLocal(s, w, nil)
	return local
}

// PreFilterLocal begins a cycle in which only those filters are asked that can be node-local, and is their
// PreFilter. One whose PreFilter does not succeed is not asked, and none but those that are node-local in the
// cycle narrow the nodes.
func (f *Framework) PreFilterLocal(s *extpoints.CycleState, w *extpoints.WorkloadInfo) (out PreFiltered) {
	r := f.begin(s)
	for i, p := range f.local.filters {
		r.skipFilter[i] = p == nil
	}
	for i := range f.preFilters {
		p := &f.preFilters[i]
		if p.filter < 0 || r.skipFilter[p.filter] {
			continue
		}
		var result *extpoints.PreFilterResult
		st := guard("PreFilter", p.Name(), func() (st *extpoints.Status) {
			result, st = p.PreFilter(s, w)
			return st
		})
		switch {
		case !st.IsSuccess():
			r.skipFilter[p.filter] = true
		case result != nil && result.Nodes != nil && f.isLocal(p.filter, s, w):
			out.narrow(p.Name(), result.Nodes)
		}
	}
	return out
}

// RejectsForGood reports, after PreFilterLocal, whether the node is wrong for the workload whatever leaves it:
// a filter that is node-local in the cycle says UnschedulableAndUnresolvable.
func (f *Framework) RejectsForGood(s *extpoints.CycleState, w *extpoints.WorkloadInfo, node *extpoints.NodeInfo) bool {
	r := f.current(s)
	for i, p := range f.filters {
		if r.skipFilter[i] {
			continue
		}
		st := guard("Filter", p.Name(), func() *extpoints.Status { return p.Filter(s, w, node) })
		if st.Code() == extpoints.UnschedulableAndUnresolvable && f.isLocal(i, s, w) {
			return true
		}
	}
	return false
}

// appendLocal appends the plugin's part with its number before and its length behind: read
// from the end, a key has only one meaning. Where the plugin is not node-local, or cannot say so
// because p is nil, the key stays as it is.
func appendLocal(key []byte, number byte, p extpoints.NodeLocalPlugin, s *extpoints.CycleState, w *extpoints.WorkloadInfo) ([]byte, bool) {
	before := len(key)
	if p == nil {
		return key, false
	}
	longer, ok := p.NodeLocal(s, w, append(key, number))
	if !ok || len(longer) <= before {
		return key, false
	}
	key = longer
	return binary.LittleEndian.AppendUint32(key, uint32(len(key)-before)), true
}

// NormalizedScores are the indexes of the Score plugins that normalise.
func (f *Framework) NormalizedScores() []int { return f.normalizing }

// Weights are those of the Score plugins in order. They must not be changed.
func (f *Framework) Weights() []int64 { return f.weights }

// Sampled reports whether the meter is told of the calls in the cycle.
func (f *Framework) Sampled(s *extpoints.CycleState) bool { return f.gauge(s).timer() != nil }

// Skips says which plugins PreScore skips: the bits are indexes of the PreScore and of the Score
// plugins.
type Skips struct{ preScore, score uint64 }

// Score reports whether the Score plugin is skipped.
func (k Skips) Score(i int) bool { return k.score>>i&1 != 0 }

// RawScores runs PreScore and Score over the nodes, and leaves the scores as they are. Plugins
// that are asked by slot count as skipped. Nobody is told of it. out has one list for each Score plugin, in Normalized; those of skipped plugins do
// not count. ok is false where something failed, which is for the reference to say.
func (f *Framework) RawScores(s *extpoints.CycleState, w *extpoints.WorkloadInfo, nodes []*extpoints.NodeInfo, workers int, out *Scores) (k Skips, ok bool) {
	out.reset(len(f.scores), len(nodes), false)
	r := f.current(s)
	clear(r.skipScore)
	for _, i := range r.slots.scores {
		r.skipScore[i] = true
		k.score |= 1 << i
	}
	for i := range f.preScores {
		p := &f.preScores[i]
		if k.score>>p.score&1 != 0 { // LocalKey has seen that each scores
			k.preScore |= 1 << i
			continue
		}
		st := guard("PreScore", p.Name(), func() *extpoints.Status { return p.PreScore(s, w, nodes) })
		switch {
		case st.IsSuccess():
		case st.Code() == extpoints.Skip:
			k.preScore |= 1 << i
			if p.score >= 0 {
				r.skipScore[p.score] = true
				k.score |= 1 << p.score
			}
		default:
			return k, false
		}
	}
	parallel.For(workers, len(nodes), func(i int) { f.scoreNode(r, s, w, nodes, i, out) })
	for _, st := range out.failures {
		if st != nil {
			return k, false
		}
	}
	return k, true
}

// TellScored tells the meter what Score would tell it of a cycle that is not sampled, in which
// the plugins are skipped and so many nodes are scored.
func (f *Framework) TellScored(s *extpoints.CycleState, k Skips, nodes int) {
	if f.env.Meter == nil {
		return
	}
	for i := range f.preScores {
		if k.preScore>>i&1 == 0 {
			f.evaluated(s, "PreScore", f.preScores[i].Name())
		}
	}
	r := f.current(s)
	for i := range r.skipScore {
		r.skipScore[i] = k.Score(i)
	}
	f.tellScored(s, r, nodes)
}

// Normalize has the Score plugin normalise the scores, and reports whether it did and all are in
// range. Nobody is told of it.
func (f *Framework) Normalize(s *extpoints.CycleState, w *extpoints.WorkloadInfo, score int, nodes []*extpoints.NodeInfo, scores []int64) (ok bool) {
	p := &f.scores[score]
	st := guard("NormalizeScore", p.Name(), func() *extpoints.Status { return p.normalizer.NormalizeScore(s, w, nodes, scores) })
	if !st.IsSuccess() {
		return false
	}
	for _, score := range scores {
		if !InRange(score) {
			return false
		}
	}
	return true
}

// InRange reports whether a plugin may give the score.
func InRange(score int64) bool { return score >= extpoints.MinScore && score <= extpoints.MaxScore }
