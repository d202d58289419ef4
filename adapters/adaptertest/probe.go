package adaptertest

import (
	"context"
	"sync"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins"
	"github.com/berth-project/berth/queue"
)

// binder stands between the engine and the adapter's Bind: it passes the call
// on, late, twice or never, and gives whatever answer the check wants.
type binder func(ctx context.Context, o extpoints.Orchestrator, w *model.Workload, b model.Binding) error

// straight passes the call on and does nothing else.
func straight(ctx context.Context, o extpoints.Orchestrator, w *model.Workload, b model.Binding) error {
	return o.Bind(ctx, w, b)
}

// probe is the kit's own plugin, the only Bind plugin of its profile. Being a
// plugin it can put faults in front of any adapter without the adapter's help.
type probe struct {
	handle extpoints.Handle

	mu     sync.Mutex
	binder binder
	barred map[string]bool // names of workloads that no node is good for

	// nameless is closed when a workload without a name is seen.
	nameless chan struct{}
	once     sync.Once
}

const probeName = "AdapterProbe"

var (
	_ extpoints.BindPlugin   = (*probe)(nil)
	_ extpoints.FilterPlugin = (*probe)(nil)
)

// Name is the plugin's name.
func (*probe) Name() string { return probeName }

// Bind does what the check's binder does.
func (p *probe) Bind(ctx context.Context, _ *extpoints.CycleState, w *extpoints.WorkloadInfo, b *model.Binding) *extpoints.Status {
	p.mu.Lock()
	bind := p.binder
	p.mu.Unlock()
	return extpoints.AsStatus(bind(ctx, p.handle.Orchestrator(), w.Workload, *b))
}

// Filter keeps the barred workloads out.
func (p *probe) Filter(_ *extpoints.CycleState, w *extpoints.WorkloadInfo, _ *extpoints.NodeInfo) *extpoints.Status {
	if w.Name == "" {
		p.once.Do(func() { close(p.nameless) })
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.barred[w.Name] {
		return extpoints.NewStatus(extpoints.Unschedulable, "barred by the check")
	}
	return nil
}

// bar keeps the workloads from being placed from now on.
func (p *probe) bar(names ...string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, name := range names {
		p.barred[name] = true
	}
}

// config is an engine's configuration with the probe in it. Backoffs are short,
// for the sake of those that run in real time.
func (p *probe) config() (engine.Config, error) {
	// The default profile's name, so that workloads which say nothing else
	// are in it whatever the adapter writes into their Profile.
	profile := extpoints.Profile{Name: plugins.DefaultProfileName}
	factories := plugins.Default()
	for _, name := range []string{
		plugins.PrioritySort, plugins.SchedulingGates, plugins.NodeName, plugins.NodeUnschedulable,
		plugins.TaintToleration, plugins.NodeAffinity, plugins.NodePorts, plugins.NodeResourcesFit,
	} {
		profile.Plugins = append(profile.Plugins, extpoints.Entry{Name: name, New: factories[name]})
	}
	extpoints.Use(&profile, func(_ extpoints.NoArgs, h extpoints.Handle) (*probe, error) {
		p.handle = h
		return p, nil
	}, extpoints.NoArgs{})
	return engine.Config{
		Profiles: []extpoints.Profile{profile},
		Queue: queue.Timing{
			InitialBackoff: shortBackoff, MaxBackoff: 4 * shortBackoff, OrderingWindow: shortBackoff,
		},
		DrainTimeout: deadline,
	}, nil
}
