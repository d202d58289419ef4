package bridge

import (
	"context"
	"fmt"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	fwk "k8s.io/kube-scheduler/framework"

	"github.com/berth-project/berth/adapters/kubernetes/convert"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/extpoints/extpointstest"
)

// idle is a plugin that does nothing.
type idle struct{}

func (idle) Name() string { return "Idle" }
func (idle) Filter(context.Context, fwk.CycleState, *v1.Pod, fwk.NodeInfo) *fwk.Status {
	return nil
}
func (idle) Score(context.Context, fwk.CycleState, *v1.Pod, fwk.NodeInfo) (int64, *fwk.Status) {
	return 1, nil
}
func (idle) ScoreExtensions() fwk.ScoreExtensions { return nil }

// What the bridge costs for each call on a node, where the plugin does nothing: with ten pods on
// each node, of nodes that have not changed since they were last looked at in another cycle, and
// in the same one.
func BenchmarkCall(b *testing.B) {
	for _, nodes := range []int{100, 5000} {
		h, s := benchCluster(b, nodes)
		p := newPlugin(&handle{host: h, name: "Idle"}, idle{})
		infos := s.View.NodeInfos
		b.Run(fmt.Sprintf("Filter/%d/same cycle", nodes), func(b *testing.B) {
			state := s.State()
			for i := range b.N {
				p.Filter(state, s.Workload, infos[i%nodes])
			}
		})
		b.Run(fmt.Sprintf("Filter/%d/next cycle", nodes), func(b *testing.B) {
			state := s.State()
			for i := range b.N {
				if i%nodes == 0 {
					state = s.State()
				}
				p.Filter(state, s.Workload, infos[i%nodes])
			}
		})
		b.Run(fmt.Sprintf("Score/%d/next cycle", nodes), func(b *testing.B) {
			state := s.State()
			for i := range b.N {
				if i%nodes == 0 {
					state = s.State()
				}
				p.Score(state, s.Workload, infos[i%nodes])
			}
		})
	}
}

// benchCluster is nodes with ten pods each.
func benchCluster(b *testing.B, nodes int) (*Host, *extpointstest.Situation) {
	b.Helper()
	client := fake.NewClientset()
	objects := NewObjects()
	h, err := New(Options{Objects: objects, Client: client, Informers: informers.NewSharedInformerFactory(client, 0)})
	if err != nil {
		b.Fatal(err)
	}
	workload := func(name string) *extpoints.WorkloadInfo {
		p := pod(name, "100m", 0)
		m, err := convert.Gates{}.Pod(p)
		if err != nil {
			b.Fatal(err)
		}
		objects.Put(m, p)
		return &extpoints.WorkloadInfo{Workload: m}
	}
	var infos []*extpoints.NodeInfo
	for i := range nodes {
		n := node(fmt.Sprintf("n%d", i), "8", nil)
		m, err := convert.Node(n)
		if err != nil {
			b.Fatal(err)
		}
		objects.Put(m, n)
		info := extpoints.NewNodeInfo(m)
		for j := range 10 {
			info.AddWorkload(workload(fmt.Sprintf("p%d-%d", i, j)))
		}
		infos = append(infos, info)
	}
	s := extpointstest.NewSituation(workload("waits").Workload, infos...)
	p := newPlugin(&handle{host: h, name: "Idle"}, idle{})
	for _, info := range infos { // all NodeInfos are made
		p.Filter(s.State(), s.Workload, info)
	}
	return h, s
}
