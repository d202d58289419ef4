package extpointstest

import (
	"bytes"
	"slices"
	"time"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// tryNodeLocal looks for a promise that is not kept: the same node, another workload with the
// same key, another cluster around, and another answer.
func tryNodeLocal(tr *trial) {
	plugin, ok := tr.plugin.(extpoints.NodeLocalPlugin)
	if !ok {
		return
	}
	_, scores := tr.plugin.(extpoints.ScorePlugin)
	alike := 0
	tr.each(func(s *Situation) {
		a := judge(tr.plugin, s)
		if !takesPart(&a, scores) {
			return
		}
		first, ok := tr.localKey(plugin, &a, s)
		if !ok {
			return
		}
		tr.localTimes(plugin, s, first)
		other, kept := tr.elsewhere(s)
		b := judge(tr.plugin, other)
		if !takesPart(&b, scores) {
			return
		}
		second, ok := tr.localKey(plugin, &b, other)
		if !ok || !bytes.Equal(first, second) || a.pre.Code() != b.pre.Code() {
			return
		}
		alike++
		for i := range kept {
			if a.nodes != nil && a.pre.Code() != extpoints.Skip && !sameStatus(a.nodes[i], b.nodes[i]) {
				tr.failf(other, "NodeLocal gives the key of another workload, and Filter says of node %s %v to this one and %v to the other",
					s.View.NodeInfos[i].Node.Name, b.nodes[i], a.nodes[i])
			}
		}
		tr.localScores(s, other, &a, &b, kept)
	})
	tr.notef("%d pairs had the same key", alike)
}

// takesPart reports whether the engine would ask the plugin whether it is node-local.
func takesPart(v *verdict, scores bool) bool {
	if v.pre.Code() == extpoints.Skip {
		return scores
	}
	return v.pre.IsSuccess() && v.named == nil
}

// localKey asks twice, and with something before the key.
func (tr *trial) localKey(p extpoints.NodeLocalPlugin, v *verdict, s *Situation) ([]byte, bool) {
	key, ok := p.NodeLocal(v.state, s.Workload, nil)
	key = slices.Clone(key)
	again, okAgain := p.NodeLocal(v.state, s.Workload, []byte("before"))
	if rest, has := bytes.CutPrefix(again, []byte("before")); ok != okAgain || ok && (!has || !bytes.Equal(rest, key)) {
		tr.failf(s, "asked again NodeLocal says %q %v and not %q %v", again, okAgain, key, ok)
	}
	return key, ok
}

// elsewhere is the situation of a workload that differs in one part or in none, in which the
// first nodes are the same and the others have other labels, taints and workloads.
func (tr *trial) elsewhere(s *Situation) (other *Situation, kept int) {
	other = s.copy()
	kept = 1 + tr.random.IntN(len(s.View.NodeInfos)+1)
	kept = min(kept, len(s.View.NodeInfos))
	from := tr.suite.Random(tr.random)
	for i := kept; i < len(other.View.NodeInfos) && len(from.View.NodeInfos) > 0; i++ {
		theirs := from.View.NodeInfos[i%len(from.View.NodeInfos)]
		node := *theirs.Node
		node.Name = other.View.NodeInfos[i].Node.Name
		info := extpoints.NewNodeInfo(&node)
		info.Slot = other.View.NodeInfos[i].Slot
		for _, w := range theirs.Workloads {
			info.AddWorkload(w)
		}
		other.View.NodeInfos[i] = info
		other.View.Drop(model.NodeLoadKind, node.Name)
		other.View.Drop(model.NodeTopologyKind, node.Name)
	}
	if tr.random.IntN(2) == 0 {
		w := *s.Workload
		w.Workload = variant(tr.random, s.Workload.Workload)
		other.Workload = &w
	}
	return other, kept
}

// localTimes compares what the plugin says with what it says at another time, at which all is as old
// as it asked.
func (tr *trial) localTimes(p extpoints.NodeLocalPlugin, s *Situation, key []byte) {
	a := s.Cycle()
	first, scores := judgeIn(tr.plugin, s, a.State()), rawScores(tr.plugin, s, a.State())
	at := Now.Add(time.Duration(tr.random.Int64N(int64(8*time.Hour))) - 4*time.Hour)
	if after, before := a.AgesHold(); !after.IsZero() && !at.After(after) || !before.IsZero() && !at.Before(before) {
		at = before.Add(-1)
		if before.IsZero() {
			at = after.Add(1)
		}
	}
	b := extpoints.NewCycle(extpoints.CycleOptions{View: s.View, Now: at, Seed: 2})
	second := judgeIn(tr.plugin, s, b.State())
	if again, ok := p.NodeLocal(b.State(), s.Workload, nil); !ok || !bytes.Equal(again, key) || !takesPart(&second, true) {
		return
	}
	for i := range second.nodes {
		if first.pre.Code() != extpoints.Skip && !sameStatus(first.nodes[i], second.nodes[i]) {
			tr.failf(s, "NodeLocal says yes, and Filter says of node %s %v at %v and %v at %v", s.View.NodeInfos[i].Node.Name, first.nodes[i], Now, second.nodes[i], at)
		}
	}
	if again := rawScores(tr.plugin, s, b.State()); !slices.Equal(scores, again) {
		tr.failf(s, "NodeLocal says yes, and the scores are %v at %v and %v at %v", scores, Now, again, at)
	}
}

// rawScores are what the plugin scores the nodes, none where it does not.
func rawScores(p extpoints.Plugin, s *Situation, state *extpoints.CycleState) (scores []int64) {
	scorer, ok := p.(extpoints.ScorePlugin)
	if !ok {
		return nil
	}
	if pre, ok := p.(extpoints.PreScorePlugin); ok && !pre.PreScore(state, s.Workload, s.View.NodeInfos).IsSuccess() {
		return nil
	}
	for _, n := range s.View.NodeInfos {
		score, _ := scorer.Score(state, s.Workload, n)
		scores = append(scores, score)
	}
	return scores
}

// localScores compares PreScore and the scores of the nodes that are the same, and looks what
// NormalizeScore makes of equal scores.
func (tr *trial) localScores(s, other *Situation, a, b *verdict, kept int) {
	scorer, ok := tr.plugin.(extpoints.ScorePlugin)
	if !ok || kept == 0 {
		return
	}
	nodes := s.View.NodeInfos[:kept]
	if pre, ok := tr.plugin.(extpoints.PreScorePlugin); ok {
		x, y := pre.PreScore(a.state, s.Workload, s.View.NodeInfos), pre.PreScore(b.state, other.Workload, nodes[:1])
		if !sameStatus(x, y) {
			tr.failf(other, "NodeLocal gives the key of another workload, and PreScore says %v to this one and %v to the other", y, x)
		}
		if !x.IsSuccess() {
			return
		}
	}
	scores := make([]int64, kept)
	for i, n := range nodes {
		x, _ := scorer.Score(a.state, s.Workload, n)
		y, _ := scorer.Score(b.state, other.Workload, n)
		if x != y {
			tr.failf(other, "NodeLocal gives the key of another workload, this one scores %d on node %s, and the other %d", y, n.Node.Name, x)
		}
		scores[i] = x
	}
	normalizer, ok := tr.plugin.(extpoints.ScoreNormalizer)
	if !ok {
		return
	}
	for _, raw := range scores {
		all, one := slices.Repeat([]int64{raw}, kept), []int64{raw}
		normalizer.NormalizeScore(a.state, s.Workload, nodes, all)
		normalizer.NormalizeScore(b.state, other.Workload, nodes[kept-1:], one)
		if slices.Min(all) != one[0] || slices.Max(all) != one[0] {
			tr.failf(s, "NodeLocal says yes, and NormalizeScore makes %v of nodes that all have %d, and %v of one of them", all, raw, one)
		}
	}
}
