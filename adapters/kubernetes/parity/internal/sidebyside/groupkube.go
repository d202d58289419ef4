package sidebyside

import (
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// groupKube is kube-scheduler deciding on groups: its whole cycle, from what its
// queue gives out to what happens to each member. The goroutines that bind are
// started, and wait until the decisions are over.
type groupKube struct {
	*kube
	entities []framework.QueuedEntityInfo
	pods     []*v1.Pod
}

// newGroupKube lets the scheduler give out what Queue has taken from its queue.
func newGroupKube(k *kube) *groupKube {
	g := &groupKube{kube: k}
	k.HoldBindings()
	next := k.NextEntity
	k.NextEntity = func(logger klog.Logger) (framework.QueuedEntityInfo, error) {
		if len(g.entities) == 0 {
			return next(logger)
		}
		entity := g.entities[0]
		g.entities = g.entities[1:]
		return entity, nil
	}
	return g
}

// Queue implements [Side].
func (g *groupKube) Queue(n int) {
	for i := range n * g.row.Members {
		if i%g.row.Members == 0 {
			g.Put(g.row.group(g.made / g.row.Members))
		}
		pod := g.row.pod(g.made)
		g.SetTime(g.Clock.Now().Add(time.Microsecond)) // first come, first served
		g.Put(pod)
		g.made++
		g.pods = append(g.pods, pod)
	}
	var entities []framework.QueuedEntityInfo
	for range n {
		entity, err := g.NextEntity(g.Logger())
		must(err)
		entities = append(entities, entity)
	}
	g.entities = entities
}

// Decide implements [Side].
func (g *groupKube) Decide() { g.Scheduler.Scheduler.ScheduleOne(g.Context) }

// Reset implements [Side].
func (g *groupKube) Reset() []string {
	nodes := g.LetBind(len(g.pods))
	var chosen []string
	for _, pod := range g.pods {
		chosen = append(chosen, nodes[pod.Name])
		placed := pod.DeepCopy()
		placed.Spec.NodeName = nodes[pod.Name]
		g.Put(placed)
		g.Delete(placed)
	}
	g.pods = nil
	g.forget()
	return chosen
}
