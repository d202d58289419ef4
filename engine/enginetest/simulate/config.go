package simulate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/engine/enginetest/faults"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins"
	"github.com/berth-project/berth/plugins/loadawarescheduling"
	"github.com/berth-project/berth/plugins/loadvariationriskbalancing"
	"github.com/berth-project/berth/plugins/noderesourcetopologymatch"
	"github.com/berth-project/berth/plugins/targetloadpacking"
)

// The profiles of a simulated engine: the default, another way of scoring that
// stops looking early, and the one of the probe.
const (
	simProfile   = plugins.DefaultProfileName
	batchProfile = "batch"
	probeProfile = "probe"
	// goneProfile is one that there is no more: workloads that name it wait.
	goneProfile = "gone"
	probeID     = "probe"
)

// Reports of zones and of loads that are older than these are too old, where nothing else is said.
const (
	oldestZones = 20 * time.Second
	oldestLoad  = 30 * time.Second
	busyCPU     = 65 // percent
)

// unknownPlugin is a plugin that no profile has.
const unknownPlugin = "Stranger"

// backfillPlugin is what rejects for the sake of reservations.
const backfillPlugin = "Backfill"

// notTherePlugin is what rejects nodes that could not start a workload.
const notTherePlugin = "NotThere"

// simPlugins are the plugins of one engine with what they share.
type simPlugins struct {
	plan   *faults.Plan
	rounds *faults.Rounds
	probe  *faults.Probe
	handle *handleHolder
}

// handleHolder keeps what the engine hands to the first plugin that asks.
type handleHolder struct{ extpoints.Handle }

func newSimPlugins(seed, share uint64) simPlugins {
	return simPlugins{faults.NewPlan(seed, share), faults.NewRounds(), &faults.Probe{Workload: &model.Workload{ID: probeID, Profile: probeProfile}}, &handleHolder{}}
}

// fresh are the same plugins as they were at the beginning.
func (p simPlugins) fresh() simPlugins { return newSimPlugins(p.plan.Seed, p.plan.Share) }

func (p simPlugins) faulty() bool { return p.plan.Share > 0 }

// simConfig is the configuration of a simulated engine, orchestrator and
// listener apart.
func simConfig(p simPlugins, o Options) engine.Config {
	thirty := int32(30)
	batch := simProfileNamed(batchProfile, p)
	batch.PercentageOfNodesToScore = &thirty
	batch.Plugins[indexOf(&batch, plugins.NodeResourcesFit)].Except = []extpoints.Point{"Score"}
	probe := extpoints.Profile{Name: probeProfile}
	for _, name := range []string{plugins.SchedulingGates, plugins.PrioritySort, plugins.DefaultBinder} {
		probe.Plugins = append(probe.Plugins, extpoints.Entry{Name: name, New: plugins.Default()[name]})
	}
	add(&probe, p.probe, extpoints.Before(plugins.DefaultBinder))
	first := simProfileNamed(simProfile, p)
	if o.Measured {
		useMeasures(&first, &batch)
	}
	if o.networked(p.plan.Seed) {
		useNetwork(&first, &batch)
	}
	if o.byApps(p.plan.Seed) {
		sortByApps(&first, &batch, &probe)
	}
	path := engine.FastPathAuto // whose decisions the invariants and the replay check as well
	if p.plan.Seed%3 == 0 {
		path = engine.FastPathVerify
	}
	order := engine.OrderBySort
	if o.Queues {
		order = engine.OrderByQueues
	}
	return engine.Config{
		Order: order, Profiles: []extpoints.Profile{first, batch, probe},
		Workers: o.Workers, TieBreak: o.TieBreak, Seed: p.plan.Seed,
		Compat: o.Compat, FastPath: path,
	}
}

// simProfileNamed is the default profile with the plugins of the simulation
// before the binder.
func simProfileNamed(name string, p simPlugins) extpoints.Profile {
	profile := plugins.DefaultProfile()
	profile.Name = name
	binder := extpoints.Before(plugins.DefaultBinder)
	add(&profile, p.rounds.Plugin(0), extpoints.Before(plugins.SchedulingGates))
	if p.faulty() {
		extpoints.Use(&profile, p.plan.New, extpoints.NoArgs{}, binder)
	}
	extpoints.Use(&profile, faults.NewNominate, extpoints.NoArgs{}, binder)
	extpoints.Use(&profile, func(none extpoints.NoArgs, h extpoints.Handle) (extpoints.Plugin, error) {
		p.handle.Handle = h
		return faults.NewHold(none, h)
	}, extpoints.NoArgs{}, binder)
	add(&profile, p.rounds.Plugin(1), binder)
	profile.Plugins = append(profile.Plugins, extpoints.Entry{Name: plugins.NodeHolds, New: plugins.Default()[plugins.NodeHolds]})
	return profile
}

// useMeasures adds the plugins that go by what nodes report. In the second profile a report of zones is good for ever.
func useMeasures(first, second *extpoints.Profile) {
	use := func(p *extpoints.Profile, name string, weight int32, args any) {
		p.Plugins = append(p.Plugins, extpoints.Entry{Name: name, New: plugins.Default()[name], Args: args, Weight: weight})
	}
	use(first, plugins.NodeResourceTopologyMatch, 2, noderesourcetopologymatch.Args{MaxAge: oldestZones})
	use(first, plugins.LoadAwareScheduling, 1, loadawarescheduling.Args{MaxAge: oldestLoad, Thresholds: map[string]int64{model.CPU: busyCPU}})
	use(second, plugins.NodeResourceTopologyMatch, 1, noderesourcetopologymatch.Args{Strategy: noderesourcetopologymatch.LeastNUMANodes})
	use(second, plugins.TargetLoadPacking, 1, targetloadpacking.Args{})
	use(second, plugins.LoadVariationRiskBalancing, 2, loadvariationriskbalancing.Args{MaxAge: oldestLoad})
}

// networkName is the name of what the network costs, and of the inputs about it.
const networkName = "network"

// networked reports whether the history has applications and costs of the network: by the seed itself, so that the
// choices of the others are what they were.
func (o *Options) networked(seed uint64) bool {
	return o.Measured && seed%5 > 1 && !slices.Contains(o.Without, networkName)
}

// byApps reports whether the queue is sorted by applications.
func (o *Options) byApps(seed uint64) bool { return o.networked(seed) && seed%5 > 2 && !o.Queues }

// useNetwork adds the plugin that goes by what the network costs, before others that reject much.
func useNetwork(profiles ...*extpoints.Profile) {
	for _, p := range profiles {
		entry := extpoints.Entry{Name: plugins.NetworkOverhead, New: plugins.Default()[plugins.NetworkOverhead], Weight: 3}
		p.Plugins = slices.Insert(p.Plugins, indexOf(p, plugins.NodeResourcesFit), entry)
	}
}

// sortByApps replaces the order of the queue, which all profiles must have in common.
func sortByApps(profiles ...*extpoints.Profile) {
	for _, p := range profiles {
		p.Plugins[indexOf(p, plugins.PrioritySort)] = extpoints.Entry{Name: plugins.TopologicalSort, New: plugins.Default()[plugins.TopologicalSort]}
	}
}

// indexOf is where the plugin is in the profile.
func indexOf(p *extpoints.Profile, name string) int {
	return slices.IndexFunc(p.Plugins, func(e extpoints.Entry) bool { return e.Name == name })
}

// add adds a plugin that has been made.
func add(p *extpoints.Profile, plugin extpoints.Plugin, options ...extpoints.Option) {
	extpoints.Use(p, func(extpoints.NoArgs, extpoints.Handle) (extpoints.Plugin, error) { return plugin, nil }, extpoints.NoArgs{}, options...)
}

// deafWorld is the orchestrator of a replay, which asks nothing of it.
type deafWorld struct{}

var errReplayed = errors.New("a replay runs no tasks")

// Bind implements [extpoints.Orchestrator].
func (deafWorld) Bind(context.Context, *model.Workload, model.Binding) error { return errReplayed }

// BindVolumes implements [extpoints.VolumeBinder].
func (deafWorld) BindVolumes(context.Context, *model.Workload, model.Binding) error {
	return errReplayed
}

// BindDevices implements [extpoints.DeviceBinder].
func (deafWorld) BindDevices(context.Context, *model.Workload, model.Binding) error {
	return errReplayed
}

// ReleaseDevices implements [extpoints.DeviceReleaser].
func (deafWorld) ReleaseDevices(context.Context, *model.DeviceClaim, *model.DeviceClaim) error {
	return errReplayed
}

// Evict implements [extpoints.Orchestrator].
func (deafWorld) Evict(context.Context, *model.Workload, string) error { return errReplayed }

// EventLines returns a listener that adds every event to the list, as a line
// with everything in it that can differ.
func EventLines(list *[]string) engine.Listener {
	add := func(at time.Time, format string, args ...any) {
		*list = append(*list, at.UTC().Format("15:04:05.000 ")+fmt.Sprintf(format, args...))
	}
	moved := func(word string) func(engine.QueuedEvent) {
		return func(e engine.QueuedEvent) {
			add(e.At, "%s %s: %v to %v by %s (%v)", word, e.ID, e.From, e.To, e.Plugin, e.Event)
		}
	}
	placed := func(e engine.PlacedEvent) {
		decided, _ := json.Marshal(e.Binding.Decided)
		add(e.At, "%s %s: %s %v %s", e.Stage, e.Workload.ID, e.Binding.Node, e.Binding.Devices, decided)
	}
	leaves := func(e engine.LeavingEvent) { add(e.At, "%s %s: %v %s", e.Stage, e.Workload.ID, e.Phase, e.Node) }
	return engine.Listener{
		Submitted: func(e engine.SubmittedEvent) { add(e.At, "submitted %s", e.Workload.ID) },
		Gated:     moved("gated"),
		Enqueued:  moved("enqueued"),
		Popped:    func(e engine.PoppedEvent) { add(e.At, "popped %s: %d", e.Workload.ID, e.Attempt) },
		Filtered: func(e engine.FilteredEvent) {
			add(e.At, "filtered %s: %d of %d", e.Workload.ID, e.Feasible, e.Evaluated)
		},
		Scored:    func(e engine.ScoredEvent) { add(e.At, "scored %s: %d, best %d", e.Workload.ID, e.Nodes, e.Best) },
		Selected:  func(e engine.SelectedEvent) { add(e.At, "selected %s: %s of %d", e.Workload.ID, e.Node, e.Ties) },
		Reserved:  placed,
		Waiting:   func(e engine.WaitingEvent) { add(e.At, "waiting %s: %v until %v", e.Workload.ID, e.Plugins, e.Until) },
		Permitted: placed,
		Bound:     placed,
		Confirmed: placed,
		Rejected: func(e engine.RejectedEvent) {
			add(e.At, "rejected %s: %v by %v: %s (%v), nominated %q", e.Workload.ID, e.Code, e.Plugins, e.Message, e.Err, e.Nominated)
		},
		Decided: func(e engine.GroupEvent) {
			add(e.At, "decided %s: %v, %d placed, %d not: %s", e.Group.ID, e.Code, e.Placed, e.Unplaced, e.Message)
		},
		Evicting:     func(e engine.EvictingEvent) { add(e.At, "evicting %s: %s, %s", e.Workload.ID, e.Node, e.Reason) },
		LimitReached: func(e engine.LimitReachedEvent) { add(e.At, "limitreached %s %s", e.Limit.Name, e.Principal) },
		Unnominated:  func(e engine.UnnominatedEvent) { add(e.At, "unnominated %s: %s", e.Workload.ID, e.Node) },
		Terminating:  leaves,
		Finished:     leaves,
		Requeued:     leaves,
		Removed:      leaves,
		Misused:      func(e engine.MisusedEvent) { add(e.At, "misused %s: %s", e.Workload.ID, e.Message) },
		Failed:       func(e engine.FailedEvent) { add(e.At, "failed %s: %v", e.Workload, e.Err) },
	}
}
