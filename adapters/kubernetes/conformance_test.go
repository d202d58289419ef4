package kubernetes_test

import (
	"testing"

	"github.com/berth-project/berth/adapters/adaptertest"
	"github.com/berth-project/berth/adapters/kubernetes/internal/kubetest"
)

// The kit passes over an API server in memory. (Over a real one: module e2e.)
func TestConformance(t *testing.T) {
	adaptertest.Run(t, func(tb adaptertest.TB) adaptertest.Harness { return kubetest.NewWorld(tb, kubetest.NewServer()) })
}
