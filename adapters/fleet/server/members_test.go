package server

import (
	"net/http"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/fleet/api"
)

// The list of servers says which of them the leader hears of, and since when it does not.
func TestMembersThatAreGone(t *testing.T) {
	t.Parallel()
	w := begunThree(t)
	members := func() map[string]api.Member {
		var list api.MemberList
		w.as(oscar).at(w.servers[w.leader()]).must("GET", "/v1/server/members", nil, &list)
		require.Len(t, list.Members, 3)
		out := map[string]api.Member{}
		for _, m := range list.Members {
			out[m.ID] = m
		}
		return out
	}
	are := func(want map[string]api.MemberState) (all map[string]api.Member) {
		eventually(t, func() bool {
			all = members()
			for id, state := range want {
				if all[id].State != state {
					return false
				}
			}
			return true
		})
		return all
	}
	before := are(map[string]api.MemberState{"s1": api.MemberHealthy, "s2": api.MemberHealthy, "s3": api.MemberHealthy})
	w.stops[2]()
	after := are(map[string]api.MemberState{"s1": api.MemberHealthy, "s2": api.MemberHealthy, "s3": api.MemberUnreachable})
	require.True(t, after["s3"].Voter, "it counts, all the same")
	// Each leader knows only when it has heard of the others itself.
	sameLeader := func(a, b map[string]api.Member) bool {
		return a["s1"].Leader == b["s1"].Leader && a["s2"].Leader == b["s2"].Leader
	}
	if sameLeader(before, after) {
		require.False(t, after["s3"].Heard.Before(before["s3"].Heard))
	}
	eventually(t, func() bool {
		again := members()
		if !sameLeader(after, again) {
			after = again
			return false
		}
		require.True(t, again["s3"].Heard.Equal(after["s3"].Heard), "it stays that time")
		return again["s1"].Heard.After(after["s1"].Heard) && again["s2"].Heard.After(after["s2"].Heard)
	})
}

// A server that was removed ends, whether it ran then or not, and does not come back with
// its old folder. With a new token it does, under the same name.
func TestRemovedServer(t *testing.T) {
	t.Parallel()
	w := begunThree(t)
	w.mayEnd = errRefused
	op := w.as(oscar)
	members := func() []api.Member {
		var list api.MemberList
		op.must("GET", "/v1/server/members", nil, &list)
		return list.Members
	}
	gone := (w.leader() + 1) % 3 // and then the one that leads
	op.address = w.servers[gone].Addr().String()
	op.must("DELETE", "/v1/server/members/"+w.configs[gone].ID, nil, nil)
	<-w.servers[gone].replica.Done()
	w.stops[gone]()
	op.address = w.servers[w.leader()].Addr().String()
	require.Len(t, members(), 2)

	old := w.configs[gone]
	old.Join = &Join{Servers: []string{op.address}}
	again, err := New(t.Context(), old)
	require.NoError(t, err)
	require.ErrorIs(t, again.Run(t.Context()), errRefused)
	require.Len(t, members(), 2)

	anew := old
	anew.Dir = filepath.Join(t.TempDir(), "anew")
	var token api.TokenResponse
	op.must("POST", "/v1/join-tokens", api.JoinTokenRequest{Role: api.RoleServer}, &token)
	anew.Join = &Join{Servers: []string{op.address}, Token: token.Token}
	eventually(t, func() bool { return prepare(t.Context(), &anew) == nil }) // there may be no leader for a moment
	w.run(anew)
	eventually(t, func() bool {
		list := members()
		return len(list) == 3 && list[0].Voter && list[1].Voter && list[2].Voter
	})
}

// A server that did not run when it was removed takes itself for a member, until it has
// asked the others.
func TestServerRemovedWhileItWasDown(t *testing.T) {
	t.Parallel()
	w := begunThree(t)
	leads := w.leader()
	gone := (leads + 1) % 3
	w.stops[gone]()
	op := w.as(oscar)
	op.address = w.servers[leads].Addr().String()
	op.must("DELETE", "/v1/server/members/"+w.configs[gone].ID, nil, nil)
	old := w.configs[gone]
	old.Join = nil
	again, err := New(t.Context(), old)
	require.NoError(t, err)
	require.ErrorIs(t, again.Run(t.Context()), errRefused)
}

// A server whose removal was cut off before its certificates were revoked is one that is not
// there, and whoever removes it again is told what is left to do.
func TestServerWhoseRemovalWasCutOff(t *testing.T) {
	t.Parallel()
	w := begunThree(t)
	w.mayEnd = errRefused
	leads := w.leader()
	gone := w.configs[(leads+1)%3].ID
	w.stops[(leads+1)%3]() // else it asks to take part again, and may
	op := w.as(oscar)
	op.address = w.servers[leads].Addr().String()
	require.NoError(t, w.servers[leads].replica.Remove(t.Context(), gone))
	remove := func() string {
		return op.refused(http.StatusNotFound, "DELETE", "/v1/server/members/"+gone, nil).Message
	}
	require.Equal(t, "remove server "+gone+": no such server; if it was removed by a request that got no answer, its certificates "+
		"may still be good: revoke them with \"berth server revoke server/"+gone+"\"", remove())
	op.must("POST", "/v1/revocations", api.RevocationRequest{ID: "server/" + gone}, nil)
	require.Equal(t, "remove server "+gone+": no such server", remove())
}

// The server that leads has another one lead before it is removed.
func TestRemovedLeader(t *testing.T) {
	t.Parallel()
	w := begunThree(t)
	w.mayEnd = errRefused
	leads := w.leader()
	op := w.as(oscar)
	op.address = w.servers[leads].Addr().String()
	op.must("DELETE", "/v1/server/members/"+w.configs[leads].ID, nil, nil)
	<-w.servers[leads].replica.Done()
	op.address = w.servers[(leads+1)%3].Addr().String()
	var list api.MemberList
	op.must("GET", "/v1/server/members", nil, &list)
	require.Len(t, list.Members, 2)
}
