package extpointstest

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

func tryPreEnqueue(tr *trial) {
	pre, ok := tr.plugin.(extpoints.PreEnqueuePlugin)
	if !ok {
		return
	}
	tr.each(func(s *Situation) {
		status := pre.PreEnqueue(s.Workload.Workload)
		tr.allowed(s, "PreEnqueue", status, orRejected(extpoints.Success)...)
		if again := pre.PreEnqueue(s.Workload.Workload); !sameStatus(status, again) {
			tr.failf(s, "asked again PreEnqueue says %v and not %v", again, status)
		}
	})
}

// tryQueueSort proves that Less is a strict weak order, on triples of things
// that agree in many of their fields.
func tryQueueSort(tr *trial) {
	sort, ok := tr.plugin.(extpoints.QueueSortPlugin)
	if !ok {
		return
	}
	for range tr.suite.Rounds * 10 {
		var q [3]*extpoints.Queued
		for i := range q {
			q[i] = randomQueued(tr.random)
		}
		a, b, c := q[0], q[1], q[2]
		equal := func(x, y *extpoints.Queued) bool { return !sort.Less(x, y) && !sort.Less(y, x) }
		switch {
		case sort.Less(a, a):
			tr.failf(nil, "%+v goes before itself", *a)
		case sort.Less(a, b) && sort.Less(b, a):
			tr.failf(nil, "%+v and %+v go before each other", *a, *b)
		case sort.Less(a, b) && sort.Less(b, c) && !sort.Less(a, c):
			tr.failf(nil, "%+v goes before %+v and that before %+v, but the first not before the last", *a, *b, *c)
		case equal(a, b) && equal(b, c) && !equal(a, c):
			tr.failf(nil, "%+v is equal to %+v and that to %+v, but the first not to the last", *a, *b, *c)
		}
		if len(tr.problems) >= maxProblems {
			return
		}
	}
}

func randomQueued(r *rand.Rand) *extpoints.Queued {
	w := randomWorkload(r, pick(r, []string{"w1", "w2", "w3"}))
	return &extpoints.Queued{
		Workload:  w,
		Priority:  w.Priority,
		Timestamp: Now.Add(time.Duration(r.IntN(3)) * time.Second),
		AddedAt:   Now.Add(time.Duration(r.IntN(3)) * -time.Second),
		Attempts:  r.IntN(3),
	}
}

// tryBinding tries Permit and what comes after it, once with an orchestrator
// that takes everything and once with one that refuses.
func tryBinding(tr *trial) {
	refusal := errors.New("refused")
	for _, refuse := range []bool{false, true} {
		handle := tr.suite.Handle()
		if h, ok := handle.(*Handle); ok && refuse {
			h.World = &Orchestrator{Refuse: func(*model.Workload) error { return refusal }}
		}
		plugin, err := tr.suite.Factory(tr.suite.Args, handle)
		if err != nil {
			tr.failf(nil, "making another plugin: %v", err)
			return
		}
		tr.each(func(s *Situation) {
			v := judge(plugin, s)
			if nodes := v.feasible(s); len(nodes) > 0 {
				tr.bind(plugin, s, v.state, pick(tr.random, nodes).Node.Name)
			}
		})
	}
}

func (tr *trial) bind(plugin extpoints.Plugin, s *Situation, state *extpoints.CycleState, node string) {
	ctx := context.Background()
	b := &model.Binding{Workload: s.Workload.ID, Node: node}
	if p, ok := plugin.(extpoints.ReservePlugin); ok && !p.Reserve(state, s.Workload, b).IsSuccess() {
		return
	}
	before := fingerprint(b)
	if p, ok := plugin.(extpoints.PermitPlugin); ok {
		status, timeout := p.Permit(state, s.Workload, b)
		tr.allowed(s, "Permit", status, orRejected(extpoints.Success, extpoints.Wait)...)
		if status.Code() == extpoints.Wait && timeout <= 0 {
			tr.failf(s, "Permit says Wait, but no longer than %v", timeout)
		}
		if timeout > extpoints.MaxPermitTimeout {
			tr.failf(s, "Permit says Wait for %v, which the engine cuts to %v", timeout, extpoints.MaxPermitTimeout)
		}
	}
	if p, ok := plugin.(extpoints.PreBindPlugin); ok {
		_, status := p.PreBindPreFlight(state, s.Workload, b)
		tr.allowed(s, "PreBindPreFlight", status, extpoints.Success, extpoints.Skip)
		if status.IsSuccess() {
			tr.allowed(s, "PreBind", p.PreBind(ctx, state, s.Workload, b), orRejected(extpoints.Success, extpoints.Error)...)
		}
	}
	if p, ok := plugin.(extpoints.BindPlugin); ok {
		tr.allowed(s, "Bind", p.Bind(ctx, state, s.Workload, b), orRejected(extpoints.Success, extpoints.Skip, extpoints.Error)...)
	}
	if p, ok := plugin.(extpoints.PostBindPlugin); ok {
		p.PostBind(ctx, state, s.Workload, b)
	}
	if fingerprint(b) != before {
		tr.failf(s, "the binding was changed after Reserve")
	}
}

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
