package server

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
	"github.com/berth-project/berth/adapters/fleet/state"
)

// sharesText is one line for each share: what it is entitled to and what it uses.
func sharesText(list api.ShareList) string {
	var b strings.Builder
	for _, s := range list.Shares {
		cpu := job.MilliCPU(0)
		if s.Use.CPU != nil {
			cpu = *s.Use.CPU
		}
		fmt.Fprintf(&b, "%s%s/%s w%d %.2f: %s %.3f of %q, %d run, %d wait\n", strings.Repeat(" ", int(s.Depth)), s.Queue, s.User, s.Weight, s.Entitled, cpu, s.Share, s.Dominant, s.Running, s.Waiting)
	}
	return b.String()
}

// Each queue has what weights say and what all below it use, and users divide their queue.
func TestShares(t *testing.T) {
	t.Parallel()
	s := state.New(nil)
	index := uint64(0)
	do := func(c *state.Command) state.Result {
		c.At = time.Unix(1_000_000, 0)
		text, err := c.Encode()
		require.NoError(t, err)
		index++
		r := s.Apply(index, 1, [][]byte{text})[0].(state.Result)
		require.Nil(t, r.Err, "%s", text)
		return r
	}
	submit := func(owner, queue string, cpu int, memory job.Bytes, place bool) {
		spec := job.Spec{Command: []string{"x"}, Queue: queue, Resources: job.Resources{CPU: job.MilliCPU(cpu * 1000), Memory: memory}}
		id := do(&state.Command{Submit: &state.Submit{Specs: []job.Spec{spec.WithDefaults()}, Owner: owner}}).Jobs[0]
		if place {
			do(&state.Command{Place: &state.Place{Task: job.TaskID{Job: id, Attempt: 1}, Node: "n"}})
		}
	}
	do(&state.Command{Register: &api.Registration{Node: "n", Boot: "1", Machine: api.Machine{CPU: 16000, Memory: 100}}})
	submit("ann", "default", 4, 10, true)
	submit("bob", "default", 1, 30, true)
	submit("bob", "default", 1, 0, false)
	require.Equal(t, `default/ w1 1.00: 5 0.400 of "memory", 2 run, 1 wait
 default/ann w1 0.50: 4 0.250 of "cpu", 1 run, 0 wait
 default/bob w1 0.50: 1 0.300 of "memory", 1 run, 1 wait
`, sharesText(shares(s.View(), nil)))
	require.False(t, shares(s.View(), nil).ByQueues)

	do(&state.Command{PutQueue: &api.Queue{Name: "uni", Weight: 3}})
	do(&state.Command{PutQueue: &api.Queue{Name: "art", Parent: "uni"}})
	do(&state.Command{PutQueue: &api.Queue{Name: "lab", Parent: "uni", Weight: 2}})
	do(&state.Command{PutUser: &api.User{Name: "bob", Weight: 4}})
	submit("eve", "lab", 2, 0, true)
	submit("eve", "art", 1, 0, false)
	require.Equal(t, `default/ w1 0.25: 5 0.400 of "memory", 2 run, 1 wait
 default/ann w1 0.05: 4 0.250 of "cpu", 1 run, 0 wait
 default/bob w4 0.20: 1 0.300 of "memory", 1 run, 1 wait
uni/ w3 0.75: 2 0.125 of "cpu", 1 run, 1 wait
 art/ w1 0.25: 0 0.000 of "", 0 run, 1 wait
  art/eve w1 0.25: 0 0.000 of "", 0 run, 1 wait
 lab/ w2 0.50: 2 0.125 of "cpu", 1 run, 0 wait
  lab/eve w1 0.50: 2 0.125 of "cpu", 1 run, 0 wait
`, sharesText(shares(s.View(), nil)))
	require.True(t, shares(s.View(), nil).ByQueues)
}

// What waits is listed in the order in which it goes, with and without a tree of queues, and
// users see the places of their own jobs.
func TestOrder(t *testing.T) {
	t.Parallel()
	f := begun(t)
	a, b, op := f.as(alice), f.as(bob), f.as(oscar)
	f.agent("n1")
	big := func(c *caller, priority int32) job.ID {
		return c.submit(job.Spec{Command: []string{"true"}, Priority: priority, Resources: job.Resources{CPU: 1000_000}})[0]
	}
	order := func(c *caller, want ...job.ID) (turns []api.Turn) {
		t.Helper()
		eventually(t, func() bool {
			var list api.TurnList
			c.must("GET", "/v1/order", nil, &list)
			var got []job.ID
			for _, t := range list.Turns {
				got = append(got, t.Job)
			}
			turns = list.Turns
			return fmt.Sprint(got) == fmt.Sprint(want)
		})
		return turns
	}
	ids := []job.ID{big(a, 0), big(a, 0), big(b, 0), big(op, 9)}
	order(op, ids[3], ids[0], ids[1], ids[2])
	turns := order(b, ids[2])
	require.Equal(t, 4, turns[0].Place)
	var x api.Explanation
	b.must("GET", jobPath(ids[2], "/explain"), nil, &x)
	require.Equal(t, 4, x.Position)

	// With a tree the engine is another one, which knows nothing of attempts before.
	op.must("PUT", "/v1/limits/none", `{"name":"none","user":"alice","running":0}`, nil)
	turns = order(op, ids[2], ids[3]) // priorities do not compare users
	require.Equal(t, []int{1, 2}, []int{turns[0].Place, turns[1].Place})
	require.Equal(t, []api.Level{{Queue: "default", Weight: 1}, {Queue: "default", User: "bob", Weight: 1}}, turns[0].Path)
	order(a) // hers can never be, so they have no turn
}
