//go:build patched

package pluginlevel

import (
	"fmt"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"sigs.k8s.io/scheduler-plugins/apis/scheduling/v1alpha1"

	"github.com/berth-project/berth/adapters/kubernetes/convert"
	"github.com/berth-project/berth/adapters/kubernetes/customresources"
	"github.com/berth-project/berth/adapters/kubernetes/parity/generate"
	"github.com/berth-project/berth/adapters/kubernetes/parity/internal/differences"
	"github.com/berth-project/berth/adapters/kubernetes/parity/internal/subject"
	"github.com/berth-project/berth/adapters/kubernetes/parity/internal/twin"
	"github.com/berth-project/berth/adapters/kubernetes/parity/internal/upstream/capacityscheduling"
	"github.com/berth-project/berth/adapters/kubernetes/queueing"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins"
)

// How much one case about quotas does.
const (
	quotaRounds   = 24 // each with other quotas
	podsPerQuotas = 60
)

// What happens to a pod in a namespace with a quota.
const (
	runs     = "runs"
	overMax  = "more than its namespace may use"
	overMins = "more than all namespaces may use"
)

// quotaNames are the namespaces with quotas, and quotaResources what they are about.
var (
	quotaNames     = []string{"a", "b", "c"}
	quotaResources = []v1.ResourceName{v1.ResourceCPU, v1.ResourceMemory, v1.ResourceEphemeralStorage, "example.com/gpu"}
)

// quotaCase is elastic quotas on both sides. Upstream, all quotas together may use what they are
// guaranteed together; the subject's stop at what there is. So there is one node, which has just that. Nobody
// makes room.
type quotaCase struct {
	*twin.Twin
	plugin  *capacityscheduling.CapacityScheduling
	config  *queueing.Configuration
	most    map[string]v1.ResourceList // of each namespace
	room    v1.ResourceList            // of the node
	running []*v1.Pod
	asked   int
}

// runQuotas runs one case about elastic quotas.
func runQuotas(seed, number uint64, report *differences.Report, mutation Mutation) error {
	config := &queueing.Configuration{QuotaObjects: true}
	t, err := twin.New(generate.New(seed, number, generate.Mood{}), nowhere(), subject.Config{
		Without: []string{plugins.DefaultPreemption}, Change: func(cfg *engine.Config) { cfg.Order = config.Order() },
	})
	if err != nil {
		return err
	}
	defer t.Close()
	c := &quotaCase{Twin: t, plugin: &capacityscheduling.CapacityScheduling{}, config: config}
	setField(c.plugin, "fh", t.Reference.Framework) // its constructor waits for an API server
	for _, o := range config.Objects() {
		t.Subject.Apply(engine.PutObject(o))
	}
	for range quotaRounds {
		if err := c.putQuotas(); err != nil {
			return err
		}
		for range podsPerQuotas {
			c.ask(report, mutation)
		}
	}
	return nil
}

// putQuotas draws other quotas. Nothing runs any more.
func (c *quotaCase) putQuotas() error {
	for len(c.running) > 0 {
		c.end(0)
	}
	infos, room := capacityscheduling.NewElasticQuotaInfos(), v1.ResourceList{v1.ResourcePods: resource.MustParse("1000")}
	c.most = map[string]v1.ResourceList{}
	for _, namespace := range quotaNames {
		quota := c.quota(namespace)
		least := quota.Spec.Min
		for name, amount := range least {
			sum := room[name]
			sum.Add(amount)
			room[name] = sum
		}
		c.most[namespace] = quota.Spec.Max
		infos[namespace] = &capacityscheduling.ElasticQuotaInfo{
			Namespace: namespace, Min: framework.NewResource(least), Max: framework.NewResource(quota.Spec.Max), Used: framework.NewResource(nil),
		}
		setField(infos[namespace], "pods", sets.New[string]())
		if err := c.tellQuota(quota); err != nil {
			return err
		}
	}
	setField(c.plugin, "elasticQuotaInfos", infos)
	c.room = room
	node, err := convert.Node(&v1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}, Status: v1.NodeStatus{Allocatable: room}})
	c.Subject.Apply(engine.PutNode(node))
	return err
}

// quota draws that of a namespace.
func (c *quotaCase) quota(namespace string) *v1alpha1.ElasticQuota {
	q := &v1alpha1.ElasticQuota{}
	q.TypeMeta, q.ObjectMeta = kindOf("scheduling.x-k8s.io", "v1alpha1", "ElasticQuota", namespace, "quota")
	q.Spec.Min, q.Spec.Max = v1.ResourceList{}, v1.ResourceList{}
	for _, name := range quotaResources {
		least := int64(c.IntN(5))
		if c.Percent(85) {
			q.Spec.Min[name] = *resource.NewQuantity(least, resource.DecimalSI)
		}
		if c.Percent(85) {
			q.Spec.Max[name] = *resource.NewQuantity(least+int64(c.IntN(4)), resource.DecimalSI)
		}
	}
	return q
}

// tellQuota tells the subject of a quota, as the adapter does.
func (c *quotaCase) tellQuota(quota *v1alpha1.ElasticQuota) error {
	object, err := asUnstructured(quota)
	if err != nil {
		return err
	}
	least, most, err := customresources.Quota(object)
	if err != nil {
		return err
	}
	q := queueing.ElasticQuota{Namespace: quota.Namespace, Min: least, Max: most}
	queue, err := q.Queue()
	if err != nil {
		return err
	}
	principal := &model.Principal{Name: quota.Namespace, Queue: c.config.QueueOf(quota.Namespace, nil, true)}
	c.Subject.Apply(engine.PutObject(queue), engine.PutObject(principal))
	return nil
}

// ask asks both sides what happens to a pod. One that both let run stays, for a while.
func (c *quotaCase) ask(report *differences.Report, mutation Mutation) {
	if len(c.running) > 0 && c.Percent(30) {
		c.end(c.IntN(len(c.running)))
	}
	c.Advance(time.Millisecond)
	pod := c.pod()
	ref, sub := c.upstream(pod), c.native(pod)
	if mutation == (Mutation{capacityscheduling.Name, "PreFilter"}) && sub == overMax {
		sub = runs
	}
	where := capacityscheduling.Name + " PreFilter"
	switch {
	case ref != overMax || sub == overMax:
	case sub == overMins && c.hopeless(pod):
		where += " for a pod that no node could take"
	case c.unlimited(pod):
		where += " for a pod that wants what its quota does not limit"
	}
	report.Compare(where, ref, sub, func() string {
		return fmt.Sprintf("%s; max of its namespace %s; %d running", twin.Describe(pod, nil), twin.JSON(c.most[pod.Namespace]), len(c.running))
	})
	if ref == runs && sub == runs {
		c.running = append(c.running, pod)
		c.plugin.Reserve(c.Reference.Context, framework.NewCycleState(), pod, "n")
		return
	}
	c.Subject.Apply(engine.Remove(string(pod.UID)))
}

// pod draws one in a namespace with a quota.
func (c *quotaCase) pod() *v1.Pod {
	c.asked++
	p := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: generate.Pick(c.Source, quotaNames...), Name: fmt.Sprint("p", c.asked)}}
	p.UID = c.PodUID(p.Name)
	p.Spec.SchedulerName = generate.SchedulerName
	for range 1 + c.IntN(2) {
		requests := v1.ResourceList{}
		for _, name := range quotaResources {
			if c.Percent(45) {
				requests[name] = *resource.NewQuantity(int64(c.IntN(3)), resource.DecimalSI)
			}
		}
		p.Spec.Containers = append(p.Spec.Containers, v1.Container{Name: fmt.Sprint("c", len(p.Spec.Containers)), Resources: v1.ResourceRequirements{Requests: requests, Limits: requests}})
	}
	return p
}

// unlimited reports whether the pod wants some of what its quota does not limit and is no extended
// resource.
func (c *quotaCase) unlimited(p *v1.Pod) bool {
	return slices.ContainsFunc(quotaResources[:3], func(name v1.ResourceName) bool {
		_, limited := c.most[p.Namespace][name]
		return !limited && wanted(p, name) > 0
	})
}

// hopeless reports whether the pod wants more of something than the node has.
func (c *quotaCase) hopeless(p *v1.Pod) bool {
	return slices.ContainsFunc(quotaResources, func(name v1.ResourceName) bool {
		return wanted(p, name) > c.room.Name(name, resource.DecimalSI).Value()
	})
}

// wanted is how much of the resource the pod wants.
func wanted(p *v1.Pod, name v1.ResourceName) (sum int64) {
	for i := range p.Spec.Containers {
		sum += p.Spec.Containers[i].Resources.Requests.Name(name, resource.DecimalSI).Value()
	}
	return sum
}

// end ends one of those that run.
func (c *quotaCase) end(i int) {
	pod := c.running[i]
	c.running = slices.Delete(c.running, i, i+1)
	c.plugin.Unreserve(c.Reference.Context, framework.NewCycleState(), pod, "n")
	c.Subject.Apply(engine.Remove(string(pod.UID)))
}

// upstream is what upstream's plugin says.
func (c *quotaCase) upstream(pod *v1.Pod) string {
	_, status := c.plugin.PreFilter(c.Reference.Context, framework.NewCycleState(), pod, nil)
	switch said := ofReference(status); {
	case status.IsSuccess():
		return runs
	case strings.HasSuffix(said, "because ElasticQuota "+pod.Namespace+" is more than Max"):
		return overMax
	case strings.HasSuffix(said, "because total ElasticQuota used is more than min"):
		return overMins
	default:
		return said
	}
}

// native is what happens to the pod in the subject.
func (c *quotaCase) native(pod *v1.Pod) string {
	w := c.Convert(pod)
	c.config.AddTo(w, pod)
	c.Subject.Apply(engine.Submit(w))
	switch d, tried := c.Subject.ScheduleOne(); {
	case !tried:
		return overMax
	case d.Node != "":
		return runs
	default:
		return overMins
	}
}
