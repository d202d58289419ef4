package scenario

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-project/berth/adapters/kubernetes/e2e/cluster"
	"github.com/berth-project/berth/adapters/kubernetes/e2e/controlplane"
)

// ownPlugin is about a plugin that a user has written: a program of her own, whose
// source is in testdata/pluginscheduler.
var ownPlugin = []Scenario{
	{Name: "own plugin/it filters and scores where the configuration says so", Run: ownPluginDecides, Berth: true},
	{Name: "own plugin/its factory refuses arguments", Run: ownPluginRefuses, Berth: true},
}

func ownPluginDecides(t *testing.T, e *Env) {
	e.Create(t, smallNode("red", "4").Label("colour", "red").Obj(), smallNode("middle", "32").Obj(),
		smallNode("quiet", "64").Label("noise", "none").Obj())
	e.ScheduleWith(t, controlplane.SchedulerOptions{Program: controlplane.PluginScheduler, Config: `
profiles:
- schedulerName: default-scheduler
- schedulerName: filters
  plugins: {filter: {enabled: [{name: Quiet}]}}
  pluginConfig: [{name: Quiet, args: {colour: red}}]
- schedulerName: filters-and-scores
  plugins: {multiPoint: {enabled: [{name: Quiet, weight: 50}]}}
  pluginConfig: [{name: Quiet, args: {colour: red}}]
`})
	pod := func(name, scheduler, cpus string) *corev1.Pod {
		return cluster.Pod(name).Label("noise", "loud").SchedulerName(scheduler).Req(cluster.CPU(cpus)).Obj()
	}
	e.Create(t, pod("plain", "default-scheduler", "2"), pod("filtered", "filters", "2"), pod("scored", "filters-and-scores", "2"))
	e.BoundTo(t, "plain", "quiet") // the emptiest
	e.BoundTo(t, "filtered", "middle")
	e.BoundTo(t, "scored", "red")

	e.Create(t, pod("waits", "filters-and-scores", "40"))
	e.Unschedulable(t, "waits", "0/3 nodes are available: 1 node(s) were to be quiet, 2 Insufficient cpu. preemption: 0/3 nodes are available: "+
		"1 No preemption victims found for incoming pod, 2 Preemption is not helpful for scheduling.")
	e.UpdateNode(t, "quiet", func(n *corev1.Node) { delete(n.Labels, "noise") })
	e.BoundTo(t, "waits", "quiet")
}

func ownPluginRefuses(t *testing.T, e *Env) {
	wantExit(t, e, controlplane.SchedulerOptions{Program: controlplane.PluginScheduler, Config: `
profiles: [{plugins: {filter: {enabled: [{name: Quiet}]}}}]
`}, "Quiet: it wants a colour in its arguments")
}
