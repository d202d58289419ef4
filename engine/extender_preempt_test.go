package engine_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// preemptOutside is a PostFilter that wants everything on every node displaced,
// and asks the extenders about it.
type preemptOutside struct {
	handle extpoints.Handle
	heard  *[]string
}

func (preemptOutside) Name() string { return "PreemptOutside" }

func (p preemptOutside) PostFilter(s *extpoints.CycleState, w *extpoints.WorkloadInfo, _ extpoints.NodeStatuses) (*extpoints.PostFilterResult, *extpoints.Status) {
	nodes := s.View().Nodes()
	candidates := map[string]*extpoints.Victims{}
	for i := range nodes.Len() {
		if n := nodes.At(i); len(n.Workloads) > 0 {
			candidates[n.Node.Name] = &extpoints.Victims{Workloads: n.Workloads}
		}
	}
	most := len(candidates)
	for _, x := range p.handle.Preemption().Extenders() {
		if !x.Interested(w.Workload) {
			continue
		}
		chosen, err := x.Preempt(s.Context(), w, candidates, nodes)
		if len(candidates) != most {
			*p.heard = append(*p.heard, "the candidates were changed")
		}
		if err != nil {
			*p.heard = append(*p.heard, err.Error())
			return nil, extpoints.AsStatus(err)
		}
		candidates = chosen
	}
	for _, name := range []string{"n1", "n2", "n3"} {
		v, ok := candidates[name]
		*p.heard = append(*p.heard, fmt.Sprint(name, " ", ok, " ", v != nil))
		if v != nil {
			for _, victim := range v.Workloads {
				*p.heard = append(*p.heard, fmt.Sprint(victim.ID, " ", v.BudgetViolations, " ", victim.PlacedAt.IsZero()))
			}
		}
	}
	return nil, extpoints.NewStatus(extpoints.Unschedulable)
}

// preempting is an extender that answers with the function.
func preempting(answer func(candidates map[string]*extpoints.Victims) (map[string]*extpoints.Victims, error)) extpoints.Extender {
	return extpoints.Extender{
		Name: "x",
		Preempt: func(_ context.Context, _ *extpoints.WorkloadInfo, candidates map[string]*extpoints.Victims, _ extpoints.Nodes) (map[string]*extpoints.Victims, error) {
			return answer(candidates)
		},
	}
}

func TestPreemptExtenders(t *testing.T) {
	victim := func(id string) *extpoints.WorkloadInfo {
		return &extpoints.WorkloadInfo{Workload: &model.Workload{ID: id}}
	}
	for _, test := range []struct {
		name   string
		answer func(candidates map[string]*extpoints.Victims) (map[string]*extpoints.Victims, error)
		want   []string
	}{
		{"as it is", func(c map[string]*extpoints.Victims) (map[string]*extpoints.Victims, error) { return c, nil },
			[]string{"n1 true true", "a 0 false", "b 0 false", "n2 true true", "c 0 false", "n3 false false"}},
		{"fewer nodes and victims", func(map[string]*extpoints.Victims) (map[string]*extpoints.Victims, error) {
			return map[string]*extpoints.Victims{"n1": {Workloads: []*extpoints.WorkloadInfo{victim("b")}, BudgetViolations: 7}}, nil
		}, []string{"n1 true true", "b 7 false", "n2 false false", "n3 false false"}},
		{"nil", func(map[string]*extpoints.Victims) (map[string]*extpoints.Victims, error) { return nil, nil },
			[]string{"n1 false false", "n2 false false", "n3 false false"}},
		{"no victims", func(map[string]*extpoints.Victims) (map[string]*extpoints.Victims, error) {
			return map[string]*extpoints.Victims{"n1": nil, "n2": {}}, nil
		}, []string{"n1 true false", "n2 true true", "n3 false false"}},
		{"changes what it is given", func(c map[string]*extpoints.Victims) (map[string]*extpoints.Victims, error) {
			clear(c)
			return c, nil
		}, []string{"n1 false false", "n2 false false", "n3 false false"}},
		{"a node that there is not", func(map[string]*extpoints.Victims) (map[string]*extpoints.Victims, error) {
			return map[string]*extpoints.Victims{"n9": {Workloads: []*extpoints.WorkloadInfo{victim("a")}}}, nil
		}, []string{`extender "x": preempt workload "w": the answer claims to preempt on node "n9", which does not exist`}},
		{"a workload that is elsewhere", func(map[string]*extpoints.Victims) (map[string]*extpoints.Victims, error) {
			return map[string]*extpoints.Victims{"n2": {Workloads: []*extpoints.WorkloadInfo{victim("a")}}}, nil
		}, []string{`extender "x": preempt workload "w": the answer claims to preempt workload "a" on node "n2", but it is not found on that node`}},
		{"an error", func(map[string]*extpoints.Victims) (map[string]*extpoints.Victims, error) {
			return nil, errors.New("out of order")
		}, []string{`extender "x": preempt workload "w": out of order`}},
		{"a panic", func(map[string]*extpoints.Victims) (map[string]*extpoints.Victims, error) { panic("oh") },
			[]string{`extender "x": preempt workload "w": panic: oh`}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var heard, again []string
			var log bytes.Buffer
			cfg := preemptConfig(t, preempting(test.answer), &heard)
			cfg.Recorder = engine.NewRecorder(&log)
			r, err := engine.NewRaw(cfg)
			require.NoError(t, err)
			adopt := func(id, node string) engine.Change {
				return engine.Adopt(&model.Workload{ID: id, Requests: model.Resources{CPU: 1000}}, model.Binding{Node: node, Since: epoch})
			}
			require.NoError(t, r.Apply(epoch, node("n1", 2000), node("n2", 1000), adopt("a", "n1"), adopt("b", "n1"), adopt("c", "n2"), task("w", 500)))
			require.True(t, r.Schedule(epoch))
			require.Equal(t, test.want, heard)

			silent := preempting(func(map[string]*extpoints.Victims) (map[string]*extpoints.Victims, error) {
				t.Error("a replay asks nobody")
				return nil, nil
			})
			_, err = engine.Replay(preemptConfig(t, silent, &again), bytes.NewReader(log.Bytes()))
			require.NoError(t, err)
			require.Equal(t, heard, again)
		})
	}
}

func preemptConfig(t *testing.T, x extpoints.Extender, heard *[]string) engine.Config {
	t.Helper()
	cfg := config(&world{})
	cfg.Extenders = []extpoints.Extender{x}
	for i := range cfg.Profiles[0].Plugins {
		cfg.Profiles[0].Plugins[i].Except = []extpoints.Point{"PostFilter"}
	}
	extpoints.Use(&cfg.Profiles[0], func(_ extpoints.NoArgs, h extpoints.Handle) (preemptOutside, error) {
		return preemptOutside{h, heard}, nil
	}, extpoints.NoArgs{})
	return cfg
}
