package server

import (
	"slices"
	"time"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/scheduler"
	"github.com/berth-project/berth/adapters/fleet/state"
)

// timelineAhead is how far ahead intervals of reservations are shown, maxPromises how many
// expected starts.
const (
	timelineAhead = 28 * 24 * time.Hour
	maxPromises   = 500
)

// timeline answers GET /v1/timeline.
func (s *Server) timeline(r *request) (any, error) {
	v, now := s.state.View(), time.Now()
	out := api.Timeline{At: now.UTC(), Nodes: []api.NodeTimeline{}}
	for n := range v.Nodes() {
		out.Nodes = append(out.Nodes, api.NodeTimeline{
			Node: n.Node, CPU: n.Machine.CPU, Closed: !n.Usable(), Maintenance: notOver(n.Maintenance, now), Busy: busy(v, n.Node, r.mayHave),
		})
	}
	for res := range v.Reservations() {
		nodes := scheduler.NodesOf(v, res)
		for _, i := range res.Between(now, now.Add(timelineAhead)) {
			out.Reservations = append(out.Reservations, api.ReservedInterval{Name: res.Name, Nodes: nodes, From: i.From, To: i.To})
		}
	}
	out.Promises = r.lead.Promises(v, r.mayHave, maxPromises)
	return out, nil
}

// busy is what tasks have of a node, by the time when they must have ended. Jobs are named
// whose owners mayHave lets through.
func busy(v state.View, node string, mayHave func(owner string) bool) []api.BusyUntil {
	at := map[time.Time]*api.BusyUntil{}
	for k := range v.TasksOn(node) {
		j := v.Job(k.ID.Job)
		until, limited := scheduler.EndOf(v, k)
		if limited {
			until = until.Add(time.Minute - 1).Truncate(time.Minute).UTC()
		} else {
			until = time.Time{}
		}
		b := at[until]
		if b == nil {
			b = &api.BusyUntil{Until: until}
			at[until] = b
		}
		b.CPU += j.Spec.Resources.CPU
		b.Tasks++
		if mayHave(j.Owner) && len(b.Jobs) < api.MaxJobsShown && !slices.Contains(b.Jobs, j.ID) {
			b.Jobs = append(b.Jobs, j.ID)
		}
	}
	var list []api.BusyUntil
	for _, b := range at {
		list = append(list, *b)
	}
	slices.SortFunc(list, func(a, b api.BusyUntil) int {
		switch {
		case a.Until.IsZero():
			return 1 // there is one such
		case b.Until.IsZero():
			return -1
		}
		return a.Until.Compare(b.Until)
	})
	return list
}
