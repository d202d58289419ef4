package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/berth-project/berth/adapters/kubernetes/explain/api"
)

// simulation shows what would become of pods.
func (p *printer) simulation(s *api.Simulation) {
	c := &columns{names: []string{"NAMESPACE", "NAME", "OUTCOME", "NODE", "PREEMPTS"}}
	if p.wide {
		c.names = append(c.names, "PRIORITY", "FEASIBLE NODES", "PLUGINS")
	}
	c.names = append(c.names, "MESSAGE")
	for i := range s.Pods {
		pod := &s.Pods[i]
		row := []string{pod.Namespace, pod.Name, string(pod.Outcome), orNone(pod.Node), orNone(names(pod.Preempts))}
		if p.wide {
			row = append(row, strconv.Itoa(int(pod.Priority)), fmt.Sprintf("%d of %d", pod.FeasibleNodes, pod.EvaluatedNodes), orNone(strings.Join(pod.Plugins, ", ")))
		}
		c.row(append(row, about(pod))...)
	}
	p.table(c)
	if len(s.Groups) == 0 {
		return
	}
	p.line("")
	c = &columns{names: []string{"NAMESPACE", "POD GROUP", "OUTCOME", "PREEMPTS", "MESSAGE"}}
	for _, g := range s.Groups {
		outcome := api.Unplaced
		if g.Placed {
			outcome = api.Placed
		}
		name := g.Name
		if g.Composite {
			name += " (composite)"
		}
		c.row(g.Namespace, name, string(outcome), orNone(names(g.Preempts)), g.Message)
	}
	p.table(c)
}

// about is what there is to say about a simulated pod.
func about(pod *api.SimulatedPod) string {
	var parts []string
	if pod.InCluster {
		parts = append(parts, "it waits in the cluster already")
	}
	if len(pod.SchedulingGates) > 0 {
		parts = append(parts, "when its gates are removed: "+strings.Join(pod.SchedulingGates, ", "))
	}
	if pod.NominatedNode != "" {
		parts = append(parts, "nominated to node "+pod.NominatedNode)
	}
	if pod.Message != "" {
		parts = append(parts, pod.Message)
	}
	return strings.Join(parts, "; ")
}
