package engine

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"slices"
	"time"

	"github.com/berth-project/berth/engine/internal/decide"
	"github.com/berth-project/berth/engine/internal/forecast"
	"github.com/berth-project/berth/engine/internal/record"
	"github.com/berth-project/berth/engine/internal/store"
	"github.com/berth-project/berth/engine/internal/timeline"
	"github.com/berth-project/berth/model"
)

// forecaster is the state that a forecast is made from. It belongs to itself: the
// engine may go on beside it.
type forecaster struct {
	cfg     Config
	runs    int
	now     time.Time
	state   state // without its Record, and with no more in its queue than is forecast
	record  *record.Record
	history *forecast.History
	waiting []forecastItem // in order
	places  map[string]int // of the workloads, by ID, among those
}

// forecastItem is something that waits: a workload, or a tree of groups with its members.
type forecastItem struct {
	id      string
	members []string // a workload's own ID
}

// simulation is one way in which the engine may go on: an engine of its own that goes from one end of a
// workload to the next. Nobody is asked to bind or to evict anything.
type simulation struct {
	*forecaster
	raw    *Raw
	seed   uint64
	at     time.Time
	starts []time.Time    // of what is forecast, in order; zero while it waits
	waits  int            // how many of these have not started
	ends   []simulatedEnd // of what runs and will end, the first first
}

// simulatedEnd is when a workload will end.
type simulatedEnd struct {
	at time.Time
	id string
}

func (a simulatedEnd) compare(b simulatedEnd) int {
	return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.id, b.id))
}

// simulate makes the simulation of the number.
func (f *forecaster) simulate(ctx context.Context, number int) (*simulation, error) {
	raw, err := newRaw(f.cfg)
	if err != nil {
		return nil, fmt.Errorf("forecast: %w", err)
	}
	s := &simulation{
		forecaster: f, raw: raw, at: f.now, starts: make([]time.Time, len(f.waiting)), waits: len(f.waiting),
		seed: decide.Mix(f.cfg.Seed ^ decide.Mix(uint64(number))),
	}
	raw.decider.Answers.Under(ctx)
	raw.now, *raw.rec = f.now, *f.record.Fork()
	if err := raw.goOnFrom(&f.state); err != nil {
		return nil, fmt.Errorf("forecast: %w", err)
	}
	if err := s.begin(); err != nil {
		return nil, fmt.Errorf("forecast: %w", err)
	}
	if err := s.run(ctx); err != nil {
		return nil, fmt.Errorf("forecast: %w", err)
	}
	return s, nil
}

// begin lets what has room run: also what was being bound, or waited on Permit.
func (s *simulation) begin() error {
	var arrived []Change
	for row := range s.raw.rec.Store.Workloads() {
		if row.TakesRoomOn() == "" {
			continue
		}
		s.runs(row)
		if row.Phase == model.Assumed {
			arrived = append(arrived, Confirm(model.Binding{Workload: row.Info.ID, Node: row.Node}))
		}
	}
	return s.raw.Apply(s.at, arrived...)
}

// runs draws when something that runs will end.
func (s *simulation) runs(row *store.Workload) {
	limit, placed := row.Info.RunLimit(), row.Info.PlacedAt
	if limit <= 0 {
		return
	}
	if placed.IsZero() {
		placed = s.at // nobody says
	}
	ran := s.at.Sub(placed)
	end := placed.Add(s.history.Draw(kindOf(row.Info.Workload), ran, limit, s.dice(row.Info.ID)))
	if !end.After(s.at) {
		end = s.at.Add(timeline.Overrunning) // as it is planned
	}
	e := simulatedEnd{end, row.Info.ID}
	i, _ := slices.BinarySearchFunc(s.ends, e, simulatedEnd.compare)
	s.ends = slices.Insert(s.ends, i, e)
}

// dice is the draw for the workload with the ID, whatever else happens in the simulation.
func (s *simulation) dice(id string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(id))
	return decide.Mix(s.seed ^ h.Sum64())
}

// patience is how many times in a row something may be due to the engine without anything starting
// or ending. Then only ends are awaited: something is tried again and again.
const patience = 100

// never is a time that no simulation reaches.
const never = 100 * 365 * 24 * time.Hour

// run goes on until all have started, or nothing more will.
func (s *simulation) run(ctx context.Context) error {
	for idle := 0; ; idle++ {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		started, err := s.decide()
		if err != nil || s.waits == 0 {
			return err
		}
		if started {
			idle = 0
		}
		due, isDue := s.raw.NextDue(s.at)
		isDue = isDue && idle < patience && due.Sub(s.now) < never/2 // not what MaxInUnschedulable would let try again
		switch {
		case len(s.ends) > 0 && (!isDue || !due.Before(s.ends[0].at)):
			idle = 0
			if err := s.end(); err != nil {
				return err
			}
		case !isDue:
			return nil
		default:
			s.at = due
		}
		s.raw.Tick(s.at)
	}
}

// end ends what ends next.
func (s *simulation) end() error {
	s.at = s.ends[0].at
	var over []Change
	for len(s.ends) > 0 && s.ends[0].at.Equal(s.at) {
		over = append(over, Finish(s.ends[0].id))
		s.ends = s.ends[1:]
	}
	return s.raw.Apply(s.at, over...)
}

// decide lets the engine start what can start. It reports whether anything has.
func (s *simulation) decide() (started bool, err error) {
	for busy := true; busy; {
		busy = s.raw.Schedule(s.at)
		var back []Change
		for t := s.raw.NextTask(); t != nil; t = s.raw.NextTask() {
			t.Settle(nil)
			s.raw.Finish(s.at, t)
			id := t.Workload().ID
			switch _, binds := t.Binding(); {
			case binds:
				s.start(id)
				started = true
			case t.Claim() == nil: // evicted
				s.ends = slices.DeleteFunc(s.ends, func(e simulatedEnd) bool { return e.id == id })
				back = append(back, Requeue(id))
			}
			busy = true
		}
		if err := s.raw.Apply(s.at, back...); err != nil {
			return started, err
		}
	}
	return started, nil
}

// start takes note of a workload that has started.
func (s *simulation) start(id string) {
	s.runs(s.raw.rec.Workload(id))
	if i, waited := s.places[id]; waited && s.starts[i].IsZero() {
		s.starts[i] = s.at
		s.waits--
	}
}
