package bridge

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"

	"github.com/berth-project/berth/adapters/kubernetes"
	"github.com/berth-project/berth/adapters/kubernetes/internal/kubetest"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/plugins"
)

// pipeline is an engine with its adapter over an API server in memory, with two plugins of
// kube-scheduler's kind: a journal, and the DefaultPreemption of kube-scheduler.
type pipeline struct {
	*testing.T
	*journal
	client *fake.Clientset
	engine *engine.Engine
}

func newPipeline(t *testing.T, objects ...runtime.Object) *pipeline {
	p := &pipeline{T: t, journal: &journal{skipBind: true}, client: kubetest.NewServer(objects...)}
	table := NewObjects()
	a, err := kubernetes.New(kubernetes.Options{Client: p.client, Profiles: []string{v1.DefaultSchedulerName}, Translated: table.Put})
	if err != nil {
		t.Fatal(err)
	}
	host, err := New(Options{Objects: table, Client: p.client, Informers: a.Informers()})
	if err != nil {
		t.Fatal(err)
	}
	profile := plugins.DefaultProfile()
	profile.Remove(plugins.PrioritySort)
	profile.Plugins = append([]extpoints.Entry{{Name: "Journal", New: host.Factory("Journal", func(_ context.Context, _ runtime.Object, h fwk.Handle) (fwk.Plugin, error) {
		p.journal.handle = h
		return p.journal, nil
	}), Weight: 1000}}, profile.Plugins...)
	for i := range profile.Plugins {
		if e := &profile.Plugins[i]; e.Name == plugins.DefaultPreemption {
			e.New, e.Args = host.Factory(e.Name, frameworkruntime.FactoryAdapter(feature.Features{}, defaultpreemption.New)), nil
		}
	}
	if p.engine, err = engine.New(engine.Config{Profiles: []extpoints.Profile{profile}, Orchestrator: a, Listener: a.Listener()}); err != nil {
		t.Fatal(err)
	}
	watching, stopWatching := context.WithCancel(context.Background())
	scheduling, stopScheduling := context.WithCancel(context.Background())
	var adapter, scheduler sync.WaitGroup
	adapter.Go(func() {
		if err := a.Run(watching, p.engine); err != nil {
			t.Error(err)
		}
	})
	<-a.Ready()
	scheduler.Go(func() {
		if err := p.engine.Run(scheduling); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() {
		stopScheduling()
		scheduler.Wait()
		stopWatching()
		adapter.Wait()
	})
	return p
}

func (p *pipeline) until(what string, so func() bool) {
	p.Helper()
	for deadline := time.Now().Add(30 * time.Second); !so(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			p.Fatalf("waited in vain until %s\n%s", what, p.take())
		}
	}
}

func (p *pipeline) create(name, cpu string, priority int32) {
	p.Helper()
	object := pod(name, cpu, priority)
	object.UID, object.Spec.SchedulerName = types.UID(name+"-uid"), v1.DefaultSchedulerName
	if _, err := p.client.CoreV1().Pods("default").Create(p.Context(), object, metav1.CreateOptions{}); err != nil {
		p.Fatal(err)
	}
}

func (p *pipeline) get(name string) *v1.Pod {
	p.Helper()
	object, err := p.client.CoreV1().Pods("default").Get(p.Context(), name, metav1.GetOptions{})
	if err != nil {
		p.Fatal(err)
	}
	return object
}

// From the API server to the plugins and back: what they like decides, an annotation that is nothing
// to the engine reaches them, and kube-scheduler's preemption has the engine evict, which also plans
// it on a branch.
func TestPipeline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPipeline(t, node("n1", "2", nil), node("n2", "2", map[string]string{"liked": ""}))
		p.create("a", "1", 0)
		p.until("a is where the plugin likes it", func() bool { return p.get("a").Spec.NodeName == "n2" })

		liked := node("n1", "2", map[string]string{"liked": "", "more": ""})
		if _, err := p.client.CoreV1().Nodes().Update(t.Context(), liked, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		p.create("b", "2", 5)
		p.until("b is on the other node", func() bool { return p.get("b").Spec.NodeName == "n1" })

		p.create("c", "2", 10)
		p.until("a is asked to leave", func() bool { return p.get("a").DeletionTimestamp != nil })
		if p.get("b").DeletionTimestamp != nil {
			t.Error("b is asked to leave, which is more important than a")
		}
		p.until("c is nominated", func() bool { return p.get("c").Status.NominatedNodeName == "n2" })

		now := int64(0)
		if err := p.client.CoreV1().Pods("default").Delete(t.Context(), "a", metav1.DeleteOptions{GracePeriodSeconds: &now}); err != nil {
			t.Fatal(err)
		}
		p.until("c has the room", func() bool { return p.get("c").Spec.NodeName == "n2" })
		p.create("d", "2", 20)
		p.until("b is asked to leave", func() bool { return p.get("b").DeletionTimestamp != nil })
	})
}
