package queue

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/model"
)

// What is used of limits is among the levels: also what is remembered of workloads that have ended.
func TestLevelsOfLimits(t *testing.T) {
	q := newOrdered(t)
	q.Reorder(start)
	for _, o := range []model.Object{
		&model.Queue{Name: "q"},
		&model.Principal{Name: "a", Queue: "q"}, &model.Principal{Name: "b", Queue: "q"},
		&model.Limit{Name: "cpu", Queue: "q", Scope: model.LimitSubtree, Measure: model.LimitResource, Resource: model.CPU, Amount: 4000},
		&model.Limit{Name: "running", Queue: "q", Scope: model.LimitEachPrincipal, Measure: model.LimitRunning, Amount: 3},
		&model.Limit{Name: "each", Queue: "q", Scope: model.LimitEachWorkload, Measure: model.LimitResource, Resource: model.CPU, Amount: 1500},
		&model.Limit{Name: "budget", Principal: "a", Scope: model.LimitOwn, Measure: model.LimitResourceSeconds, Resource: model.CPU, Amount: 1_000_000},
		&model.Limit{Name: "unused", Principal: "b", Scope: model.LimitOwn, Measure: model.LimitResource, Resource: "gpu", Amount: 1},
		&model.Limit{Name: "known", Queue: "q", Scope: model.LimitOwn, Measure: model.LimitCount, Amount: 9, Breach: model.LimitRefuse},
	} {
		q.DefinitionChanged(nil, o)
	}
	q.Reorder(start)
	at := func(seconds int) time.Time { return start.Add(time.Duration(seconds) * time.Second) }
	limits := func(seconds int) (list []Level) {
		for _, l := range q.Levels(at(seconds)) {
			if l.Limit != "" {
				list = append(list, l)
			}
		}
		return list
	}
	require.Empty(t, limits(0))
	w := &model.Workload{ID: "w", Principal: "a", Limit: 100 * time.Second, Requests: model.Resources{CPU: 1000}}
	other := &model.Workload{ID: "other", Principal: "b", Limit: time.Hour, Requests: model.Resources{CPU: 500}}
	for _, w := range []*model.Workload{w, other} {
		q.Know(w, 1)
		q.Charge(at(0), at(0), at(0).Add(w.Limit), w)
	}
	q.Reorder(at(0))
	budget := Level{Limit: "budget", Resource: model.CPU, Used: 100_000, Capacity: 1_000_000}
	require.Equal(t, []Level{
		budget,
		{Limit: "cpu", Resource: model.CPU, Used: 1500, Capacity: 4000},
		{Limit: "known", Used: 2, Capacity: 9},
		{Limit: "running", Principal: "a", Used: 1, Capacity: 3},
		{Limit: "running", Principal: "b", Used: 1, Capacity: 3},
	}, limits(60), "with what those that run may yet use")
	for _, w := range []*model.Workload{w, other} {
		q.Discharge(at(60), w)
		q.Know(w, -1)
	}
	q.DefinitionChanged(nil, &model.Principal{Name: "new"}) // the tree is made anew
	q.Reorder(at(60))
	budget.Used = 60_000
	require.Equal(t, []Level{budget}, limits(90))
}
