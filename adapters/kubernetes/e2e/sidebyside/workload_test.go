package sidebyside

import (
	"context"
	"testing"
	"time"

	"github.com/berth-project/berth/adapters/kubernetes/e2e/cluster"
	"github.com/berth-project/berth/adapters/kubernetes/e2e/controlplane"
)

// few is with how many nodes the workloads are tried: enough that none is without
// pods, and gangs have room.
const few = 50

// TestWorkloads runs every workload at a size that says nothing about speed, to show
// that each can be run: every measured pod is bound, and there is an event for each.
func TestWorkloads(t *testing.T) {
	kinds := []controlplane.SchedulerKind{controlplane.Berth, controlplane.Kube}
	if testing.Short() {
		kinds = kinds[:1]
	}
	for _, groups := range []bool{false, true} {
		plane, err := controlplane.Start(t.Context(), Workload{groups: groups}.plane())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(plane.Stop)
		for _, w := range Workloads() {
			if w.groups != groups {
				continue
			}
			for _, kind := range kinds {
				t.Run(w.Name+"/"+string(kind), func(t *testing.T) { runOnce(t, plane, kind, w) })
			}
		}
	}
}

func runOnce(t *testing.T, plane *controlplane.ControlPlane, kind controlplane.SchedulerKind, w Workload) {
	t.Cleanup(func() { wipe(t, plane) })
	r, err := measure(t.Context(), plane, kind, w, w.Counts(few))
	if err != nil {
		t.Fatal(err)
	}
	if r.Events != r.Measured {
		t.Errorf("%d events say that measured pods were placed, want %d", r.Events, r.Measured)
	}
	if r.P50 <= 0 || r.P99 < r.P50 || r.CPU <= 0 || r.PeakRSS <= 0 {
		t.Errorf("attempts took %v and %v, the scheduler %v and %d bytes", r.P50, r.P99, r.CPU, r.PeakRSS)
	}
}

// wipe empties the cluster for the next workload.
func wipe(t *testing.T, plane *controlplane.ControlPlane) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	c, err := cluster.Connect(ctx, plane.Config(controlplane.AdminUser))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.Wipe(ctx); err != nil {
		t.Fatal(err)
	}
}

func TestCountsAreInProportion(t *testing.T) {
	for _, tc := range []struct {
		name  string
		nodes int
		want  Counts
	}{
		{"affinity", 1000, Counts{Nodes: 1000, Placed: 1000, Measured: 1000}},
		{"affinity", 5000, Counts{Nodes: 5000, Placed: 5000, Measured: 5000}},
		{"daemonset", 3000, Counts{Nodes: 3000, Measured: most}},                      // of 6,000
		{"gated", 500, Counts{Nodes: 1, Placed: 2000, Waiting: 1000, Measured: 2000}}, // on one node, whatever is asked for
		{"claims", 1000, Counts{Nodes: 100, Placed: 500, Measured: 500}},              // on a tenth of the nodes
		{"topologygangs", 51, Counts{Nodes: 51, Measured: 88}},                        // of 91, in fours
		{"basic", 100, Counts{Nodes: 100, Measured: 500}},                             // as published
		{"preemption", 1000, Counts{Nodes: 1000, Placed: 4000, Measured: 500}},        // as published
		{"finalizers", 1, Counts{Nodes: 1, Waiting: 1, Measured: 1}},                  // never none
	} {
		found, err := Find([]string{tc.name})
		if err != nil {
			t.Fatal(err)
		}
		if got := found[0].Counts(tc.nodes); got != tc.want {
			t.Errorf("%s on %d nodes: %+v, want %+v", tc.name, tc.nodes, got, tc.want)
		}
	}
}
