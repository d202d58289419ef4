package simulate

import (
	"bytes"
	"cmp"
	"errors"
	"maps"
	"slices"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins"
)

// start makes the engine and tells it what there is.
func (s *sim) start() {
	var err error
	s.plugins = s.plugins.fresh()
	cfg := simConfig(s.plugins, s.o)
	cfg.Orchestrator = &s.world
	s.handle = s.plugins.handle
	s.events, s.log, s.stages = nil, bytes.Buffer{}, map[string]string{}
	tell := engine.Listener{Evicting: func(e engine.EvictingEvent) {
		s.evicting = e.Workload.ID
		s.evictedAt[e.Workload.ID] = s.raw.View().Index()
		s.evictions[e.Workload.ID], s.roomFor[e.Workload.ID] = e.Node, cmp.Or(e.By, e.ByGroup)
		s.stop(e.Workload.ID)
		s.displaced(e)
	}, Popped: func(e engine.PoppedEvent) {
		s.turns.popped(e.Workload.ID)
	}, Reserved: func(e engine.PlacedEvent) {
		s.turns.found(e.Workload)
		s.reserved(e)
	}, Bound: func(e engine.PlacedEvent) { delete(s.turns, e.Workload.ID) },
		Confirmed: func(e engine.PlacedEvent) { delete(s.turns, e.Workload.ID) },
		Decided:   s.decided, Rejected: func(e engine.RejectedEvent) {
			s.turns.rejected(e)
			if slices.Contains(e.Plugins, plugins.NetworkOverhead) {
				s.reach("workload too far from others")
				s.tooFar[e.Workload.ID] = true
			}
			if slices.Contains(e.Plugins, notTherePlugin) {
				s.reach("workload kept from a node that was not there")
			}
			if errors.Is(e.Err, engine.ErrDifference) {
				s.fail("%v", e.Err)
			}
		}}
	tell.Failed = s.sawFailed
	tell = engine.Tee(s.walks(), tell)
	s.plan = s.plugins.plan.Clone()
	if s.records() {
		cfg.Recorder = s.newRecorder()
		tell = engine.Tee(tell, EventLines(&s.events))
	}
	cfg.Listener = tell
	if s.o.Configure != nil {
		s.o.Configure(&cfg)
	}
	s.hostility.surround(&cfg, s.plugins.plan)
	s.cut, s.unreplayable, s.misordered = false, false, false
	s.extended, s.plansAhead = len(cfg.Extenders) > 0, cfg.Backfill.Mode != engine.NoPlan
	s.hostility.spare(func() { s.raw, err = engine.NewRaw(cfg) }) // there is no engine yet that could break
	if err != nil {
		panic(err)
	}
	s.tasks, s.gone = nil, nil
	s.disputed, s.evictions, s.roomFor = map[nodePort]bool{}, map[string]string{}, map[string]string{}
	s.asOne, s.told, s.seen = map[string]string{}, false, nil
	s.missed, s.plans, s.nominated = map[string]bool{}, map[string]string{}, map[string]int{}
	s.turns = turns{}
	s.budgetAt, s.evictedAt = map[string]uint64{}, map[string]uint64{}
	s.toBeMade, s.tooFar = map[string]madeIn{}, map[string]bool{}
	s.cur, s.prev = &observed{}, &observed{}
	s.tellAll()
}

// tellAll tells a new engine everything: the nodes, what runs, and what is to
// be placed.
func (s *sim) tellAll() {
	var changes []engine.Change
	if s.step == 0 {
		s.newGroups()
		if s.volumes {
			s.newStorage()
		}
		if s.devices {
			s.newDeviceWorld()
		}
		if s.networked {
			s.newNetwork()
		}
		for range s.o.Nodes {
			n := s.newNode()
			s.world.put(n)
		}
	}
	for _, id := range sortedKeys(s.world.groups) {
		changes = append(changes, engine.PutGroup(s.world.groups[id]))
	}
	changes = append(changes, s.retellObjects()...)
	changes = append(changes, s.retellMeasures()...)
	changes = append(changes, s.queuesAtFirst(false)...)
	for _, name := range s.world.order {
		changes = append(changes, engine.PutNode(s.world.nodes[name]))
		s.forced[name] = true
	}
	ids := slices.Sorted(maps.Keys(s.world.book))
	for _, id := range ids {
		changes = append(changes, s.retell(id)...)
	}
	s.apply(changes...)
}

// retell is how a new engine learns of one workload.
func (s *sim) retell(id string) []engine.Change {
	e := s.world.book[id]
	switch {
	case e.ended:
		delete(s.world.book, id)
		return nil
	case e.node == "":
		e.lost()
		return []engine.Change{engine.Submit(e.spec)}
	}
	e.known, e.unreported = true, false
	s.forced[e.node] = true
	adopt := engine.Adopt(e.spec, model.Binding{Node: e.node, Devices: e.devices})
	if e.leaving {
		return []engine.Change{adopt, engine.Terminate(id)}
	}
	return []engine.Change{adopt}
}
