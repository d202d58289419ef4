package extpointstest

import (
	"math/rand/v2"
	"slices"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// trySign looks for two workloads that are signed alike and treated differently.
// The second one differs from the first in a few parts that come from a third.
func trySign(tr *trial) {
	signer, ok := tr.plugin.(extpoints.SignPlugin)
	if !ok {
		return
	}
	alike := 0
	tr.each(func(s *Situation) {
		first, status := signer.Sign(s.Workload.Workload)
		tr.allowed(s, "Sign", status, orRejected(extpoints.Success, extpoints.Error)...)
		again, _ := signer.Sign(s.Workload.Workload.Clone())
		if !slices.Equal(first, again) {
			tr.failf(s, "asked again Sign says %v and not %v", again, first)
		}
		if !status.IsSuccess() {
			return
		}
		other := s.copy()
		other.Workload = &extpoints.WorkloadInfo{Workload: variant(tr.random, s.Workload.Workload)}
		second, status := signer.Sign(other.Workload.Workload)
		if !status.IsSuccess() || !slices.Equal(first, second) {
			return
		}
		alike++
		a, b := judge(tr.plugin, s), judge(tr.plugin, other)
		if !sameOutcome(a, b) {
			tr.failf(other, "signed like another workload, this one is told %v %v, and the other %v %v", b.pre, b.nodes, a.pre, a.nodes)
		}
		tr.sameScores(s, other, a, b)
	})
	tr.notef("%d pairs were signed alike", alike)
}

// sameOutcome is sameVerdict, except that Skip is as good as Success where Filter
// would accept every node anyway, which is what Skip means.
func sameOutcome(a, b verdict) bool {
	for _, v := range []*verdict{&a, &b} {
		if v.pre.Code() == extpoints.Skip {
			v.pre = nil
		}
	}
	return sameVerdict(a, b)
}

func (tr *trial) sameScores(s, other *Situation, a, b verdict) {
	scorer, ok := tr.plugin.(extpoints.ScorePlugin)
	if !ok {
		return
	}
	if pre, ok := tr.plugin.(extpoints.PreScorePlugin); ok {
		x, y := pre.PreScore(a.state, s.Workload, s.View.NodeInfos), pre.PreScore(b.state, other.Workload, s.View.NodeInfos)
		if !sameStatus(x, y) {
			tr.failf(other, "signed like another workload, PreScore says %v to this one and %v to the other", y, x)
		}
		if !x.IsSuccess() {
			return
		}
	}
	for _, n := range s.View.NodeInfos {
		x, _ := scorer.Score(a.state, s.Workload, n)
		y, _ := scorer.Score(b.state, other.Workload, n)
		if x != y {
			tr.failf(other, "signed like another workload, this one scores %d on node %s, and the other %d", y, n.Node.Name, x)
		}
	}
}

// variant copies a workload, gives it another identity, and takes one part of
// it from a random one.
func variant(r *rand.Rand, w *model.Workload) *model.Workload {
	v, from := w.Clone(), randomWorkload(r, "variant")
	v.ID, v.CreatedAt = "variant", from.CreatedAt
	switch r.IntN(13) {
	case 0:
		v.NodeName = from.NodeName
	case 1:
		v.NodeSelector = from.NodeSelector
	case 2:
		v.NodeAffinity = from.NodeAffinity
	case 3:
		v.Tolerations = from.Tolerations
	case 4:
		v.Ports = from.Ports
	case 5:
		v.Images = from.Images
	case 6:
		v.Requests = from.Requests
	case 7:
		v.Estimate = &from.Requests
	case 8:
		v.Affinity, v.AntiAffinity, v.Spread = from.Affinity, from.AntiAffinity, from.Spread
	case 9:
		v.Labels, v.Namespace = from.Labels, from.Namespace
	case 10:
		v.Devices = from.Devices
	case 11:
		v.Priority, v.Gates = from.Priority, from.Gates
	case 12:
		slices.Reverse(v.Tolerations)
		slices.Reverse(v.Images)
		slices.Reverse(v.Ports)
		slices.Reverse(v.Requests.Scalars)
	}
	return v
}
