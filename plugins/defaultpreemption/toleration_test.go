package defaultpreemption

import (
	"testing"
	"time"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/extpoints/extpointstest"
	"github.com/berth-project/berth/model"
)

// Known answers of the upstream plugin: preemption_toleration_test.go, all rows (commit 903da7df): a victim
// of a class with a minimum and a time, placed a while ago, and a preemptor of a priority.
func TestKnownProtections(t *testing.T) {
	const classes = "what annotations mean is the adapter's affair, see package convert of the one for Kubernetes"
	const s = time.Second
	for _, c := range []struct {
		name     string
		minimum  int32
		lasts    time.Duration
		placed   time.Duration // ago
		priority int32
		want     bool
		leftOut  string
	}{
		{name: "a class that is not there", leftOut: "an error there; here its workloads tolerate nothing, see the adapter's priorityclasses_test.go"},
		{name: "a minimum that is no number", leftOut: classes},
		{name: "a time that is no number", leftOut: classes},
		{name: "by one who never preempts", want: true, leftOut: "such a one has no victims, whoever they are"},
		{name: "no annotations, and a lower priority", minimum: 2, priority: 2},
		{name: "no annotations, and a higher priority", minimum: 4, priority: 2, want: true, leftOut: "whoever is no less important is no victim; there it is exempt for it has not been placed"},
		{name: "above the minimum", minimum: 200, priority: 201},
		{name: "the minimum itself", minimum: 200, priority: 200},
		{name: "below the minimum, and no time", minimum: 200, priority: 199},
		{name: "for good", minimum: 200, lasts: -s, placed: 1 << 62, priority: 199, want: true},
		{name: "after the time", minimum: 200, lasts: 100 * s, placed: 101 * s, priority: 199},
		{name: "within the time", minimum: 200, lasts: 100 * s, placed: 10 * s, priority: 199, want: true},
	} {
		if c.leftOut != "" {
			continue
		}
		toleration := &model.PreemptionToleration{MinPriority: c.minimum, For: c.lasts}
		if got := protects(toleration, c.priority, now.Add(-c.placed), now); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// By the upstream rules: a victim of a class of value 8000, placed a while ago, with the
// class's minimum and time, and a preemptor of a priority.
func TestProtects(t *testing.T) {
	const hour, forever = time.Hour, -time.Second
	for _, c := range []struct {
		name     string
		minimum  int32
		lasts    time.Duration
		placed   time.Duration // ago; negative: it has no time
		priority int32
		want     bool
	}{
		{"within the time", 10000, hour, 59 * time.Minute, 9999, true},
		{"a moment before its end", 10000, hour, hour - 1, 9999, true},
		{"at its end", 10000, hour, hour, 9999, false},
		{"after it", 10000, hour, 2 * hour, 9999, false},
		{"the minimum itself, at once", 10000, hour, 0, 10000, false},
		{"above the minimum", 10000, hour, 0, 10001, false},
		{"for good", 10000, forever, 1000 * hour, 9999, true},
		{"for good, but not from the minimum on", 10000, forever, 0, 10000, false},
		{"no annotations", 8001, 0, 0, 9999, false},
		{"a minimum and no time", 10000, 0, 0, 9999, false},
		{"no toleration at all", 0, 0, 0, 9999, false},
		{"no time of placement is now", 10000, hour, -1, 9999, true},
		{"and no time to tolerate is over by then", 10000, 0, -1, 9999, false},
	} {
		var placed time.Time
		if c.placed >= 0 {
			placed = now.Add(-c.placed)
		}
		toleration := &model.PreemptionToleration{MinPriority: c.minimum, For: c.lasts}
		if got := protects(toleration, c.priority, placed, now); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// tolerant protects the workload for good from priorities below the minimum.
func tolerant(w *extpoints.WorkloadInfo, minimum int32) *extpoints.WorkloadInfo {
	w.PreemptionToleration = model.PreemptionToleration{MinPriority: minimum, For: -1}
	return w
}

// Which victims have to leave the node n1 of 1000 so that a workload of priority 5 fits: with
// tolerations, and by DefaultPreemption, which does not look at them.
func TestVictimsThatAreProtected(t *testing.T) {
	none := "UnschedulableAndUnresolvable: No preemption victims found for incoming workload"
	for _, c := range []struct {
		name      string
		groups    []string
		on        works
		other     *extpoints.NodeInfo
		want      string
		otherwise string // by DefaultPreemption
	}{
		{"the protected one stays", nil, works{tolerant(on("a", 1, 500, 1), 6), on("b", 4, 500, 1)}, nil, "b", "a"},
		{"protected from lower ones only", nil, works{tolerant(on("a", 1, 500, 1), 5), on("b", 4, 500, 1)}, nil, "a", "a"},
		{"nobody is left", nil, works{tolerant(on("a", 1, 900, 1), 6)}, nil, none, "a"},
		{"a member of a group", []string{"g - 1"}, works{in("g", tolerant(on("a", 1, 500, 1), 6)), in("g", on("b", 1, 500, 1))}, nil, "b", "b"},
		{"one member protects a group that leaves as one", []string{"g - 1 all"}, works{in("g", on("a", 1, 500, 1)), on("b", 4, 500, 1)},
			node("n2", 1000, in("g", tolerant(on("c", 1, 500, 1), 6))), "b", "a c"},
	} {
		nodes := infos{node("n1", 1000, c.on...)}
		if c.other != nil {
			nodes = append(nodes, c.other)
		}
		view := extpointstest.NewView(nodes...)
		view.GroupList = groups(c.groups...)
		s := extpoints.NewCycle(extpoints.CycleOptions{Context: t.Context(), View: view, Now: now, Seed: 1}).State()
		for tolerations, want := range map[bool]string{true: c.want, false: c.otherwise} {
			trial := newTrial(&extpointstest.Preemption{Filters: fits}, s, on("w", 5, 300, 0), nil)
			trial.possible.tolerations = tolerations
			victims, st := trial.victimsOn(nodes[0])
			got := st.String()
			if st == nil {
				got = ids(victims.Workloads)
			}
			if got != want {
				t.Errorf("%s (tolerations %v): %s, want %s", c.name, tolerations, got, want)
			}
		}
	}
}

func TestContractOfPreemptionToleration(t *testing.T) {
	extpointstest.TestPlugin(t, extpointstest.Suite{
		Name: PreemptionTolerationName, Factory: extpoints.FactoryOf(NewPreemptionToleration), Handle: preempting, Random: withVictims,
		OneSided: nothingUnderWay,
	})
}
