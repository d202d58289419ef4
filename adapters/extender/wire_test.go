package extender_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/extender"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// names is a codec that says no more than who is who.
type names struct{}

func (names) Pod(w *extpoints.WorkloadInfo, node string) (json.RawMessage, error) {
	return json.Marshal(map[string]any{"metadata": map[string]string{"uid": w.ID}, "on": node, "odd": "<&>"})
}

func (names) Node(n *model.Node) (json.RawMessage, error) {
	return json.RawMessage(`{ "metadata" : {"name":"` + n.Name + `"} }`), nil
}

// The questions are those that kube-scheduler 1.37.1 puts, byte for byte, given
// the same pods and nodes.
func TestQuestions(t *testing.T) {
	s := newServer(t, map[string]string{"/a/filter": "{}", "/a/prioritize": "[]", "/a/preempt": "{}", "/a/bind": "{}"})
	for _, test := range []struct {
		name    string
		capable bool
		want    []string
	}{
		{"whole", false, []string{
			`POST /a/filter application/json {"Pod":{"metadata":{"uid":"uid-p"},"odd":"\u003c\u0026\u003e","on":""},"Nodes":{"metadata":{},"items":[{"metadata":{"name":"n1"}},{"metadata":{"name":"n2"}}]},"NodeNames":null}`,
			`POST /a/prioritize application/json {"Pod":{"metadata":{"uid":"uid-p"},"odd":"\u003c\u0026\u003e","on":""},"Nodes":{"metadata":{},"items":[{"metadata":{"name":"n1"}},{"metadata":{"name":"n2"}}]},"NodeNames":null}`,
			`POST /a/preempt application/json {"Pod":{"metadata":{"uid":"uid-p"},"odd":"\u003c\u0026\u003e","on":""},"NodeNameToVictims":{"n1":{"Pods":[{"metadata":{"uid":"uid-v"},"odd":"\u003c\u0026\u003e","on":"n1"}],"NumPDBViolations":1},"n2":{"Pods":[],"NumPDBViolations":0}},"NodeNameToMetaVictims":null}`,
			`POST /a/bind application/json {"PodName":"p","PodNamespace":"ns","PodUID":"uid-p","Node":"n1"}`,
		}},
		{"by name", true, []string{
			`POST /a/filter application/json {"Pod":{"metadata":{"uid":"uid-p"},"odd":"\u003c\u0026\u003e","on":""},"Nodes":null,"NodeNames":["n1","n2"]}`,
			`POST /a/prioritize application/json {"Pod":{"metadata":{"uid":"uid-p"},"odd":"\u003c\u0026\u003e","on":""},"Nodes":null,"NodeNames":["n1","n2"]}`,
			`POST /a/preempt application/json {"Pod":{"metadata":{"uid":"uid-p"},"odd":"\u003c\u0026\u003e","on":""},"NodeNameToVictims":null,"NodeNameToMetaVictims":{"n1":{"Pods":[{"UID":"uid-v"}],"NumPDBViolations":1},"n2":{"Pods":[],"NumPDBViolations":0}}}`,
			`POST /a/bind application/json {"PodName":"p","PodNamespace":"ns","PodUID":"uid-p","Node":"n1"}`,
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			x := newExtender(t, s.URL+"/a//", func(c *extender.Config) { c.NodeCacheCapable, c.Codec = test.capable, names{} })
			c := newCluster()
			_, err := x.Filter(ctx, waiting, c.list)
			require.NoError(t, err)
			_, err = x.Prioritize(ctx, waiting, c.list)
			require.NoError(t, err)
			_, err = x.Preempt(ctx, waiting, c.candidates(), c)
			require.NoError(t, err)
			require.NoError(t, x.Bind(ctx, waiting.Workload, model.Binding{Workload: "uid-p", Node: "n1"}))
			require.Equal(t, test.want, s.take())
		})
	}
	x := newExtender(t, s.URL+"/a", nil)
	require.NoError(t, x.Bind(ctx, &model.Workload{ID: "nameless"}, model.Binding{Node: "n1"}))
	require.Equal(t, []string{`POST /a/bind application/json {"PodName":"nameless","PodNamespace":"","PodUID":"nameless","Node":"n1"}`}, s.take())
}

func TestFilterAnswers(t *testing.T) {
	for _, test := range []struct {
		name, answer string
		whole        extpoints.ExtenderFilterResult // without NodeCacheCapable
		byName       extpoints.ExtenderFilterResult // with it
	}{
		{name: "both forms", answer: `{"Nodes":{"items":[{"metadata":{"name":"n2"},"spec":{}},{"metadata":{"name":"n1"}}]},"NodeNames":["n1"]}`,
			whole:  extpoints.ExtenderFilterResult{Nodes: []string{"n2", "n1"}, Bare: true},
			byName: extpoints.ExtenderFilterResult{Nodes: []string{"n1"}}},
		{name: "whole nodes only", answer: `{"Nodes":{"items":[{"metadata":{"name":"n2"}}]}}`,
			whole:  extpoints.ExtenderFilterResult{Nodes: []string{"n2"}, Bare: true},
			byName: extpoints.ExtenderFilterResult{Nodes: []string{"n2"}, Bare: true}},
		{name: "names only", answer: `{"NodeNames":["n2"]}`,
			byName: extpoints.ExtenderFilterResult{Nodes: []string{"n2"}}},
		{name: "reasons", answer: `{"FailedNodes":{"n1":"x","n2":"y"},"FailedAndUnresolvableNodes":{"n1":"z"}}`,
			whole:  extpoints.ExtenderFilterResult{Failed: map[string]string{"n1": "x", "n2": "y"}, Unresolvable: map[string]string{"n1": "z"}},
			byName: extpoints.ExtenderFilterResult{Failed: map[string]string{"n1": "x", "n2": "y"}, Unresolvable: map[string]string{"n1": "z"}}},
		{name: "other case, unknown names, something behind", answer: ` {"nodenames":["n1"],"more":{}} trailing`,
			byName: extpoints.ExtenderFilterResult{Nodes: []string{"n1"}}},
		{name: "an empty object", answer: `{}`},
		{name: "null", answer: `null`},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newServer(t, map[string]string{"/filter": test.answer})
			for _, capable := range []bool{false, true} {
				want := test.whole
				if capable {
					want = test.byName
				}
				x := newExtender(t, s.URL, func(c *extender.Config) { c.NodeCacheCapable = capable })
				got, err := x.Filter(ctx, waiting, newCluster().list)
				require.NoError(t, err)
				require.ElementsMatch(t, want.Nodes, got.Nodes)
				require.Equal(t, len(want.Nodes) > 0, len(got.Nodes) > 0 && got.Nodes[0] == want.Nodes[0], "the order is the extender's")
				got.Nodes, want.Nodes = nil, nil
				require.Equal(t, &want, got)
			}
		})
	}
}

func TestPrioritizeAnswers(t *testing.T) {
	for answer, want := range map[string]map[string]int64{
		`[{"Host":"n1","Score":3},{"host":"n2","SCORE":10}]`: {"n1": 3, "n2": 10},
		`[{"Host":"n1","Score":3},{"Host":"n1","Score":4}]`:  {"n1": 7},
		`[{"Host":"n1","Score":-300}]`:                       {"n1": -300},
		`[{"Host":"n1"}]`:                                    {"n1": 0},
		`[]`:                                                 {},
		`null`:                                               {},
	} {
		s := newServer(t, map[string]string{"/prioritize": answer})
		got, err := newExtender(t, s.URL, nil).Prioritize(ctx, waiting, newCluster().list)
		require.NoError(t, err, answer)
		require.Equal(t, want, got, answer)
	}
}

func TestPreemptAnswers(t *testing.T) {
	for _, test := range []struct {
		answer string
		want   map[string]int // victims by node
		err    string
	}{
		{answer: `{"NodeNameToMetaVictims":{"n1":{"Pods":[{"UID":"uid-v"}],"NumPDBViolations":2}}}`, want: map[string]int{"n1": 1}},
		{answer: `{"NodeNameToMetaVictims":{"n1":{"Pods":[]},"n2":null}}`, want: map[string]int{"n1": 0, "n2": 0}},
		{answer: `{}`, want: map[string]int{}},
		{answer: `{"NodeNameToMetaVictims":{"n9":{}}}`, err: `the extender claims to preempt on node "n9", which does not exist`},
		{answer: `{"NodeNameToMetaVictims":{"n2":{"Pods":[{"UID":"uid-v"}]}}}`,
			err: "the extender claims to preempt pod (UID: uid-v) on node: n2, but the pod is not found on that node"},
		{answer: `{"NodeNameToMetaVictims":{"n1":{"Pods":[null]}}}`,
			err: "the extender claims to preempt pod (UID: ) on node: n1, but the pod is not found on that node"},
	} {
		s := newServer(t, map[string]string{"/preempt": test.answer})
		c := newCluster()
		got, err := newExtender(t, s.URL, nil).Preempt(ctx, waiting, c.candidates(), c)
		if test.err != "" {
			require.EqualError(t, err, test.err)
			continue
		}
		require.NoError(t, err, test.answer)
		count := map[string]int{}
		for name, v := range got {
			count[name] = len(v.Workloads)
			for _, w := range v.Workloads {
				require.Same(t, c.list[0].Workloads[0], w)
				require.Equal(t, 2, v.BudgetViolations)
			}
		}
		require.Equal(t, test.want, count, test.answer)
	}
}

func TestBindAnswers(t *testing.T) {
	for answer, want := range map[string]string{`{}`: "", `null`: "", `{"Error":""}`: "", `{"Error":"no room"}`: "no room"} {
		s := newServer(t, map[string]string{"/bind": answer})
		err := newExtender(t, s.URL, nil).Bind(ctx, waiting.Workload, model.Binding{Node: "n1"})
		if want == "" {
			require.NoError(t, err, answer)
		} else {
			require.EqualError(t, err, want)
		}
	}
}

// A codec that fails is the extender's failure.
func TestCodecFails(t *testing.T) {
	c := newCluster()
	for _, test := range []struct {
		codec   extender.Codec
		capable bool
		want    string
	}{
		{broken{pod: true}, false, "encode the pod: no pod"},
		{broken{node: true}, false, `encode node "n1": no node`},
		{broken{nonsense: true}, true, "encode the question for "},
	} {
		x := newExtender(t, "http://127.0.0.1:1", func(cfg *extender.Config) { cfg.Codec, cfg.NodeCacheCapable = test.codec, test.capable })
		_, err := x.Filter(ctx, waiting, c.list)
		require.ErrorContains(t, err, test.want)
		_, err = x.Prioritize(ctx, waiting, c.list)
		require.ErrorContains(t, err, test.want)
	}
	x := newExtender(t, "http://127.0.0.1:1", func(cfg *extender.Config) { cfg.Codec = broken{victim: true} })
	_, err := x.Preempt(ctx, waiting, c.candidates(), c)
	require.EqualError(t, err, `encode pod "uid-v": no pod`)
	x = newExtender(t, "http://127.0.0.1:1", func(cfg *extender.Config) { cfg.Codec = broken{pod: true} })
	_, err = x.Preempt(ctx, waiting, c.candidates(), c)
	require.EqualError(t, err, "encode the pod: no pod")
}

type broken struct{ pod, victim, node, nonsense bool }

type text string

func (t text) Error() string { return string(t) }

func (b broken) Pod(w *extpoints.WorkloadInfo, node string) (json.RawMessage, error) {
	switch {
	case b.pod, b.victim && node != "":
		return nil, text("no pod")
	case b.nonsense:
		return json.RawMessage("{"), nil
	}
	return names{}.Pod(w, node)
}

func (b broken) Node(n *model.Node) (json.RawMessage, error) {
	if b.node {
		return nil, text("no node")
	}
	return names{}.Node(n)
}
