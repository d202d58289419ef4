package scheduler

import (
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/berth-project/berth/adapters/fleet/job"
	"github.com/berth-project/berth/adapters/fleet/state"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins"
)

// Reservations are holds for the engine, one for each interval. A job may use one that it
// names, so its label lets it in. Whether its owner may is the state's to say
// (state.View.Waits), and jobs wait there until theirs begins.

// holdsAhead is how far ahead the engine is told of what repeats. A job that would run
// into an interval further ahead than a week is not let in before an earlier one either, as
// all repeat within a week; the rest is for plans.
const holdsAhead = 28 * 24 * time.Hour

// holdSeparator stands between the reservation and the beginning in a hold's name. Names
// of reservations have none.
const holdSeparator = "@"

// holdName is the name of the hold of an interval of the reservation.
func holdName(reservation string, from time.Time) string {
	return reservation + holdSeparator + strconv.FormatInt(from.Unix(), 10)
}

// reservationOf is the reservation of the hold of the name.
func reservationOf(hold string) string {
	name, _, _ := strings.Cut(hold, holdSeparator)
	return name
}

// refreshHolds tells the engine of the intervals of reservations that are on or to come,
// and has it forget the others.
func (c *Controller) refreshHolds(v state.View) {
	now := time.Now()
	next := map[string]*model.Hold{}
	for r := range v.Reservations() {
		for _, h := range holdModels(r, now) {
			next[h.Name] = h
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.holds)) {
		if next[name] == nil {
			c.change(engine.RemoveObject(model.ObjectRef{Kind: model.HoldKind, ID: name}))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(next)) {
		h := next[name]
		c.timers.set(h.Until, due{kind: dueHolds})
		if reflect.DeepEqual(h, c.holds[name]) {
			continue
		}
		if err := h.Validate(); err != nil {
			c.cfg.Logger.Error("a reservation cannot be used", "reservation", reservationOf(name), "error", err)
			delete(next, name)
			continue
		}
		c.change(engine.PutObject(h))
	}
	c.holds = next
}

// holdModels are the intervals of a reservation as the engine sees them.
func holdModels(r *state.Reservation, now time.Time) (list []*model.Hold) {
	until := now.Add(holdsAhead)
	if r.Repeat == "" {
		until = r.To // however far ahead it is
	}
	for _, i := range r.Between(now, until) {
		h := &model.Hold{Name: holdName(r.Name, i.From), From: i.From, Until: i.To, Nodes: r.Nodes, NodeTerms: nodeTerms(r.Constraints)}
		for name, n := range amounts(r.Keep) {
			h.Amounts.Set(name, n)
		}
		if len(r.Users)+len(r.Accounts) > 0 {
			h.Users = model.SelectLabels(map[string]string{reservationLabel: r.Name})
		}
		list = append(list, h)
	}
	return list
}

// nodeTerms select the nodes that fulfil all of the constraints, nil where there are none.
func nodeTerms(constraints []job.Constraint) *model.NodeTerms {
	if len(constraints) == 0 {
		return nil
	}
	term := model.NodeTerm{}
	for i := range constraints {
		c := constraints[i].WithDefaults()
		term.Labels = append(term.Labels, requirement(&c))
	}
	return &model.NodeTerms{Terms: []model.NodeTerm{term}}
}

const reservedName = "Reservation"

// reserved keeps workloads that name a reservation on its nodes and within its time. That
// others stay away is for the plugin NodeHolds.
type reserved struct{}

var (
	_ extpoints.FilterPlugin = reserved{}
	_ extpoints.SignPlugin   = reserved{}
)

func newReserved(extpoints.NoArgs, extpoints.Handle) (reserved, error) { return reserved{}, nil }

// Name implements extpoints.Plugin.
func (reserved) Name() string { return reservedName }

// Sign implements extpoints.SignPlugin.
func (reserved) Sign(w *model.Workload) ([]extpoints.SignFragment, *extpoints.Status) {
	return []extpoints.SignFragment{
		{Key: reservedName, Value: w.Labels[reservationLabel]},
		{Key: "Limit", Value: w.Limit.String() + " " + w.MinLimit.String()},
	}, nil
}

// Filter implements extpoints.FilterPlugin.
func (reserved) Filter(s *extpoints.CycleState, w *extpoints.WorkloadInfo, node *extpoints.NodeInfo) *extpoints.Status {
	name := w.Labels[reservationLabel]
	if name == "" {
		return nil
	}
	from := s.Now()
	if !w.PlacedAt.IsZero() {
		from = w.PlacedAt // a plan asks whether it may stay
	}
	limit := w.RunLimit()
	covered := false
	for _, h := range s.View().Holds() {
		if reservationOf(h.Name) != name || from.Before(h.From) || !from.Before(h.Until) || !h.Covers(node.Node) {
			continue
		}
		covered = true
		if limit > 0 && !from.Add(limit).After(h.Until) {
			return nil
		}
	}
	switch {
	case !covered:
		return extpoints.NewStatus(extpoints.UnschedulableAndUnresolvable, "is not set aside by reservation "+name+" now")
	case limit == 0:
		return extpoints.NewStatus(extpoints.UnschedulableAndUnresolvable, "the job has no time limit, and reservation "+name+" ends")
	}
	return extpoints.NewStatus(extpoints.UnschedulableAndUnresolvable, "reservation "+name+" ends before the job's time limit and killGrace have passed")
}

// held finds the hold and its interval in what NodeHolds says, and the resource where it is one of amounts.
var held = regexp.MustCompile(`^node\(s\) (?:are|lack (\S+) beside what is) held by "([^"]*)"( from \S+)?( until [^ ,]+)?`)

// holdWords says in the fleet's words that a node is set aside.
func holdWords(w *model.Workload, reason string) string {
	found := held.FindStringSubmatch(reason)
	if found == nil {
		return fmt.Sprintf("%s says %q", plugins.NodeHolds, reason)
	}
	interval := found[3] + found[4]
	if found[1] != "" {
		return fmt.Sprintf("has too little %s beside what reservation %s keeps%s", found[1], reservationOf(found[2]), interval)
	}
	text := "is set aside by reservation " + reservationOf(found[2]) + interval
	if reservationOf(found[2]) == w.Labels[reservationLabel] {
		return text + ", in which the job would not end"
	}
	return text + ", which the job does not name or would run into"
}

// NodesOf are the nodes that a reservation sets aside as the fleet is, by name.
func NodesOf(v state.View, r *state.Reservation) (names []string) {
	h := model.Hold{Nodes: r.Nodes, NodeTerms: nodeTerms(r.Constraints)}
	now := time.Now()
	for n := range v.Nodes() {
		if h.Covers(nodeModel(n, now)) {
			names = append(names, n.Node)
		}
	}
	return names
}

// EndOf is when a task must have left its node, false where it has no time limit.
func EndOf(v state.View, k *state.Task) (time.Time, bool) {
	limit := roomLimit(v.Job(k.ID.Job).Spec)
	return k.Placed.Add(limit), limit > 0
}

// OutlastsReservation says that a job cannot start in its reservation, as it would not end
// in it; "" where it would.
func OutlastsReservation(s *job.Spec, r *state.Reservation) string {
	lasts, limit := r.To.Sub(r.From), roomLimit(s)
	switch {
	case limit == 0:
		return fmt.Sprintf("it can never start in reservation %s, which ends, for it has no time limit", r.Name)
	case limit > lasts:
		return fmt.Sprintf("it can never start in reservation %s, which lasts %s: it needs its time limit, killGrace and %s to start, %s together",
			r.Name, job.Duration(lasts), startTime, job.Duration(limit))
	}
	return ""
}
