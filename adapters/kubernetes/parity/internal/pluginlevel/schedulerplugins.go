package pluginlevel

import (
	"slices"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"sigs.k8s.io/controller-runtime/pkg/log"
	spconfig "sigs.k8s.io/scheduler-plugins/apis/config"

	"github.com/berth-project/berth/adapters/kubernetes/parity/generate"
	"github.com/berth-project/berth/adapters/kubernetes/parity/internal/differences"
	"github.com/berth-project/berth/adapters/kubernetes/parity/internal/reference"
	"github.com/berth-project/berth/adapters/kubernetes/parity/internal/subject"
	"github.com/berth-project/berth/adapters/kubernetes/parity/internal/twin"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints/extpointstest"
	"github.com/berth-project/berth/plugins"
	"github.com/berth-project/berth/plugins/noderesourcesallocatable"
)

// RunSchedulerPlugins runs one case about plugins of kubernetes-sigs/scheduler-plugins: a
// cluster that changes, and pods that those plugins are asked about.
func RunSchedulerPlugins(seed, number uint64, report *differences.Report, mutation Mutation) error {
	mood := generate.Mood{Nodes: 12, Several: true, Measured: true, Custom: true, Unrelated: true, Tame: number%2 == 1}
	source := generate.New(seed, number, mood)
	t, err := twin.New(source, nowhere(), subject.Config{})
	if err != nil {
		return err
	}
	defer t.Close()
	c := &comparison{beside: beside{Twin: t}, report: report, handle: extpointstest.NewHandle()}
	size := 2 + t.IntN(source.Nodes-3)
	t.Populate(size)
	for range rounds {
		for range 4 + t.IntN(6) {
			t.Disturb(size)
		}
		c.nominate()
		if err := c.remake(mutation); err != nil {
			return err
		}
		c.roundOfCycles()
	}
	return nil
}

// nowhere has plugins make clients of an API server that is not there, and say nothing of them: they
// are given others before they ask it for anything.
func nowhere() reference.Config {
	log.SetLogger(klog.New(log.NullLogSink{}))
	return reference.Config{Options: []scheduler.Option{scheduler.WithKubeConfig(&rest.Config{Host: "nowhere.invalid"})}}
}

// remake makes the pairs, with other arguments each time.
func (c *comparison) remake(mutation Mutation) error {
	m := newMeasurement(c.Source)
	if err := c.tellMeasured(m); err != nil {
		return err
	}
	address, forget := m.serve(time.Now())
	defer forget() // it is asked when a plugin is made
	if err := c.tellCustom(); err != nil {
		return err
	}
	c.pairs = nil
	for _, v := range slices.Concat(ofSchedulerPlugins(c.Source), ofLoads(c.Source, address), ofCustom(c.Source)) {
		p, err := newPair(c.Twin, c.handle, v, mutation)
		if err != nil {
			return err
		}
		c.connect(p.reference)
		c.pairs = append(c.pairs, p)
	}
	return nil
}

// nominate lets a pod wait for a node, which need not be there, and another one wait no more.
func (c *comparison) nominate() {
	if p := c.AnyPod(twin.Waiting); p != nil && c.Percent(40) {
		c.Remove(p)
	}
	p := c.NewPod()
	p.Status.NominatedNodeName = generate.NodeName(c.IntN(c.Source.Nodes))
	c.Put(p)
	c.Subject.Apply(engine.Nominate(string(p.UID), p.Status.NominatedNodeName))
}

// ofSchedulerPlugins are the plugins of kubernetes-sigs/scheduler-plugins.
func ofSchedulerPlugins(s *generate.Source) []variant {
	return []variant{
		allocatable("", spconfig.NodeResourcesAllocatableArgs{Mode: spconfig.Least}),
		allocatable("weights", spconfig.NodeResourcesAllocatableArgs{Mode: generate.Pick(s, spconfig.Least, spconfig.Most), Resources: weights(s, true)}),
		allocatable("sums that wrap around", spconfig.NodeResourcesAllocatableArgs{Mode: generate.Pick(s, spconfig.Least, spconfig.Most),
			Resources: []config.ResourceSpec{{Name: "cpu", Weight: 1 << 40}, {Name: "memory", Weight: 1 << 33}}}),
		{plugin: plugins.PodState},
	}
}

func allocatable(name string, ref spconfig.NodeResourcesAllocatableArgs) variant {
	sub := noderesourcesallocatable.Args{Mode: noderesourcesallocatable.Mode(ref.Mode)}
	for _, r := range ref.Resources {
		sub.Resources = append(sub.Resources, noderesourcesallocatable.ResourceWeight{Name: r.Name, Weight: r.Weight})
	}
	return variant{plugins.NodeResourcesAllocatable, name, &ref, sub}
}
