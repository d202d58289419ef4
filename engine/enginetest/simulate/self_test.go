package simulate

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins"
	"github.com/berth-project/berth/plugins/defaultpreemption"
	"github.com/berth-project/berth/plugins/dynamicresources"
	"github.com/berth-project/berth/plugins/dynamicresources/allocator"
	"github.com/berth-project/berth/plugins/loadawarescheduling"
	"github.com/berth-project/berth/plugins/networkoverhead"
	"github.com/berth-project/berth/plugins/noderesourcetopologymatch"
)

// blindFilter lets every node pass.
type blindFilter struct{ name string }

func (p blindFilter) Name() string { return p.name }

func (blindFilter) Filter(*extpoints.CycleState, *extpoints.WorkloadInfo, *extpoints.NodeInfo) *extpoints.Status {
	return nil
}

// silentFilter filters as the plugin does, and tells of no event that could
// change its mind.
type silentFilter struct{ extpoints.FilterPlugin }

func (silentFilter) EventsToRegister() ([]extpoints.EventHint, error) { return nil, nil }

// silentGate is the same for a gate.
type silentGate struct{ extpoints.PreEnqueuePlugin }

func (silentGate) EventsToRegister() ([]extpoints.EventHint, error) { return nil, nil }

// keeping makes room as the plugin does, and keeps what was kept before where it makes none.
type keeping struct {
	*defaultpreemption.DefaultPreemption
}

func (p keeping) PostFilter(s *extpoints.CycleState, w *extpoints.WorkloadInfo, statuses extpoints.NodeStatuses) (*extpoints.PostFilterResult, *extpoints.Status) {
	r, st := p.DefaultPreemption.PostFilter(s, w, statuses)
	if r == nil || r.Nominate == "" {
		r = &extpoints.PostFilterResult{Nominate: w.Nominated}
	}
	return r, st
}

// believing takes budgets for what they were before the engine displaced anybody.
type believing struct {
	*defaultpreemption.DefaultPreemption
}

func (p believing) PostFilter(s *extpoints.CycleState, w *extpoints.WorkloadInfo, statuses extpoints.NodeStatuses) (*extpoints.PostFilterResult, *extpoints.Status) {
	own := extpoints.NewCycle(extpoints.CycleOptions{
		Context: s.Context(), View: asReported{s.View()}, Now: s.Now(), Seed: s.Seed(), Trial: s.Trial(), Values: s,
	})
	r, st := p.DefaultPreemption.PostFilter(own.State(), w, statuses)
	for _, e := range own.Requests().Evictions {
		s.Evict(e.ID, e.Reason)
	}
	for _, id := range own.Requests().Unnominations {
		s.Unnominate(id)
	}
	return r, st
}

type asReported struct{ extpoints.ClusterView }

func (v asReported) Budgets() (list []*model.Budget) {
	for _, b := range v.ClusterView.Budgets() {
		before := *b
		before.Allowed += int32(len(b.Displaced))
		list = append(list, &before)
	}
	return list
}

// hasty asks budgets only once the nodes for a group are chosen, as kube-scheduler does.
type hasty struct {
	*defaultpreemption.DefaultPreemption
	reference *defaultpreemption.DefaultPreemption
}

func (p hasty) GroupPostFilter(s *extpoints.CycleState, g *extpoints.GroupInfo, t extpoints.GroupTrial) (*extpoints.GroupPostFilterResult, *extpoints.Status) {
	return p.reference.GroupPostFilter(s, g, t)
}

// hastily puts hasty in the place of the plugin.
func hastily(cfg *engine.Config) {
	for _, e := range entries(cfg, plugins.DefaultPreemption) {
		make := e.New
		e.New = func(args any, h extpoints.Handle) (extpoints.Plugin, error) {
			own, err := make(args, h)
			reference, err2 := make(args, believingHandle{h})
			return hasty{own.(*defaultpreemption.DefaultPreemption), reference.(*defaultpreemption.DefaultPreemption)}, errors.Join(err, err2)
		}
	}
}

// believingHandle has a plugin do as kube-scheduler.
type believingHandle struct{ extpoints.Handle }

func (believingHandle) Compat() extpoints.Compat { return extpoints.KubeScheduler137 }

// blindHandle does not say where room was made in vain.
type blindHandle struct{ extpoints.Handle }

func (h blindHandle) Preemption() extpoints.Preemption {
	return struct{ extpoints.Preemption }{h.Handle.Preemption()}
}

// greedyDevices gives everybody the first device.
type greedyDevices struct{ blindFilter }

func (greedyDevices) Reserve(_ *extpoints.CycleState, w *extpoints.WorkloadInfo, b *model.Binding) *extpoints.Status {
	for _, r := range w.Workload.Devices {
		for range r.Count {
			b.Devices = append(b.Devices, model.DeviceShare{Share: r.Share})
		}
	}
	return nil
}

func (greedyDevices) Unreserve(*extpoints.CycleState, *extpoints.WorkloadInfo, *model.Binding) {}

// deadWorld says yes to everything and does nothing.
type deadWorld struct{}

func (deadWorld) Bind(context.Context, *model.Workload, model.Binding) error { return nil }
func (deadWorld) Evict(context.Context, *model.Workload, string) error       { return nil }

// twiceWorld binds everything twice.
type twiceWorld struct{ extpoints.Orchestrator }

func (w twiceWorld) Bind(ctx context.Context, workload *model.Workload, b model.Binding) error {
	_ = w.Orchestrator.Bind(ctx, workload, b)
	b.Node += "-too"
	return w.Orchestrator.Bind(ctx, workload, b)
}

// wrap puts another plugin in the place of the profiles' own.
func wrap(name string, other func(extpoints.Plugin) extpoints.Plugin) func(*engine.Config) {
	return func(cfg *engine.Config) {
		for _, e := range entries(cfg, name) {
			make := e.New
			e.New = func(args any, h extpoints.Handle) (extpoints.Plugin, error) {
				p, err := make(args, h)
				return other(p), err
			}
		}
	}
}

// entries are those of the plugin in all profiles.
func entries(cfg *engine.Config, name string) (list []*extpoints.Entry) {
	for i := range cfg.Profiles {
		for j := range cfg.Profiles[i].Plugins {
			if e := &cfg.Profiles[i].Plugins[j]; e.Name == name {
				list = append(list, e)
			}
		}
	}
	return list
}

// easyGang takes any number of members for enough.
type easyGang struct{ extpoints.PreEnqueuePlugin }

func (easyGang) PlacementFeasible(*extpoints.CycleState, *extpoints.GroupInfo, extpoints.PlacementProgress) *extpoints.Status {
	return nil
}

// doubleWorld gives each volume to a second claim.
type doubleWorld struct{ *simWorld }

func (w doubleWorld) BindVolumes(ctx context.Context, workload *model.Workload, b model.Binding) error {
	err := w.simWorld.BindVolumes(ctx, workload, b)
	for _, o := range b.Decided {
		v, ok := o.(*model.Volume)
		if !ok || err != nil {
			continue
		}
		for _, c := range factsOf[*model.VolumeClaim](&w.facts) {
			if !c.Bound {
				other := *c
				other.Volume, other.Bound = v.Name, true
				w.facts.put(&other)
				break
			}
		}
	}
	return err
}

// denyingVolumes and denyingDevices say of every failure that nothing was written, so that
// the engine forgets what it has asked for.
type (
	denyingVolumes struct{ *simWorld }
	denyingDevices struct{ *simWorld }
)

func (w denyingVolumes) BindVolumes(ctx context.Context, workload *model.Workload, b model.Binding) error {
	return deny(w.simWorld.BindVolumes(ctx, workload, b))
}

func (w denyingDevices) BindDevices(ctx context.Context, workload *model.Workload, b model.Binding) error {
	return deny(w.simWorld.BindDevices(ctx, workload, b))
}

func deny(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: %w", extpoints.ErrNotWritten, err)
}

// clinging goes on reserving for the one that it served last.
type clinging struct {
	*dynamicresources.DynamicResources
	last *model.Consumer
}

func (p clinging) Reserve(s *extpoints.CycleState, w *extpoints.WorkloadInfo, b *model.Binding) *extpoints.Status {
	st := p.DynamicResources.Reserve(s, w, b)
	if s.Trial() || st != nil {
		return st
	}
	for _, o := range b.Decided {
		if c, ok := o.(*model.DeviceClaim); ok && len(c.ReservedFor) > 0 {
			if by := *p.last; by.Workload != "" && !c.Reserved(by) {
				c.ReservedFor = append(c.ReservedFor, by)
			}
			*p.last = c.ReservedFor[0]
		}
	}
	return nil
}

// forgetful takes all devices for free.
type forgetful struct{ allocator.Allocator }

func (a forgetful) Prepare(devices extpoints.Devices, claims []*model.DeviceClaim) allocator.Search {
	return a.Allocator.Prepare(unused{devices}, claims)
}

type unused struct{ extpoints.Devices }

func (unused) Use(model.PoolID) *extpoints.PoolUse { return nil }

// reversed is an order from behind.
type reversed struct{ extpoints.QueueSortPlugin }

func (p reversed) Less(a, b *extpoints.Queued) bool { return p.QueueSortPlugin.Less(b, a) }

// wordlessGate holds workloads back and does not say why.
type wordlessGate struct{ extpoints.PreEnqueuePlugin }

func (p wordlessGate) PreEnqueue(w *model.Workload) *extpoints.Status {
	if st := p.PreEnqueuePlugin.PreEnqueue(w); st.IsSuccess() {
		return st
	}
	return extpoints.NewStatus(extpoints.Unschedulable)
}

// bySort has the engine record queues and heed none of them.
func bySort(cfg *engine.Config) { cfg.Order = engine.OrderBySort }

// without takes a plugin out of the profiles.
func without(name string) func(*engine.Config) {
	return func(cfg *engine.Config) {
		for i := range cfg.Profiles {
			if p := &cfg.Profiles[i]; p.Name != probeProfile {
				p.Remove(name)
			}
		}
	}
}

// withArgs gives a plugin other arguments.
func withArgs(name string, args any) func(*engine.Config) {
	return func(cfg *engine.Config) {
		for _, e := range entries(cfg, name) {
			e.Args = args
		}
	}
}

// believingLists takes whoever is in the list of a report for one who has what it uses in it, wherever it was then.
type believingLists struct{ extpoints.FilterPlugin }

func (p believingLists) Filter(s *extpoints.CycleState, w *extpoints.WorkloadInfo, n *extpoints.NodeInfo) *extpoints.Status {
	then := *n
	then.Workloads = nil
	for _, other := range n.Workloads {
		before := *other
		before.PlacedAt = time.Unix(1, 0)
		if t := s.View().NodeTopology(n.Node.Name); t == nil || !t.Listed || !slices.Contains(t.Workloads, other.ID) {
			before.PlacedAt = other.PlacedAt
		}
		then.Workloads = append(then.Workloads, &before)
	}
	return p.FilterPlugin.Filter(s, w, &then)
}

// backwards takes what it costs to go from one place to another for the costs of the way back.
type backwards struct {
	*networkoverhead.NetworkOverhead
}

func (p backwards) PreFilter(s *extpoints.CycleState, w *extpoints.WorkloadInfo) (*extpoints.PreFilterResult, *extpoints.Status) {
	own := extpoints.NewCycle(extpoints.CycleOptions{
		Context: s.Context(), View: turnedCosts{s.View()}, Now: s.Now(), Seed: s.Seed(), Trial: s.Trial(), Values: s,
	})
	return p.NetworkOverhead.PreFilter(own.State(), w)
}

type turnedCosts struct{ extpoints.ClusterView }

func (v turnedCosts) NetworkCosts(name string) *model.NetworkCosts {
	costs := v.ClusterView.NetworkCosts(name)
	if costs == nil {
		return nil
	}
	turned := &model.NetworkCosts{Name: name}
	for _, l := range costs.Levels {
		back := model.CostLevel{Key: l.Key}
		for _, c := range l.Costs {
			back.Costs = append(back.Costs, model.NetworkCost{From: c.To, To: c.From, Cost: c.Cost})
		}
		turned.Levels = append(turned.Levels, back)
	}
	return turned
}

// silentCosts is the plugin, and tells of no event that could change its mind.
type silentCosts struct {
	*networkoverhead.NetworkOverhead
}

func (silentCosts) EventsToRegister() ([]extpoints.EventHint, error) { return nil, nil }

// TestSimulationFindsFaults builds engines with something wrong about them, and
// wants the simulation to say so.
func TestSimulationFindsFaults(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("-short: minutes of faulty engines are missing; run without it")
	}
	// Where a fault shows in few histories the search begins near one of them.
	first := map[string]uint64{
		"devices that are forgotten when they are written": 60, "limits on resource-seconds that nobody heeds": 295, "measured zones that are given twice": 55,
		"volumes that are forgotten when they are written": 40, "room for volumes that is believed until it is reported": 45, "measured loads of which nobody is told": 40,
		"limits on a number that nobody heeds": 180, "ports that are given twice": 25, "limits on a resource that nobody heeds": 145,
		"room that is lost and nobody is told": 25, "measured zones of which nobody is told": 20, "network costs of which nobody is told": 15, "guarantees that nobody heeds": 85,
		"claims of one that others use too": 545, "budgets that are believed until they are reported": 245, "room that is made again in vain": 365,
		"budgets that are asked when the nodes for a group are chosen": 40, "measured zones that are given to a workload that comes back": 100, "arrivals that nobody heeds": 380,
	}
	for _, c := range []struct {
		name, want string
		configure  func(*engine.Config)
	}{
		{"a filter that lets everything pass", "has too little", wrap(plugins.NodeResourcesFit, func(extpoints.Plugin) extpoints.Plugin {
			return blindFilter{plugins.NodeResourcesFit}
		})},
		{"ports that are given twice", "too little port", wrap(plugins.NodePorts, func(extpoints.Plugin) extpoints.Plugin {
			return blindFilter{plugins.NodePorts}
		})},
		{"devices that are given twice", "device", wrap(plugins.Devices, func(extpoints.Plugin) extpoints.Plugin {
			return greedyDevices{blindFilter{plugins.Devices}}
		})},
		{"a plugin that forgot its events", "waits for an event", wrap(plugins.NodeResourcesFit, func(p extpoints.Plugin) extpoints.Plugin {
			return silentFilter{p.(extpoints.FilterPlugin)}
		})},
		{"a gate that does not open", "for no reason", wrap(plugins.SchedulingGates, func(p extpoints.Plugin) extpoints.Plugin {
			return silentGate{p.(extpoints.PreEnqueuePlugin)}
		})},
		{"an orchestrator that only says that it bound", "in the book as", func(cfg *engine.Config) { cfg.Orchestrator = deadWorld{} }},
		{"nodes that are not held", "holds", without(plugins.NodeHolds)},
		{"an orchestrator that binds twice", "by nobody's task", func(cfg *engine.Config) { cfg.Orchestrator = twiceWorld{cfg.Orchestrator} }},
		{"a plugin that is content with fewer members", "too few members", wrap(plugins.GangScheduling, func(p extpoints.Plugin) extpoints.Plugin {
			return easyGang{p.(extpoints.PreEnqueuePlugin)}
		})},
		{"a profile that knows no groups", "too few members", without(plugins.GangScheduling)},
		{"a profile that knows no topology", "of the same group is on", without(plugins.TopologyPlacementGenerator)},
		{"volumes that are not looked for", "there is no volume for claim", wrap(plugins.VolumeBinding, func(extpoints.Plugin) extpoints.Plugin {
			return blindFilter{plugins.VolumeBinding}
		})},
		{"volumes that are not counted", "and can have", wrap(plugins.NodeVolumeLimits, func(extpoints.Plugin) extpoints.Plugin {
			return blindFilter{plugins.NodeVolumeLimits}
		})},
		{"claims of one that others use too", "has for itself", wrap(plugins.VolumeRestrictions, func(extpoints.Plugin) extpoints.Plugin {
			return blindFilter{plugins.VolumeRestrictions}
		})},
		{"an orchestrator that binds a volume twice", "is bound to claim", func(cfg *engine.Config) {
			cfg.Orchestrator = doubleWorld{cfg.Orchestrator.(*simWorld)}
		}},
		{"claims that are not given back", "nobody is on a node who is that", wrap(plugins.DynamicResources, func(p extpoints.Plugin) extpoints.Plugin {
			return clinging{p.(*dynamicresources.DynamicResources), new(model.Consumer)}
		})},
		{"claims to devices that others have", "more is given away", func(cfg *engine.Config) {
			for _, e := range entries(cfg, plugins.DynamicResources) {
				e.Args = dynamicresources.Args{Allocator: forgetful{allocator.New(allocator.Options{})}}
			}
		}},
		{"devices that are forgotten when they are written", "is given devices outside", func(cfg *engine.Config) {
			cfg.Orchestrator = denyingDevices{cfg.Orchestrator.(*simWorld)}
		}},
		{"volumes that are forgotten when they are written", "outside, and was for", func(cfg *engine.Config) {
			cfg.Orchestrator = denyingVolumes{cfg.Orchestrator.(*simWorld)}
		}},
		{"room that is kept for nothing", "room is kept for", wrap(plugins.DefaultPreemption, func(p extpoints.Plugin) extpoints.Plugin {
			return keeping{p.(*defaultpreemption.DefaultPreemption)}
		})},
		{"room that is kept on nodes that are gone", "which is not there: it waits", wrap(plugins.DefaultPreemption, func(p extpoints.Plugin) extpoints.Plugin {
			return keeping{p.(*defaultpreemption.DefaultPreemption)}
		})},
		{"room that is lost and nobody is told", "and has lost the room on", func(cfg *engine.Config) { cfg.Compat = extpoints.KubeScheduler137 }},
		{"budgets that are asked when the nodes for a group are chosen", "more than budgets allow", hastily},
		{"budgets that are believed until they are reported", "which a budget protects", wrap(plugins.DefaultPreemption, func(p extpoints.Plugin) extpoints.Plugin {
			return believing{p.(*defaultpreemption.DefaultPreemption)}
		})},
		{"room for volumes that is believed until it is reported", "since it was reported, which has room", func(cfg *engine.Config) {
			for _, e := range entries(cfg, plugins.VolumeBinding) {
				make := e.New
				e.New = func(args any, h extpoints.Handle) (extpoints.Plugin, error) { return make(args, believingHandle{h}) }
			}
		}},
		{"room that is made again in vain", "room is made again for", func(cfg *engine.Config) {
			for _, e := range entries(cfg, plugins.DefaultPreemption) {
				make := e.New
				e.New = func(args any, h extpoints.Handle) (extpoints.Plugin, error) { return make(args, blindHandle{h}) }
			}
		}},
		{"a gate without a word", "does not say why", wrap(plugins.SchedulingGates, func(p extpoints.Plugin) extpoints.Plugin {
			return wordlessGate{p.(extpoints.PreEnqueuePlugin)}
		})},
		{"an order that is reversed", "whose turn is before", wrap(plugins.PrioritySort, func(p extpoints.Plugin) extpoints.Plugin {
			return reversed{p.(extpoints.QueueSortPlugin)}
		})},
		{"queues in which the order is reversed", "whose turn is before", wrap(plugins.PrioritySort, func(p extpoints.Plugin) extpoints.Plugin {
			return reversed{p.(extpoints.QueueSortPlugin)}
		})},
		{"shares that nobody heeds", "whose turn is before by Share", bySort},
		{"priorities between queues that nobody heeds", "whose turn is before by Priority", func(cfg *engine.Config) {
			bySort(cfg)
			wrap(plugins.PrioritySort, func(p extpoints.Plugin) extpoints.Plugin { return reversed{p.(extpoints.QueueSortPlugin)} })(cfg)
		}},
		{"arrivals that nobody heeds", "whose turn is before by FIFO", bySort},
		{"quotas that nobody heeds", "by its ", bySort},
		{"guarantees that nobody heeds", "kept by other queues", bySort},
		{"limits on what runs that nobody heeds", "(Running) has", bySort},
		{"limits on a resource that nobody heeds", "(Resource) has", bySort},
		{"limits on resource-seconds that nobody heeds", "resource-seconds are used", bySort},
		{"limits on a number that nobody heeds", "one too many by a limit", bySort},
		{"measured zones that nobody looks at", "and no zone has", wrap(plugins.NodeResourceTopologyMatch, func(extpoints.Plugin) extpoints.Plugin {
			return blindFilter{plugins.NodeResourceTopologyMatch}
		})},
		{"measured zones that are given twice", "and no zone has", withArgs(plugins.NodeResourceTopologyMatch,
			noderesourcetopologymatch.Args{MaxAge: oldestZones, Book: noderesourcetopologymatch.Ignore})},
		{"measured zones that are given to a workload that comes back", "and no zone has", wrap(plugins.NodeResourceTopologyMatch, func(p extpoints.Plugin) extpoints.Plugin {
			return believingLists{p.(extpoints.FilterPlugin)}
		})},
		{"measured zones of which any report will do", "report of zones", withArgs(plugins.NodeResourceTopologyMatch, noderesourcetopologymatch.Args{})},
		{"measured zones of which nobody is told", "would fit on", wrap(plugins.NodeResourceTopologyMatch, func(p extpoints.Plugin) extpoints.Plugin {
			return silentFilter{p.(extpoints.FilterPlugin)}
		})},
		{"measured loads that nobody looks at", "which is too busy", wrap(plugins.LoadAwareScheduling, func(extpoints.Plugin) extpoints.Plugin {
			return blindFilter{plugins.LoadAwareScheduling}
		})},
		{"measured loads of which any report will do", "report of load", withArgs(plugins.LoadAwareScheduling, loadawarescheduling.Args{AllowExpired: true})},
		{"measured loads of which nobody is told", "would fit on", wrap(plugins.LoadAwareScheduling, func(p extpoints.Plugin) extpoints.Plugin {
			return silentFilter{p.(extpoints.FilterPlugin)}
		})},
		{"network costs that nobody looks at", "too far from", wrap(plugins.NetworkOverhead, func(extpoints.Plugin) extpoints.Plugin {
			return blindFilter{plugins.NetworkOverhead}
		})},
		{"network costs that are read the other way round", "too far from", wrap(plugins.NetworkOverhead, func(p extpoints.Plugin) extpoints.Plugin {
			return backwards{p.(*networkoverhead.NetworkOverhead)}
		})},
		{"network costs of which nobody is told", "would fit on", wrap(plugins.NetworkOverhead, func(p extpoints.Plugin) extpoints.Plugin {
			return silentCosts{p.(*networkoverhead.NetworkOverhead)}
		})},
		{"network applications that have no place in the queue", "whose turn is before", func(cfg *engine.Config) {
			for _, e := range entries(cfg, plugins.TopologicalSort) {
				e.Name, e.New = plugins.PrioritySort, plugins.Default()[plugins.PrioritySort]
			}
		}},
		{"an orchestrator that is told of nobody", "", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			found, enough := "", uint64(400) // most are found much sooner
			if c.configure == nil {
				enough = 60
			}
			scarce := strings.HasSuffix(c.name, "that are forgotten when they are written")
			crowded := strings.HasPrefix(c.name, "room that is kept") || strings.HasPrefix(c.name, "room that is lost") || strings.HasPrefix(c.name, "budgets")
			queues := strings.HasSuffix(c.name, "that nobody heeds") || strings.HasPrefix(c.name, "queues")
			network := strings.HasPrefix(c.name, "network")
			measured := network || strings.HasPrefix(c.name, "measured")
			var without []string
			if !network {
				without = []string{networkName}
			}
			for seed := first[c.name]; seed < first[c.name]+enough; seed++ {
				r := simulate(seed, Options{Plugins: MoodGood, Configure: c.configure, Scarce: scarce, Crowded: crowded, Queues: queues, Measured: measured, Without: without})
				if r.Failure != nil {
					if found = r.Failure.Message; strings.Contains(found, c.want) {
						t.Logf("seed %d", seed)
						break
					}
				}
			}
			switch {
			case c.configure == nil && found != "":
				t.Fatalf("nothing is wrong, and the simulation says %q", found)
			case !strings.Contains(found, c.want):
				t.Fatalf("the simulation says %q, want something with %q", found, c.want)
			}
		})
	}
}

// TestSimulationFindsWhatIsNotTried: a workload that is active and held back by nothing must not be left.
func TestSimulationFindsWhatIsNotTried(t *testing.T) {
	s := newSim(1, Options{Plugins: MoodGood})
	s.start()
	s.apply(engine.Submit(&model.Workload{ID: "w"}))
	if s.checkIdle(); s.result.Failure == nil || !strings.Contains(s.result.Failure.Message, "w is active, nothing holds it back") {
		t.Errorf("the simulation says %+v", s.result.Failure)
	}
}

// TestSimulationFindsWhatNoZoneHasRoomFor: what is bound to a node that has said the truth must have a zone.
func TestSimulationFindsWhatNoZoneHasRoomFor(t *testing.T) {
	s := newSim(1, Options{Plugins: MoodGood, Measured: true})
	s.start()
	node := s.world.order[0]
	s.tellZones(s.newZoneReport(node))
	s.now = s.now.Add(time.Second)
	w := &model.Workload{ID: "w", QoS: model.Guaranteed, Requests: model.Resources{CPU: 1 << 20}}
	s.apply(engine.Adopt(w, model.Binding{Node: node}))
	s.world.book["w"] = &booked{spec: w, node: node}
	if s.world.arrive("w"); s.result.Failure == nil || !strings.Contains(s.result.Failure.Message, "one was given twice") {
		t.Errorf("the simulation says %+v", s.result.Failure)
	}
}

// countingFilter rejects by how often it was asked, which nobody writes down.
type countingFilter struct {
	extpoints.FilterPlugin
	calls *int
}

func (p countingFilter) Filter(s *extpoints.CycleState, w *extpoints.WorkloadInfo, n *extpoints.NodeInfo) *extpoints.Status {
	if *p.calls++; *p.calls%7 == 0 {
		return extpoints.NewStatus(extpoints.Unschedulable, "the seventh")
	}
	return p.FilterPlugin.Filter(s, w, n)
}

// TestSimulationFindsWhatIsNotReplayed: a plugin that counts over the whole life of an engine is found
// by a replay from the middle, and one that goes on counting in the next engine by any.
func TestSimulationFindsWhatIsNotReplayed(t *testing.T) {
	t.Parallel()
	ofAll := 0
	for name, c := range map[string]struct {
		replay Replay
		calls  func() *int
	}{
		"of all engines, whole":          {ReplayWhole, func() *int { return &ofAll }},
		"of one engine, from the middle": {ReplayInParts, func() *int { return new(int) }},
	} {
		o := Options{Plugins: MoodGood, Replay: c.replay, Without: []string{"look"}}
		o.Configure = func(cfg *engine.Config) {
			calls := c.calls()
			wrap(plugins.TaintToleration, func(p extpoints.Plugin) extpoints.Plugin {
				return countingFilter{p.(extpoints.FilterPlugin), calls}
			})(cfg)
		}
		found := ""
		for seed := uint64(0); seed < 20 && !strings.Contains(found, ", replayed: "); seed++ {
			if r := simulate(seed, o); r.Failure != nil {
				found = r.Failure.Message
			}
		}
		if !strings.Contains(found, ", replayed: ") {
			t.Errorf("%s: the simulation says %q", name, found)
		}
	}
}

// deafTo hides from the simulation that the engine is broken.
func deafTo(cfg *engine.Config) {
	cfg.Listener.Failed = nil
}

// TestSimulationFindsHostilityThatTakesEffect does what the engine is to refuse where it is right to
// accept it, and wants the simulation to say so.
func TestSimulationFindsHostilityThatTakesEffect(t *testing.T) {
	t.Parallel()
	for want, do := range map[string]func(s *sim){
		"was called from nowhere, and said ": func(s *sim) { s.callBack("nowhere") },
		"the engine is broken, and":          func(s *sim) { s.checkBroken() },
		"the second answer changed something": func(s *sim) {
			s.tasks[0].task.Settle(nil)
			for range 50 { // by lot it answers once
				s.answerAgain(s.tasks[0])
			}
		},
		"what should come to its end did not": func(s *sim) { s.besideIfHostile(runtime.Goexit) },
		"the engine breaks: ":                 func(s *sim) { s.sawFailed(engine.FailedEvent{Err: engine.ErrBroken}) },
		"the listener was told 2 times": func(s *sim) {
			s.broken = 2
			s.replaceBroken()
		},
	} {
		s := newSim(1, Options{Hostile: true, Nodes: 8})
		s.start()
		s.observe()
		for len(s.tasks) == 0 {
			s.hostility.spare(s.oneStep)
		}
		if do(s); s.result.Failure == nil || !strings.Contains(s.result.Failure.Message, want) {
			t.Errorf("the simulation says %+v, want something with %q", s.result.Failure, want)
		}
	}
	found := ""
	for seed := uint64(0); seed < 40 && found == ""; seed++ {
		if r := simulate(seed, Options{Hostile: true, Configure: deafTo}); r.Failure != nil {
			found = r.Failure.Message
		}
	}
	if !strings.Contains(found, "what should come to its end did not") {
		t.Errorf("nobody hears that the engine is broken, and the simulation says %q", found)
	}
}

// TestSimulationRepeats: a seed is a history, whether or not somebody takes
// notes, and a failure can be made smaller.
func TestSimulationRepeats(t *testing.T) {
	t.Parallel()
	o, histories := Options{Record: true}, uint64(20)
	if testing.Short() {
		histories = 2
	}
	for seed := range histories {
		a, b := simulate(seed, o), simulate(seed, o)
		if len(a.Lives) == 0 || len(a.Lives) != len(b.Lives) {
			t.Fatalf("seed %d: %d and %d lives", seed, len(a.Lives), len(b.Lives))
		}
		for i := range a.Lives {
			if string(a.Lives[i].Log) != string(b.Lives[i].Log) || len(a.Lives[i].Log) == 0 {
				t.Fatalf("seed %d: two histories", seed)
			}
		}
	}
	broken := Options{Plugins: MoodGood, Configure: wrap(plugins.NodeResourcesFit, func(extpoints.Plugin) extpoints.Plugin {
		return blindFilter{plugins.NodeResourcesFit}
	})}
	first := simulate(3, broken)
	small, options := shrink(first, broken)
	if small.Failure == nil || small.Steps > first.Steps || len(options.Without) == 0 {
		t.Fatalf("%d steps became %d, without %v", first.Steps, small.Steps, options.Without)
	}
}
