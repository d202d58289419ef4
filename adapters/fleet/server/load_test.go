package server

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
	"github.com/berth-project/berth/adapters/fleet/scheduler"
)

// busy is a report of the last minute.
func busyAt(cpu float64) *api.Load {
	s := &api.LoadStats{Average: cpu, P50: cpu, P90: cpu, P95: cpu, P99: cpu}
	return &api.Load{Age: job.Duration(time.Second), Windows: []api.LoadWindow{{Window: job.Duration(time.Minute), CPU: s}}}
}

// An agent that is asked to measures, and its node is shown with what it says: of its own node
// alone, and of the life of the machine that the servers know. What makes no sense is refused
// with a reason, and counts as a heartbeat.
func TestLoadIsReported(t *testing.T) {
	t.Parallel()
	f := begun(t, func(c *Config) { c.Load = scheduler.Load{Policy: "Measure"} })
	n1, o := f.as(nodeN1), f.as(oscar)
	n1.must("POST", "/v1/agent/register", api.Registration{Node: "n1", Boot: "1", Address: "127.0.0.1:1", Machine: api.Machine{CPU: 4000, Memory: 1 << 30}}, nil)
	poll := func(l *api.Load) (out api.PollResponse) {
		t.Helper()
		n1.must("POST", "/v1/agent/poll", api.PollRequest{Node: "n1", Boot: "1", Load: l}, &out)
		return out
	}
	shown := func() *api.Load {
		t.Helper()
		var n api.Node
		o.must("GET", "/v1/nodes/n1", nil, &n)
		var list api.NodeList
		o.must("GET", "/v1/nodes", nil, &list)
		require.Equal(t, n.Load == nil, list.Nodes[0].Load == nil)
		return n.Load
	}
	require.Positive(t, poll(nil).Measure)
	require.Nil(t, shown())
	l := busyAt(37.5)
	l.Tasks = []api.TaskLoad{{Task: job.TaskID{Job: 99, Attempt: 1}, CPU: 1000}}
	require.Empty(t, poll(l).LoadRefused)
	got := shown()
	require.Equal(t, l.Windows, got.Windows)
	require.Empty(t, got.Tasks)
	require.GreaterOrEqual(t, got.Age, l.Age)

	lie := busyAt(-4)
	lie.Windows = append(lie.Windows, api.LoadWindow{})
	refused := poll(lie).LoadRefused
	require.Equal(t, "windows: 1m0s: cpu: -4 % is not between 0 and 101; windows: 0s is not between 0 and 24h0m0s; windows: 0s has nothing", refused)
	require.Equal(t, l.Windows, shown().Windows)

	// Not of another node, nor of another life of the machine.
	n1.refused(http.StatusForbidden, "POST", "/v1/agent/poll", api.PollRequest{Node: "n2", Boot: "1", Load: busyAt(1)})
	var out api.PollResponse
	n1.must("POST", "/v1/agent/poll", api.PollRequest{Node: "n1", Boot: "0", Load: busyAt(1)}, &out)
	require.True(t, out.Unregistered)
	require.Equal(t, l.Windows, shown().Windows)
	// What is no number is not even a request, nor is a time in the future.
	for _, text := range []string{`"age":"1s","windows":[{"window":"1m","cpu":{"average":NaN}}]`, `"age":"1s","windows":[{"window":"1m","cpu":{"average":1e999}}]`,
		`"age":"-1s","windows":[]`, `"age":"1s","window":[]`} {
		n1.refused(http.StatusBadRequest, "POST", "/v1/agent/poll", `{"node":"n1","boot":"1","term":0,"since":0,"load":{`+text+`}}`)
	}
	require.Equal(t, l.Windows, shown().Windows)
	// A report of any size is refused, or what is said of it is short.
	long := busyAt(1)
	for i := range 10_000 {
		long.Tasks = append(long.Tasks, api.TaskLoad{Task: job.TaskID{Job: job.ID(i), Attempt: 1}, CPU: 1e9})
	}
	require.Less(t, len(poll(long).LoadRefused), 2*api.MaxMessage)
	o.must("DELETE", "/v1/nodes/n1", nil, nil)
	n1.must("POST", "/v1/agent/poll", api.PollRequest{Node: "n1", Boot: "1", Load: busyAt(1)}, &out)
	require.True(t, out.Unregistered)
}

// Where the settings do not ask for it agents are not asked, and what comes all the same is
// dropped.
func TestLoadIsNotWanted(t *testing.T) {
	t.Parallel()
	f := begun(t)
	n1 := f.as(nodeN1)
	n1.must("POST", "/v1/agent/register", api.Registration{Node: "n1", Boot: "1", Address: "127.0.0.1:1", Machine: api.Machine{CPU: 4000}}, nil)
	got := n1.ask("POST", "/v1/agent/poll", api.PollRequest{Node: "n1", Boot: "1", Load: busyAt(10)})
	require.Equal(t, http.StatusOK, got.status)
	require.False(t, strings.Contains(string(got.body), "measure") || strings.Contains(string(got.body), "load"), "agents of older versions see nothing new")
	node := f.as(oscar).ask("GET", "/v1/nodes/n1", nil)
	require.NotContains(t, string(node.body), `"load"`)
}

func TestLoadOfConfig(t *testing.T) {
	t.Parallel()
	_, err := New(t.Context(), Config{ID: "s", Dir: t.TempDir(), Listen: "127.0.0.1:0", Load: scheduler.Load{Policy: "Tetris", Weight: 1000}})
	require.ErrorContains(t, err, `Load: policy: "Tetris" is none of those there are: Measure, LoadAware`)
	require.ErrorContains(t, err, "weight: 1000 is not between 1 and 100")
}
