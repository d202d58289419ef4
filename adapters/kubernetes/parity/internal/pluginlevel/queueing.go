package pluginlevel

import (
	"fmt"
	"math"
	"time"

	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"github.com/berth-project/berth/adapters/kubernetes/parity/generate"
	"github.com/berth-project/berth/adapters/kubernetes/parity/internal/twin"
	"github.com/berth-project/berth/extpoints"
)

// compareQueueing asks what keeps a pod out of the queue, and which of two goes
// first.
func (c *comparison) compareQueueing() {
	pod := c.NewPod()
	if c.Percent(50) {
		c.Gate(pod)
	}
	if c.Storage || c.Devices {
		c.look() // what was made for the pod included
	}
	for _, p := range c.pairs {
		if ref, ok := p.reference.(fwk.PreEnqueuePlugin); ok {
			st, _ := p.subject.preEnqueue(c.workload(pod))
			c.report.Compare(p.name+" PreEnqueue", ofReference(ref.PreEnqueue(c.Twin.Reference.Context, pod)), ofSubject(st), c.detail(p, pod, nil))
		}
		if ref, ok := p.reference.(fwk.QueueSortPlugin); ok {
			refA, subA := c.queued()
			refB, subB := c.queued()
			less, _ := p.subject.less(subA, subB)
			c.report.Compare(p.name+" Less", fmt.Sprint(ref.Less(refA, refB)), fmt.Sprint(less), func() string {
				return fmt.Sprintf("priorities %d and %d, times %v and %v", subA.Priority, subB.Priority, subA.Timestamp, subB.Timestamp)
			})
		}
	}
}

// queued draws something that waits in the queue.
func (c *comparison) queued() (*framework.QueuedPodInfo, *extpoints.Queued) {
	pod := c.NewPod()
	pod.Spec.Priority = new(generate.Pick(c.Source, int32(0), 0, 1, -1, math.MaxInt32, math.MinInt32))
	if c.Percent(10) {
		pod.Spec.Priority = nil
	}
	at := twin.Start.Add(time.Duration(c.IntN(3)))
	info, err := framework.NewPodInfo(pod)
	if err != nil {
		panic(err)
	}
	w := c.workload(pod)
	return &framework.QueuedPodInfo{PodInfo: info, QueueingParams: framework.QueueingParams{Timestamp: at}},
		&extpoints.Queued{Workload: w, Priority: w.Priority, Timestamp: at}
}
