package server

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/replica"
	"github.com/berth-project/berth/adapters/fleet/state"
)

// upgrade starts a server again with a program that knows versions up to one.
func (w *three) upgrade(i, knows int) {
	w.t.Helper()
	w.stops[i]()
	w.configs[i].knows = knows
	w.servers[i], w.stops[i] = w.start(w.configs[i])
	w.t.Cleanup(w.stops[i])
}

// versions are those of the state, and those that the servers know.
func (w *three) versions() (of, known [3]int) {
	w.t.Helper()
	for i, s := range w.servers {
		var is api.ServerStatus
		w.as(oscar).at(s).must("GET", "/v1/server/status", nil, &is)
		of[i], known[i] = is.StateVersion, is.KnownVersion
	}
	return of, known
}

// While servers are upgraded one after the other, nothing is written that one of them does not
// know. Once all know it, it is; and a server that then gets its old program again stops.
func TestUpgradeOfServers(t *testing.T) {
	w := begunThree(t, func(c *Config) { c.knows = 1 })
	w.mayEnd = replica.ErrNewer
	const reclaims = `{"name":"physics","reclaim":"any"}`
	put := func(body string) got {
		return w.as(oscar).at(w.servers[w.leader()]).ask("PUT", "/v1/queues/physics", body)
	}
	for i := range 2 {
		w.upgrade(i, 2)
		w.leads(0)
		of, known := w.versions()
		require.Equal(t, [3]int{1, 1, 1}, of)
		require.Equal(t, i+3+1, known[0]+known[1]+known[2])
		e := w.as(oscar).refusal(put(reclaims), http.StatusConflict)
		require.Equal(t, "reclaim needs version 2 of the fleet's state, and it has 1 until all servers run a program that knows more (berth server status)", e.Message)
		w.as(oscar).at(w.servers[0]).must("PUT", "/v1/queues/physics", `{"name":"physics","weight":3}`, nil)
	}
	w.upgrade(2, 2)
	eventually(t, func() bool {
		of, _ := w.versions()
		return of == [3]int{2, 2, 2}
	})
	w.as(oscar).at(w.servers[0]).must("PUT", "/v1/queues/physics", reclaims, nil)

	w.upgrade(1, 1)
	<-w.servers[1].replica.Done()
	require.ErrorIs(t, w.servers[1].replica.Err(), replica.ErrNewer)
	w.upgrade(1, 2)
	for _, s := range w.servers {
		eventually(t, func() bool {
			q := s.state.View().Queue("physics")
			return q != nil && q.Reclaim == api.ReclaimAny
		})
	}
}

// leads has a server lead.
func (w *three) leads(i int) {
	w.t.Helper()
	eventually(w.t, func() bool {
		if s := w.servers[w.leader()]; s != w.servers[i] {
			_ = s.replica.TransferLeadership(w.t.Context()) // another may lead by now
			return false
		}
		return true
	})
}

// A fleet of one server has all from the beginning.
func TestVersionOfANewFleet(t *testing.T) {
	t.Parallel()
	f := begun(t)
	require.Equal(t, state.Version, f.server.state.View().Version())
}
