package scenario

import (
	"context"
	"maps"
	"testing"
	"time"

	"github.com/berth-project/berth/adapters/kubernetes/e2e/cluster"
	"github.com/berth-project/berth/adapters/kubernetes/e2e/controlplane"
)

// Env is what a scenario has: an empty cluster, and a kind of scheduler to start.
type Env struct {
	*cluster.Cluster
	Plane *controlplane.ControlPlane // the control plane that Cluster is connected to
	Kind  controlplane.SchedulerKind // of the schedulers that Schedule starts
}

// Scenario is one story.
type Scenario struct {
	Name string // "what it is about/what holds"
	// Groups says that it needs the API of pod groups, which is off by default.
	Groups bool
	// Berth says that it is about what berth-scheduler alone can do.
	Berth bool
	// Long says that it is left out of short runs.
	Long bool
	// Run starts the schedulers that it needs, and fails the test where something does not hold.
	Run func(t *testing.T, e *Env)
}

// logLines is how much of a scheduler's log is shown when a scenario fails.
const logLines = 40

// Schedule starts a scheduler with the configuration, which is the default one but
// for the part given (see [controlplane.SchedulerOptions]). It runs until the end of
// the test.
func (e *Env) Schedule(t *testing.T, config string) *controlplane.Scheduler {
	t.Helper()
	return e.ScheduleWith(t, controlplane.SchedulerOptions{Config: config})
}

// ScheduleWith starts a scheduler with options. Their kind is the environment's, and
// the user is kube-scheduler's own if they name no other.
func (e *Env) ScheduleWith(t *testing.T, o controlplane.SchedulerOptions) *controlplane.Scheduler {
	t.Helper()
	o.Kind = e.Kind
	if o.Kubeconfig == "" {
		o.Kubeconfig = e.Plane.Kubeconfig(controlplane.SchedulerUser)
	}
	s, err := controlplane.StartScheduler(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the end of the log of %s:\n%s", s.Kind, s.Tail(logLines))
		}
		s.Remove()
	})
	return s
}

// Controllers starts a controller manager with the named controllers, until the end
// of the test.
func (e *Env) Controllers(t *testing.T, names ...string) {
	t.Helper()
	if err := e.Plane.StartControllerManager(t.Context(), names...); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.stop(t, controlplane.ControllerManager) })
}

// Kubelets starts kwok, until the end of the test: bound pods run, and deleted ones
// go.
func (e *Env) Kubelets(t *testing.T) {
	t.Helper()
	if err := e.Plane.StartKwok(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.stop(t, controlplane.Kwok) })
}

func (e *Env) stop(t *testing.T, p controlplane.Program) {
	if t.Failed() {
		t.Logf("the end of the log of %s:\n%s", p, e.Plane.Process(p).Tail(logLines))
	}
	e.Plane.StopProgram(p)
}

// wipePatience bounds how long the cluster takes to become empty.
const wipePatience = 2 * time.Minute

// run runs a scenario, shows the cluster if it fails, and empties it.
func (e *Env) run(t *testing.T, s Scenario) {
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), wipePatience)
		defer cancel()
		if err := e.Wipe(ctx); err != nil {
			t.Errorf("the cluster cannot be emptied: %v", err)
		}
	})
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the cluster:\n%s", e.Dump())
		}
	})
	s.Run(t, e)
}

// Users that may do nothing but what a scenario lets them.
const (
	operator = "operator"
	stranger = "stranger"
)

// plane says what the control plane of a scenario is.
func plane(groups bool) controlplane.Options {
	o := controlplane.Options{Users: []controlplane.User{{Name: operator}, {Name: stranger}}, FeatureGates: maps.Clone(comparisons)}
	if groups {
		maps.Copy(o.FeatureGates, groupGates)
		o.RuntimeConfig = []string{"scheduling.k8s.io/v1beta1=true", "scheduling.k8s.io/v1alpha3=true"}
	}
	return o
}

// comparisons is the gate of tolerations that compare numbers. The API server always has
// it, and lets them in; what they mean is for the scheduler's gate to say.
var comparisons = map[string]bool{"TaintTolerationComparisonOperators": true}

// groupGates are those that pod groups need, in the API server and the scheduler.
var groupGates = map[string]bool{
	"GenericWorkload":                 true,
	"TopologyAwareWorkloadScheduling": true,
	"CompositePodGroup":               true,
}

// Run runs those of the scenarios that the flags of the test ask for, one after the
// other, with a control plane for those without and one for those with groups.
func Run(t *testing.T, kind controlplane.SchedulerKind, all []Scenario) {
	for _, groups := range []bool{false, true} {
		var e *Env // started by the first scenario that runs
		for _, s := range all {
			if s.Groups != groups {
				continue
			}
			ok := t.Run(s.Name, func(t *testing.T) {
				switch {
				case s.Long && testing.Short():
					t.Skip("it takes long")
				case s.Berth && kind != controlplane.Berth:
					t.Skip("kube-scheduler cannot do it")
				}
				if e == nil {
					e = connect(t, kind, groups)
				}
				e.run(t, s)
			})
			if !ok && e == nil {
				return // nothing would start for the others either
			}
		}
		if e != nil {
			e.Close()
			e.Plane.Stop()
		}
	}
}

// connect starts a control plane. It must be stopped by the caller, because it
// outlives the test that starts it.
func connect(t *testing.T, kind controlplane.SchedulerKind, groups bool) *Env {
	t.Helper()
	p, err := controlplane.Start(t.Context(), plane(groups))
	if err != nil {
		t.Fatal(err)
	}
	c, err := cluster.Connect(t.Context(), p.Config(controlplane.AdminUser))
	if err != nil {
		p.Stop()
		t.Fatal(err)
	}
	return &Env{Cluster: c, Plane: p, Kind: kind}
}
