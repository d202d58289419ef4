package server

import (
	"fmt"
	"slices"
	"time"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/scheduler"
	"github.com/berth-project/berth/adapters/fleet/state"
)

// listReservations answers GET /v1/reservations.
func (s *Server) listReservations(*request) (any, error) {
	v := s.state.View()
	now := time.Now()
	waiting := map[string]int32{}
	for j := range v.Jobs() {
		if j.Spec.Reservation != "" && !j.Done() {
			waiting[j.Spec.Reservation]++
		}
	}
	out := api.ReservationList{Reservations: []api.ReservationStatus{}}
	for r := range v.Reservations() {
		st := api.ReservationStatus{Reservation: *r, Waiting: waiting[r.Name]}
		if next, ok := r.Next(now); ok {
			st.NextFrom, st.NextTo = next.From, next.To
			st.Active = !now.Before(next.From)
		}
		out.Reservations = append(out.Reservations, st)
	}
	return out, nil
}

// addReservation answers POST /v1/reservations.
func (s *Server) addReservation(r *request) (any, error) {
	var in api.Reservation
	if err := r.decode(&in, false); err != nil {
		return nil, err
	}
	problems := state.CheckReservation(&in)
	if _, err := time.LoadLocation(in.Zone); err != nil || in.Zone == "Local" {
		problems = append(problems, api.Problem{Field: "zone", Message: fmt.Sprintf("there is no time zone %q; write a name such as Europe/Zurich", in.Zone)})
	}
	if in.Repeat == "" && in.To.After(in.From) && !in.To.After(time.Now()) {
		problems = append(problems, api.Problem{Field: "to", Message: "it has passed"})
	}
	if len(problems) > 0 {
		return nil, notValid(problems)
	}
	for i := range in.Constraints {
		in.Constraints[i] = in.Constraints[i].WithDefaults()
	}
	in.From, in.To = in.From.UTC(), in.To.UTC()
	out := api.ReservationResponse{Warnings: reservationDoubts(s.state.View(), &in)}
	_, err := s.do(r, &state.Command{AddReservation: &in})
	return out, err
}

// reservationDoubts say what may keep a reservation from being what it should be.
func reservationDoubts(v state.View, r *api.Reservation) []string {
	var out []string
	for _, name := range r.Nodes {
		if v.Node(name) == nil {
			out = append(out, fmt.Sprintf("there is no node %s yet", name))
		}
	}
	covered := scheduler.NodesOf(v, r)
	if len(r.Constraints) > 0 && len(covered) == 0 {
		out = append(out, "no node of today fulfils the constraints")
	}
	next, _ := r.Next(time.Now())
	for _, name := range covered {
		for k := range v.TasksOn(name) {
			if end, ok := scheduler.EndOf(v, k); ok && !end.After(next.From) {
				continue
			}
			out = append(out, fmt.Sprintf("node %s may still run tasks when it begins, for example %s; a reservation ends no tasks", name, k.ID))
			break
		}
	}
	for other := range v.Reservations() {
		if r.Keep != nil || other.Keep != nil {
			continue // each has its own
		}
		if both := overlap(v, r, other, covered); both != "" {
			out = append(out, fmt.Sprintf("on node %s reservation %s is at the same time; only jobs that both let in may run there then, and a job names one", both, other.Name))
		}
	}
	return out
}

// overlap is a node that both reservations set aside at the same time within the next
// four weeks, or the time of the one that comes once; "" where there is none.
func overlap(v state.View, r, other *api.Reservation, nodes []string) string {
	now := time.Now()
	until := now.Add(28 * 24 * time.Hour)
	for _, one := range []*api.Reservation{r, other} {
		if one.Repeat == "" && one.To.After(until) {
			until = one.To
		}
	}
	theirs := other.Between(now, until)
	for _, i := range r.Between(now, until) {
		for _, o := range theirs {
			if !i.From.Before(o.To) || !o.From.Before(i.To) {
				continue
			}
			covered := scheduler.NodesOf(v, other)
			for _, name := range nodes {
				if slices.Contains(covered, name) {
					return name
				}
			}
			return ""
		}
	}
	return ""
}

// removeReservation answers DELETE /v1/reservations/{name}.
func (s *Server) removeReservation(r *request) (any, error) {
	_, err := s.do(r, &state.Command{RemoveReservation: r.PathValue("name")})
	return nil, err
}

// mayReserve says why jobs of a user cannot use a reservation, "" where they can.
func mayReserve(v state.View, owner, name string) string {
	r := v.Reservation(name)
	switch {
	case r == nil:
		return fmt.Sprintf("there is no reservation %q; see the reservations with: berth reservation list", name)
	case !r.Open(owner, v.AccountsOf(owner)):
		return fmt.Sprintf("user %s may not use reservation %s", owner, name)
	}
	if _, ok := r.Next(time.Now()); !ok {
		return fmt.Sprintf("reservation %s is over", name)
	}
	return ""
}
