package main

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/berth-project/berth/adapters/kubernetes/explain/api"
)

// queue shows what waits.
func (p *printer) queue(q *api.Queue) {
	if q.Standby {
		p.line("This scheduler does not lead: it tries none of these.")
	}
	p.line("%s", counts(&q.Counts))
	if len(q.Pods) == 0 {
		return
	}
	p.line("")
	c := &columns{names: []string{"NAMESPACE", "NAME", "PRIORITY", "PLACE", "ATTEMPTS", "AGE", "WAITS FOR"}}
	queues, plans := queued(q.Pods)
	if queues {
		c.names = append(c.names, "QUEUE", "BEFORE")
	}
	if plans {
		c.names = append(c.names, "STARTS")
	}
	if p.wide {
		c.names = append(c.names, "SCHEDULER", "POD GROUP", "NOMINATED NODE", "BACKOFF")
	}
	if queues { // it is long
		c.names = append(c.names, "HELD BY")
	}
	for i := range q.Pods {
		pod := &q.Pods[i]
		row := []string{
			pod.Namespace, pod.Name, strconv.Itoa(int(pod.Priority)), pod.Place, strconv.Itoa(pod.Attempts),
			p.ago(cmp.Or(pod.AddedAt, pod.Since)), orNone(strings.Join(waitsFor(&pod.QueuePosition), ", ")),
		}
		if queues {
			row = append(row, orNone(strings.Join(pod.QueuePath, "/")), before(&pod.QueuePosition))
		}
		if plans {
			row = append(row, p.starts(pod.Promise))
		}
		if p.wide {
			backoff := ""
			if pod.BackoffUntil != nil && pod.BackoffUntil.After(p.now) {
				backoff = p.until(&pod.QueuePosition)
			}
			row = append(row, pod.SchedulerName, orNone(pod.PodGroup), orNone(pod.NominatedNode), orNone(backoff))
		}
		if queues {
			row = append(row, orNone(pod.HeldBy))
		}
		c.row(row...)
	}
	p.table(c)
	if q.Remaining > 0 {
		p.line("... and %d more (see --limit)", q.Remaining)
	}
}

// queued reports whether any of the pods is in a queue of the configuration, and whether
// the scheduler plans ahead for any.
func queued(pods []api.QueuedPod) (queues, plans bool) {
	for i := range pods {
		queues = queues || len(pods[i].QueuePath) > 0 || pods[i].HeldBy != ""
		plans = plans || pods[i].Promise != nil
	}
	return queues, plans
}

func before(q *api.QueuePosition) string {
	if q.Before == nil {
		return orNone("")
	}
	return strconv.Itoa(*q.Before)
}

// starts is how far the promised start is from now.
func (p *printer) starts(s *api.Promise) string {
	switch {
	case s == nil || s.Current == nil:
		return orNone("")
	case !s.Current.After(p.now):
		return "now"
	}
	return "in " + s.Current.Sub(p.now).Round(time.Second).String()
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
		{c.Permit, "on permit"},
		{c.Binding, "being bound"},
		{c.OldBinding, "held back by an old binding"},
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
