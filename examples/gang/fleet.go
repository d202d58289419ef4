package main

import (
	"fmt"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/model"
)

const (
	racks        = 3
	nodesInRack  = 8
	gpusOnNode   = 8
	gpu          = "example.com/gpu"
	rackLabel    = "example.com/rack"
	small        = 90
	tasks        = 64
	lowPriority  = 0
	highPriority = 100
)

// fleet are the machines.
func fleet() []engine.Change {
	var changes []engine.Change
	for rack := range racks {
		for i := range nodesInRack {
			n := &model.Node{
				Name:        fmt.Sprintf("rack%d-node%d", rack+1, i+1),
				Labels:      map[string]string{rackLabel: fmt.Sprintf("rack%d", rack+1)},
				Allocatable: model.Resources{CPU: 64_000, Memory: 512 << 30},
			}
			n.Allocatable.Set(gpu, gpusOnNode)
			changes = append(changes, engine.PutNode(n))
		}
	}
	return changes
}

// smallJobs are workloads of their own, with one GPU each.
func smallJobs() []engine.Change {
	var changes []engine.Change
	for i := range small {
		changes = append(changes, engine.Submit(task(fmt.Sprintf("small-%d", i+1), "", lowPriority)))
	}
	return changes
}

// trainingJob is a group that is placed as a whole, in one rack, and its tasks.
func trainingJob() []engine.Change { return gang("train", highPriority) }

// secondJob is another one.
func secondJob() []engine.Change { return gang("later", lowPriority) }

func gang(name string, priority int32) []engine.Change {
	changes := []engine.Change{engine.PutGroup(&model.Group{
		ID: name, Policy: model.Gang, MinCount: tasks, TopologyKey: rackLabel, Priority: priority, Disruption: model.DisruptAll,
	})}
	for i := range tasks {
		changes = append(changes, engine.Submit(task(fmt.Sprintf("%s-%d", name, i+1), name, priority)))
	}
	return changes
}

func task(id, group string, priority int32) *model.Workload {
	w := &model.Workload{
		ID: id, Group: group, Priority: priority,
		Requests: model.Resources{CPU: 4_000, Memory: 32 << 30},
	}
	w.Requests.Set(gpu, 1)
	return w
}
