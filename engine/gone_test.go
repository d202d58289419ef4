package engine_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/model/modeltest"
)

// goneMark is in every name of what comes and goes.
const goneMark = "~"

// generation are objects of all kinds under names of their own, which are made, used and
// removed again.
type generation struct {
	n    int
	rich bool // in ways to end
}

func (g generation) name(what string) string { return fmt.Sprintf("%s%s%d", what, goneMark, g.n) }

func (g generation) node() *model.Node {
	n := modeltest.Node(g.name("node")).Zone(g.name("zone")).Build()
	n.Allocatable = model.Resources{CPU: 1000, Memory: 1 << 40}
	if g.rich {
		n.Allocatable.Set("example.com/"+g.name("scalar"), 10)
	}
	n.Labels["rack"] = g.name("rack")
	n.Taints = []model.Taint{{Key: g.name("taint"), Effect: model.PreferNoSchedule}}
	n.Images = []model.NodeImage{{Names: []string{g.name("image")}, Size: 1 << 30}}
	n.Devices = []model.Device{{Class: "gpu", Model: g.name("model")}}
	return n
}

func (g generation) objects() []model.Object {
	own := modeltest.DeviceSlice("own.example.com", g.name("pool")).Node(g.name("node")).Device(g.name("device"), modeltest.Attribute("kind", g.name("kind"))).Build()
	zoned := modeltest.DeviceSlice("zone.example.com", g.name("zonepool")).Nodes(model.Requirement{Key: "rack", Operator: model.In, Values: []string{g.name("rack")}}).Devices(1).Build()
	return []model.Object{
		own, zoned,
		modeltest.DeviceClass(g.name("class"), modeltest.Require("kind", model.CompareEqual, g.name("kind"))),
		modeltest.DeviceClaim(g.name("claim")).Request("r", g.name("class"), 1).Build(),
		modeltest.DeviceClaim(g.name("hopeless")).Request("r", g.name("class"), 7).Build(),
		modeltest.DeviceClaim(g.name("wide")).Request("r", "wide", 1).Build(),
		&model.DeviceTaintRule{ID: g.name("rule"), Pool: g.name("elsewhere"), Taint: model.Taint{Key: g.name("key"), Effect: model.NoExecute}},
		&model.StorageClass{Name: g.name("storage"), Provisioner: model.NoProvisioner, Binding: model.BindWhenConsumed},
		&model.VolumeClaim{ID: g.name("pvc"), Namespace: g.name("namespace"), Class: g.name("storage"), Request: 1, AccessModes: []model.AccessMode{model.ReadWriteOnce}},
		&model.Volume{Name: g.name("pv"), Class: g.name("storage"), Capacity: 1, AccessModes: []model.AccessMode{model.ReadWriteOnce}},
		&model.NodeStorage{Node: g.name("node")},
		&model.NodeLoad{Node: g.name("node"), At: epoch},
		&model.Hold{Name: g.name("hold"), From: epoch.Add(1000 * time.Hour), Until: epoch.Add(2000 * time.Hour), Nodes: []string{g.name("node")}},
		&model.Queue{Name: g.name("queue")},
		&model.Principal{Name: g.name("principal")},
		&model.Limit{Name: g.name("limit"), Queue: g.name("queue"), Scope: model.LimitOwn, Measure: model.LimitRunning, Amount: 1000},
	}
}

func (g generation) workload(what string, cpu int64) *model.Workload {
	w := &model.Workload{
		ID: g.name(what), Namespace: g.name("namespace"), Labels: map[string]string{"app": g.name("app"), g.name("label"): ""},
		Requests: model.Resources{CPU: cpu}, Images: []string{g.name("image")}, Queue: g.name("queue"), Principal: g.name("principal"),
		Ports: []model.HostPort{{IP: g.name("address"), Port: 80}}, Tolerations: []model.Toleration{{Key: g.name("taint"), Operator: model.Exists}},
		Priority: 1,
	}
	if g.rich {
		w.Requests.Set("example.com/"+g.name("scalar"), 1)
	}
	w.Spread = []model.SpreadConstraint{{TopologyKey: "rack", MaxSkew: 100, Mode: model.SpreadRequired, Selector: selecting(g.name("app"))}}
	w.Affinity = &model.WorkloadAffinity{Preferred: []model.WeightedAffinityTerm{{Weight: 1, AffinityTerm: model.AffinityTerm{TopologyKey: "rack", Selector: selecting(g.name("app"))}}}}
	w.AntiAffinity = &model.WorkloadAffinity{Required: []model.AffinityTerm{{TopologyKey: "rack", Selector: selecting(g.name("foe"))}}}
	w.NodeAffinity = &model.NodeAffinity{Required: &model.NodeTerms{Terms: []model.NodeTerm{{Labels: []model.Requirement{{Key: "rack", Operator: model.NotIn, Values: []string{g.name("other")}}}}}}}
	return w
}

// workloads are there for all that may become of one.
func (g generation) workloads() []*model.Workload {
	fits := g.workload("fits", 100)
	fits.DeviceClaims = []model.DeviceClaimRef{{Name: "a", ID: g.name("claim")}, {Name: "b", ID: g.name("wide")}}
	fits.VolumeClaims = []model.VolumeClaimRef{{ID: g.name("pvc")}}
	if !g.rich {
		fits.Group = g.name("group")
		return []*model.Workload{fits}
	}
	hopeless := g.workload("hopeless", 100)
	hopeless.DeviceClaims, hopeless.Ports = []model.DeviceClaimRef{{Name: "a", ID: g.name("hopeless")}}, nil
	big, gated, lacking := g.workload("big", 5000), g.workload("gated", 1), g.workload("lacking", 1)
	gated.Gates, lacking.DeviceClaims = []string{g.name("gate")}, []model.DeviceClaimRef{{Name: "a", ID: g.name("missing")}}
	member, first := g.workload("member", 100), g.workload("first", 100)
	member.Group, first.Group, member.Ports, first.Ports = g.name("group"), g.name("gang"), nil, nil
	gpu := g.workload("gpu", 1)
	gpu.Devices, gpu.Ports = []model.DeviceRequest{{Class: "gpu", Count: 1, Share: 500, Models: []string{g.name("model")}}}, nil
	above := g.workload("above", 900) // makes room
	above.Priority, above.Ports = 10, nil
	return []*model.Workload{fits, hopeless, big, gated, lacking, member, first, gpu, above}
}

// come makes it all, and has the workloads tried.
func (g generation) come(t *testing.T, r *engine.Raw, now time.Time) {
	changes := []engine.Change{
		engine.PutNode(g.node()), engine.PutNamespace(&model.Namespace{Name: g.name("namespace"), Labels: map[string]string{g.name("label"): ""}}),
		engine.PutGroup(&model.Group{ID: g.name("group"), Policy: model.Gang, MinCount: 1}),
		engine.PutGroup(&model.Group{ID: g.name("gang"), Policy: model.Gang, MinCount: 2}),
		engine.PutBudget(&model.Budget{ID: g.name("budget"), Namespace: g.name("namespace"), Selector: selecting(g.name("app"))}),
	}
	for _, o := range g.objects() {
		changes = append(changes, engine.PutObject(o))
	}
	require.NoError(t, r.Apply(now, changes...))
	for _, w := range g.workloads() {
		require.NoError(t, r.Apply(now, engine.Submit(w)))
		settle(r, now)
	}
}

// goes removes it all.
func (g generation) goes(t *testing.T, r *engine.Raw, now time.Time) {
	changes := []engine.Change{
		engine.RemoveNode(g.name("node")), engine.RemoveNamespace(g.name("namespace")), engine.RemoveGroup(g.name("group")), engine.RemoveGroup(g.name("gang")),
		engine.RemoveBudget(g.name("budget")),
	}
	for _, w := range g.workloads() {
		changes = append(changes, engine.Remove(w.ID))
	}
	for _, o := range g.objects() {
		changes = append(changes, engine.RemoveObject(model.RefOf(o)))
	}
	require.NoError(t, r.Apply(now, changes...))
	settle(r, now)
}

// bounded says of what may be left where, how much at most: caches of what was used last,
// which are not by name, and rows that are on their way to the tables.
var bounded = map[string]int{
	".core.handed":                      64,       // the last object of each verb
	".key":                              2 * 1024, // the fast decider has a key, twice, of each class that it has seen last
	".core.rec.Store.current.recent":    64 * 1024,
	".allocator.selectors.numbers{key}": 512,
	".core.rec.Store.frozen":            1 << 30, // the build berth_invariants compares with all that there ever was
}

// What the engine, the queue and the plugins remember ends with what it is about: whatever
// comes and goes under new names, nothing of it is left.
func TestNothingIsLeftOfWhatIsGone(t *testing.T) {
	n := 5_000 // shows what has no bound; -long is beyond all bounds
	switch {
	case *long:
		n = 50_000
	case testing.Short():
		n = 500
	}
	for _, order := range []engine.Order{engine.OrderBySort, engine.OrderByQueues} {
		t.Run(fmt.Sprint(order), func(t *testing.T) {
			cfg := config(forgetful{})
			cfg.Order, cfg.FastPath = order, engine.FastPathAuto
			cfg.RememberDecisions = -1 // what it remembers is a number of decisions
			r, err := engine.NewRaw(cfg)
			require.NoError(t, err)
			require.NoError(t, r.Apply(epoch,
				engine.PutNode(&model.Node{Name: "stays", Allocatable: model.Resources{CPU: 10}}),
				engine.PutObject(modeltest.DeviceClass("wide", modeltest.Require("kind", model.CompareEqual, "wide"))),
				engine.PutObject(modeltest.DeviceSlice("wide.example.com", "wide").AllNodes().Devices(8, modeltest.Attribute("kind", "wide")).Build()),
			))
			const together = 4
			of := func(i int) generation { return generation{n: i, rich: i%100 < 2} }
			now := epoch
			for i := range n {
				now = now.Add(time.Second)
				r.Tick(now)
				of(i).come(t, r, now)
				if i >= together {
					of(i-together).goes(t, r, now)
				}
			}
			for i := n - together; i < n; i++ {
				of(i).goes(t, r, now)
			}
			last(t, r, now.Add(time.Hour))
			left := map[string]int{}
			found := textsIn(r, goneMark)
			for _, path := range slices.Sorted(maps.Keys(found)) {
				where := path
				for part := range bounded {
					if strings.Contains(path, part) {
						where = part
					}
				}
				if left[where] += len(found[path]); left[where] > bounded[where] {
					t.Errorf("%d at %s: %.60q", len(found[path]), path, found[path][0])
				}
			}
		})
	}
}

// forgetful is an orchestrator that does what it is asked and remembers nothing.
type forgetful struct{}

func (forgetful) Bind(context.Context, *model.Workload, model.Binding) error { return nil }
func (forgetful) Evict(context.Context, *model.Workload, string) error       { return nil }

// last has one more workload tried, which uses devices: what is remembered may be of the
// last decision.
func last(t *testing.T, r *engine.Raw, now time.Time) {
	w := &model.Workload{ID: "last", DeviceClaims: []model.DeviceClaimRef{{Name: "a", ID: "last"}}, Requests: model.Resources{CPU: 1}}
	require.NoError(t, r.Apply(now, engine.PutObject(modeltest.DeviceClaim("last").Request("r", "wide", 1).Build()), engine.Submit(w)))
	r.Tick(now)
	settle(r, now)
}

func selecting(app string) *model.Selector {
	return &model.Selector{Requirements: []model.Requirement{{Key: "app", Operator: model.In, Values: []string{app}}}}
}
