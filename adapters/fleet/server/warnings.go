package server

import (
	"fmt"

	"github.com/berth-project/berth/adapters/fleet/job"
	"github.com/berth-project/berth/adapters/fleet/scheduler"
	"github.com/berth-project/berth/adapters/fleet/state"
)

// warnings say which jobs no node of today could run, which dependencies can never be
// met, and which nodes jobs name that there are not.
func warnings(v state.View, specs []job.Spec) []string {
	var out []string
	var fleet scheduler.Census
	for i := range specs {
		for _, problem := range fleet.Never(v, &specs[i]) {
			out = append(out, fmt.Sprintf("jobs[%d]: as the fleet is, it can never start: %s", i, problem))
		}
		for _, problem := range v.NeverMet(&specs[i]) {
			then := "it waits on, as a requeue of that one may help (--kill-on-invalid-dep=yes cancels it)"
			if specs[i].KillOnInvalidDep {
				then = "it will be cancelled"
			}
			out = append(out, fmt.Sprintf("jobs[%d]: as things are, it can never start: %s; %s", i, problem, then))
		}
		if r := v.Reservation(specs[i].Reservation); r != nil {
			if doubt := scheduler.OutlastsReservation(&specs[i], r); doubt != "" {
				out = append(out, fmt.Sprintf("jobs[%d]: %s", i, doubt))
			}
		}
		for _, doubt := range scheduler.Doubts(v, &specs[i]) {
			out = append(out, fmt.Sprintf("jobs[%d]: %s", i, doubt))
		}
	}
	for range v.Nodes() {
		return out
	}
	return append(out, "the fleet has no nodes yet")
}
