package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/berth-project/berth/adapters/kubernetes/explain/api"
)

// queue shows what waits.
func (p *printer) queue(q *api.Queue) {
	p.line("%s", counts(&q.Counts))
	if len(q.Pods) == 0 {
		return
	}
	p.line("")
	c := &columns{names: []string{"NAMESPACE", "NAME", "PRIORITY", "PLACE", "ATTEMPTS", "AGE", "WAITS FOR"}}
	if p.wide {
		c.names = append(c.names, "SCHEDULER", "POD GROUP", "NOMINATED NODE", "BACKOFF")
	}
	for i := range q.Pods {
		pod := &q.Pods[i]
		row := []string{
			pod.Namespace, pod.Name, strconv.Itoa(int(pod.Priority)), pod.Place, strconv.Itoa(pod.Attempts),
			p.ago(pod.AddedAt), orNone(strings.Join(waitsFor(&pod.QueuePosition), ", ")),
		}
		if p.wide {
			backoff := ""
			if pod.BackoffUntil != nil && pod.BackoffUntil.After(p.now) {
				backoff = p.until(&pod.QueuePosition)
			}
			row = append(row, pod.SchedulerName, orNone(pod.PodGroup), orNone(pod.NominatedNode), orNone(backoff))
		}
		c.row(row...)
	}
	p.table(c)
	if q.Remaining > 0 {
		p.line("... and %d more (see --limit)", q.Remaining)
	}
}

// counts says how many wait, and where.
func counts(c *api.QueueCounts) string {
	var parts []string
	total := 0
	for _, place := range []struct {
		n    int
		name string
	}{
		{c.InFlight, "in flight"},
		{c.Active, "active"},
		{c.Backoff, "in backoff"},
		{c.ErrorBackoff, "in backoff after errors"},
		{c.Unschedulable, "unschedulable"},
		{c.Gated, "gated"},
		{c.Incomplete, "in incomplete groups"},
		{c.Joining, "joining groups"},
	} {
		total += place.n
		if place.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", place.n, place.name))
		}
	}
	if total == 0 {
		return "No pod waits."
	}
	return fmt.Sprintf("Waiting: %d: %s", total, strings.Join(parts, ", "))
}
