package scenario

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/berth-project/berth/adapters/kubernetes/e2e/cluster"
	"github.com/berth-project/berth/adapters/kubernetes/e2e/proxy"
)

// reservedAgain has the binding of a pod with a device refused while the scheduler
// hears nothing of claims: it takes the reservation back, and must not believe at the
// next attempt that it is still there.
func reservedAgain(t *testing.T, e *Env) {
	gpus(t, e)
	e.Create(t, deviceRequest("claim").Request(largeGPU).Obj())
	p, options := e.proxied(t)
	binding := []string{"pods/binding"}
	p.SetRules(proxy.Rule{Resources: binding, Chance: 1, Times: 1, Do: proxy.Delay(10 * time.Second)},
		proxy.Rule{Resources: binding, Chance: 1, Times: 1, Do: proxy.Answer(http.StatusConflict)})
	e.ScheduleWith(t, options)
	e.Create(t, using("p", "claim"))
	allocated(t, e, "claim", "b-1", 1)
	e.Create(t, deviceRequest("other").Request(anyGPU).Obj(), using("other", "other"))
	e.Bound(t, "other") // so the scheduler has heard of the reservation before
	p.SetRules(proxy.Rule{Verbs: []string{"watch"}, Resources: []string{"resourceclaims"}, Chance: 1, Do: proxy.Delay(30 * time.Second)})
	p.CutWatches()
	e.AwaitDevices(t, "claim", "is given back", func(c *resourcev1.ResourceClaim) error {
		if len(c.Status.ReservedFor) != 0 {
			return fmt.Errorf("it is for %+v", c.Status.ReservedFor)
		}
		return nil
	})
	e.BoundTo(t, "p", "b")
	allocated(t, e, "claim", "b-1", 1)
}

// bindingLost has the answer to a binding lost and the next try forbidden, as an API
// server does that has just started, while the scheduler hears nothing of pods: it must
// ask what happened to the first try before it gives the room to another.
func bindingLost(t *testing.T, e *Env) {
	e.Create(t, smallNode("n", "1").Obj(), cluster.Pod("first").Req(cluster.CPU("1")).Obj())
	p, options := e.proxied(t)
	binding := []string{"pods/binding"}
	p.SetRules(
		proxy.Rule{Resources: binding, Chance: 1, Times: 1, Do: proxy.Delay(10 * time.Second)},
		proxy.Rule{Resources: binding, Chance: 1, Times: 1, Do: proxy.Lose()},
		proxy.Rule{Resources: binding, Chance: 1, Times: 1, Do: proxy.Answer(http.StatusForbidden)},
		proxy.Rule{Verbs: []string{"watch"}, Resources: []string{"pods"}, Chance: 1, Times: 1, Do: proxy.Cut(5 * time.Second)},
		proxy.Rule{Verbs: []string{"watch"}, Resources: []string{"pods"}, Chance: 1, Do: proxy.Delay(30 * time.Second)})
	e.ScheduleWith(t, options)
	e.Create(t, cluster.Pod("second").Req(cluster.CPU("1")).Obj())
	e.AwaitPod(t, "second", "finds no room", saysUnschedulable)
	e.BoundTo(t, "first", "n")
	e.Event(t, "first", cluster.Event{Type: corev1.EventTypeNormal, Reason: "Scheduled", Action: "Binding"}) // so the scheduler knows
	e.Create(t, smallNode("other", "1").Obj())
	if got := e.Bound(t, "second"); got != "other" {
		t.Errorf("pod second is on %s, which is full", got)
	}
}
