package kit_test

import (
	"context"
	"testing"
	"time"

	"github.com/berth-project/berth/adapters/adaptertest"
	"github.com/berth-project/berth/adapters/kubernetes/e2e/cluster"
	"github.com/berth-project/berth/adapters/kubernetes/e2e/controlplane"
	"github.com/berth-project/berth/adapters/kubernetes/internal/kubetest"
)

// wipePatience bounds how long the cluster takes to become empty after a check.
const wipePatience = 2 * time.Minute

// The kit passes over a real API server.
func TestConformance(t *testing.T) {
	plane, err := controlplane.Start(t.Context(), controlplane.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer plane.Stop()
	c, err := cluster.Connect(t.Context(), plane.Config(controlplane.AdminUser))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	adaptertest.Run(t, func(tb adaptertest.TB) adaptertest.Harness {
		tb.Cleanup(func() { wipe(tb, c) }) // after the world has ended
		return kubetest.NewWorld(tb, c.Client)
	})
}

// wipe empties the cluster for the next check.
func wipe(tb adaptertest.TB, c *cluster.Cluster) {
	ctx, cancel := context.WithTimeout(context.Background(), wipePatience)
	defer cancel()
	if err := c.Wipe(ctx); err != nil {
		tb.Errorf("the cluster cannot be emptied: %v", err)
	}
}
