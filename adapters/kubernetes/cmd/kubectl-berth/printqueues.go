package main

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	v1 "k8s.io/api/core/v1"

	"github.com/berth-project/berth/adapters/kubernetes/explain/api"
)

// queues shows the tree of queues, and the limits.
func (p *printer) queues(t *api.QueueTree) {
	if len(t.Queues) == 0 {
		p.line("There are no queues: the scheduler's configuration file has no document of kind QueueingConfiguration with queues or elasticQuotas.")
		return
	}
	if t.Standby {
		p.line("This scheduler does not lead: it tries no pods, and knows only what was used since it was started.")
	}
	c := &columns{names: []string{"QUEUE", "SHARE", "FAIR", "USED", "GUARANTEED", "MAX", "RUNNING", "WAITING", "HELD"}}
	past := slices.ContainsFunc(t.Queues, hasPast)
	if past {
		c.names = append(c.names, "PAST")
	}
	if p.wide {
		c.names = append(c.names, "WEIGHT", "POLICY", "PRIORITY", "HALF-LIFE")
	}
	depths := map[string]int{}
	for i := range t.Queues {
		q := &t.Queues[i]
		depth := 0
		if above, listed := depths[q.Parent]; listed {
			depth = above + 1
		}
		if q.Name != "" {
			depths[q.Name] = depth
		}
		p.queueRows(c, q, strings.Repeat("  ", depth), past)
	}
	p.table(c)
	p.limits(t.Limits)
}

func hasPast(q api.QueueUse) bool {
	return q.Past != nil || slices.ContainsFunc(q.Namespaces, func(n api.NamespaceUse) bool { return n.Past != nil })
}

// queueRows add a queue and, where it is wide, the namespaces in it.
func (p *printer) queueRows(c *columns, q *api.QueueUse, indent string, past bool) {
	fair := orNone("")
	if q.FairShare != nil {
		fair = percent(*q.FairShare)
	}
	name := orNone(q.Name)
	if q.Absent {
		name += " (not there)"
	}
	row := []string{
		indent + name, share(&q.Use), fair, orNone(p.used(q)), orNone(amounts(q.Guaranteed)), orNone(amounts(q.Max)),
		strconv.Itoa(q.Running), strconv.Itoa(q.Waiting), strconv.Itoa(q.Held),
	}
	if past {
		row = append(row, pastText(q.Past))
	}
	if !p.wide {
		c.row(row...)
		return
	}
	halfLife := ""
	if q.HalfLife != nil {
		halfLife = q.HalfLife.Duration.String()
	}
	c.row(append(row, strconv.FormatInt(q.Weight, 10), orNone(q.Policy), strconv.Itoa(int(q.Priority)), orNone(halfLife))...)
	for i := range q.Namespaces {
		c.row(namespaceRow(&q.Namespaces[i], indent+"  ", past)...)
	}
}

// namespaceRow is what there is to say of a namespace in a queue: all that only queues have is empty.
func namespaceRow(n *api.NamespaceUse, indent string, past bool) []string {
	row := []string{
		indent + "namespace " + n.Name, share(&n.Use), "", orNone(amounts(n.Used)), "", "",
		strconv.Itoa(n.Running), strconv.Itoa(n.Waiting), "",
	}
	if past {
		row = append(row, pastText(n.Past))
	}
	return append(row, "", "", "", "")
}

// used is what is used of the resources that the queue has a guarantee or a maximum for, or else of
// the one that is its share; all where it is wide.
func (p *printer) used(q *api.QueueUse) string {
	if p.wide {
		return amounts(q.Used)
	}
	shown := v1.ResourceList{}
	for name, amount := range q.Used {
		_, guaranteed := q.Guaranteed[name]
		_, limited := q.Max[name]
		if guaranteed || limited || len(q.Guaranteed)+len(q.Max) == 0 && string(name) == q.Resource {
			shown[name] = amount
		}
	}
	return amounts(shown)
}

// share is the part of the cluster, and of which resource.
func share(u *api.Use) string { return strings.TrimSpace(percent(u.Share) + " " + u.Resource) }

// percent is a part of the whole.
func percent(part float64) string { return strconv.FormatFloat(100*part, 'f', 1, 64) + "%" }

// amounts lists amounts of resources by name.
func amounts(list v1.ResourceList) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(list)) {
		amount := list[name]
		parts = append(parts, string(name)+" "+amount.String())
	}
	return strings.Join(parts, ", ")
}

// pastText is what was used over time.
func pastText(u *api.PastUse) string {
	switch {
	case u == nil:
		return orNone("")
	case u.Resource == "":
		return u.WholeCluster.Duration.String()
	}
	return u.WholeCluster.Duration.String() + " of " + u.Resource
}

// limits shows how much of each limit is used.
func (p *printer) limits(list []api.LimitUse) {
	if len(list) == 0 {
		return
	}
	p.line("")
	c := &columns{names: []string{"LIMIT", "ON", "USED", "OF", "HELD"}}
	for i := range list {
		l := &list[i]
		used := ""
		if l.Used != nil {
			used = l.Used.String()
		}
		c.row(l.Name, limited(l), orNone(used), l.Amount.String()+" "+unit(l), strconv.Itoa(l.Held))
	}
	p.table(c)
}

// limited says what a limit counts together.
func limited(l *api.LimitUse) string {
	of := "queue " + l.Queue
	if l.Queue == "" {
		of = "namespace " + l.Namespace
	}
	switch {
	case l.Scope == "EachPod":
		return "each pod of " + of
	case l.Scope == "EachNamespace" && l.Namespace == "":
		return "each namespace in " + of
	case l.Scope == "EachNamespace":
		return "namespace " + l.Namespace + " in " + of
	case l.Scope == "Subtree" && l.Queue != "":
		return of + " and those below it"
	}
	return of
}

// unit is what a limit is a number of.
func unit(l *api.LimitUse) string {
	switch {
	case l.Resource == "":
		return "pods"
	case l.OverTime:
		return l.Resource + "-hours"
	}
	return l.Resource
}
