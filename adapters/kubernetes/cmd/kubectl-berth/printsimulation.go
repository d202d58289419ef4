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
	if len(s.Owners) > 0 {
		p.owners(s.Owners)
	}
	if len(s.Groups) > 0 {
		p.groups(s.Groups)
	}
}

// owners shows how many of the pods of each would be placed.
func (p *printer) owners(owners []api.SimulatedOwner) {
	p.line("")
	c := &columns{names: []string{"NAMESPACE", "OWNER", "PODS", "PLACED", "MESSAGE"}}
	for i := range owners {
		o := &owners[i]
		c.row(o.Namespace, strings.ToLower(o.Kind)+"/"+o.Name, strconv.Itoa(o.Pods), strconv.Itoa(o.Placed), aboutOwner(o))
	}
	p.table(c)
}

// aboutOwner is what there is to say about what pods are made of.
func aboutOwner(o *api.SimulatedOwner) string {
	var parts []string
	if o.Suspended {
		parts = append(parts, "when it is resumed")
	}
	switch {
	case o.InCluster > 0 && o.Kind == "CronJob":
		parts = append(parts, fmt.Sprintf("besides those of earlier runs on nodes already: %d", o.InCluster))
	case o.InCluster > 0:
		parts = append(parts, fmt.Sprintf("besides those on nodes already, which stay as they are: %d", o.InCluster))
	}
	return strings.Join(parts, "; ")
}

func (p *printer) groups(groups []api.SimulatedGroup) {
	p.line("")
	c := &columns{names: []string{"NAMESPACE", "POD GROUP", "OUTCOME", "PREEMPTS", "MESSAGE"}}
	for _, g := range groups {
		outcome := api.Unplaced
		if g.Placed {
			outcome = api.Placed
		}
		name := g.Name
		if g.Composite {
			name += " (composite)"
		}
		c.row(g.Namespace, name, string(outcome), orNone(names(g.Preempts)), aboutGroup(&g))
	}
	p.table(c)
}

// aboutGroup is what there is to say about a tree of groups.
func aboutGroup(g *api.SimulatedGroup) string {
	if len(g.Preempts) == 0 {
		return g.Message
	}
	if g.Placed {
		return "it waits until what it preempts has left, and then it is placed"
	}
	return "it is not placed even when what it would preempt has left: " + g.Message
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
	switch {
	case len(pod.Preempts) > 0 && pod.Node != "":
		parts = append(parts, "it waits until what it preempts has left, and then it goes to node "+pod.Node)
	case len(pod.Preempts) > 0:
		parts = append(parts, "it is not placed even when what it would preempt has left node "+pod.NominatedNode)
	case pod.NominatedNode != "":
		parts = append(parts, "nominated to node "+pod.NominatedNode)
	}
	if pod.Message != "" {
		parts = append(parts, pod.Message)
	}
	return strings.Join(parts, "; ")
}
