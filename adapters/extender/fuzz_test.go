package extender

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"testing"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// saying is a connection to a server that says always the same.
type saying []byte

func (s saying) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(bytes.NewReader(s))}, nil
}

// two are the nodes that the fuzzed answers are about.
type two struct {
	extpoints.Nodes
	list []*extpoints.NodeInfo
}

func (n two) Get(name string) *extpoints.NodeInfo {
	for _, node := range n.list {
		if node.Node.Name == name {
			return node
		}
	}
	return nil
}

// FuzzAnswers has every verb answered with the same bytes: whatever they are,
// there is an error or an answer that can be used, and never both or neither.
func FuzzAnswers(f *testing.F) {
	for _, seed := range []string{
		``, `null`, `{}`, `[]`, `{"Nodes":{"items":[{"metadata":{"name":"n2"}},null,{}]}}`, `{"NodeNames":["n1","n1"],"FailedNodes":{"n2":"x"},"FailedAndUnresolvableNodes":{"":"y"}}`,
		`{"Error":"x"}`, `[{"Host":"n1","Score":9223372036854775807},{"Host":"n1","Score":1}]`, `[null]`, `{"NodeNames":null,"Nodes":null}`,
		`{"NodeNameToMetaVictims":{"n1":{"Pods":[{"UID":"v"}],"NumPDBViolations":-1},"n2":null}}`, `{"NodeNameToMetaVictims":{"n1":{"Pods":[null,{"UID":"v"}]}}}`,
		"{\"NodeNames\":[\"\xff\"]}", `{"nodenames":["n1"]} {`, "\xef\xbb\xbf{}",
	} {
		for _, capable := range []bool{false, true} {
			f.Add([]byte(seed), capable)
		}
	}
	f.Fuzz(func(t *testing.T, body []byte, capable bool) {
		x, err := New(Config{
			URLPrefix: "http://h", FilterVerb: "f", PrioritizeVerb: "p", PreemptVerb: "m", BindVerb: "b", Weight: 1, NodeCacheCapable: capable, MaxAnswer: 1 << 12,
		})
		if err != nil {
			t.Fatal(err)
		}
		x.client.Transport = saying(body)
		nodes := two{list: []*extpoints.NodeInfo{extpoints.NewNodeInfo(&model.Node{Name: "n1"}), extpoints.NewNodeInfo(&model.Node{Name: "n2"})}}
		victim := &extpoints.WorkloadInfo{Workload: &model.Workload{ID: "v"}}
		nodes.list[0].AddWorkload(victim)
		w := &extpoints.WorkloadInfo{Workload: &model.Workload{ID: "w"}}

		r, err := x.Filter(context.Background(), w, nodes.list)
		if (r == nil) == (err == nil) {
			t.Fatalf("filter: %v, %v", r, err)
		}
		points, err := x.Prioritize(context.Background(), w, nodes.list)
		if (points == nil) == (err == nil) {
			t.Fatalf("prioritize: %v, %v", points, err)
		}
		chosen, err := x.Preempt(context.Background(), w, map[string]*extpoints.Victims{"n1": {Workloads: nodes.list[0].Workloads}}, nodes)
		if (chosen == nil) == (err == nil) {
			t.Fatalf("preempt: %v, %v", chosen, err)
		}
		for name, v := range chosen {
			for _, displaced := range v.Workloads {
				if nodes.Get(name) == nil || displaced != victim {
					t.Fatalf("preempt: %v on %q", displaced, name)
				}
			}
		}
		if err := x.Bind(context.Background(), w.Workload, model.Binding{Node: "n1"}); err == nil && len(bytes.TrimSpace(body)) == 0 {
			t.Fatal("bind: nothing is no answer")
		}
	})
}
