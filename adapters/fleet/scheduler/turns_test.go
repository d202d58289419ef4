package scheduler

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/queue"
)

// What is too much is told with the units that users write, and not in bytes or thousandths.
func TestHeldWords(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		held queue.Held
		want string
	}{
		{queue.Held{Limit: "m/cpu", Resource: model.CPU, Missing: 1500}, "limit m: job 7 asks for 1.5 cores too much now"},
		{queue.Held{Queue: "q", Quota: queue.QuotaMax, Resource: model.Memory, Missing: 3 << 30}, "queue q may use no more: job 7 asks for 3Gi memory too much now"},
		{queue.Held{Queue: "q", Quota: queue.QuotaMax, Resource: model.Memory, Missing: 1500e6}, "queue q may use no more: job 7 asks for 1500M memory too much now"},
		{queue.Held{Queue: "q", Quota: queue.QuotaBorrow, Resource: model.Memory, Missing: 5<<30 + 1}, "queue q may borrow no more: job 7 asks for 5121Mi memory too much now"},
		{queue.Held{Queue: "q", Quota: queue.QuotaMax, Resource: model.EphemeralStorage, Missing: 1<<40 + 1<<20}, "queue q may use no more: job 7 asks for 1025Gi disk too much now"},
		{queue.Held{Limit: "m/gpu", Resource: gpuClass, Missing: 2500}, "limit m: job 7 asks for 2.5 GPUs too much now"},
		{queue.Held{Limit: "m/tape", Resource: "tape", Missing: 2}, "limit m: job 7 asks for 2 tape too much now"},
		{queue.Held{Limit: "m/hours/memory", Resource: model.Memory, Missing: 1 << 30 * 1800, Seconds: true}, "limit m: job 7 asks for 0.5 GiB-hours too much now"},
		{queue.Held{Limit: "m/running", Missing: 2}, "limit m: job 7 is 2 tasks too many now"},
	} {
		c.held.Workload = "7_0.1.0"
		require.Equal(t, c.want, heldWords(&c.held))
	}
	require.Equal(t, "64307Mi", bytesThere(67_430_993_920), "a node has what the kernel leaves")
	require.Equal(t, "64Gi", bytesThere(64<<30))
	require.Equal(t, "0", bytesThere(0))
}
