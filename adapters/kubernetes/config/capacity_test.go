package config_test

import (
	"testing"

	"github.com/berth-project/berth/adapters/inproc"
	"github.com/berth-project/berth/adapters/kubernetes/config"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// The profile of upstream's documents, which takes all other preemption out, is one of the
// engine, in the order of queues.
func TestCapacityScheduling(t *testing.T) {
	const text = head + "profiles: [{plugins: {preFilter: {enabled: [{name: CapacityScheduling}]}, " +
		"postFilter: {enabled: [{name: CapacityScheduling}], disabled: [{name: '*'}]}, reserve: {enabled: [{name: CapacityScheduling}]}}}]"
	registry := config.DefaultRegistry()
	if err := registry.Merge(config.OutOfTree()); err != nil {
		t.Fatal(err)
	}
	c := load(t, text)
	profiles, err := c.Profiles(devices, registry)
	if err != nil {
		t.Fatal(err)
	}
	queueing := c.QueueingWithQuotas()
	if queueing.Order() != engine.OrderByQueues || c.Queueing != nil {
		t.Errorf("the order is %v, and the document %+v", queueing.Order(), c.Queueing)
	}
	if list := queueing.Objects(); len(list) != 1 || model.RefOf(list[0]).ID != "elasticquotas" {
		t.Errorf("there are %v", list)
	}
	if _, err := engine.NewRaw(engine.Config{Profiles: profiles, Orchestrator: inproc.New(inproc.Options{}), Order: queueing.Order()}); err != nil {
		t.Error(err)
	}
	at := map[extpoints.Point]bool{}
	for _, e := range profiles[0].Plugins {
		for _, p := range e.Points {
			at[p] = at[p] || e.Name == config.CapacityScheduling
		}
	}
	for _, p := range []extpoints.Point{"PreFilter", "PostFilter", "Reserve"} {
		if !at[p] {
			t.Errorf("the plugin is not at %s", p)
		}
	}
}
