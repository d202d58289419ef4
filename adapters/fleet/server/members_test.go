package server

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/fleet/api"
)

// The list of servers says which of them the leader hears of, and since when it does not.
func TestMembersThatAreGone(t *testing.T) {
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
	if after["s3"].Leader == before["s3"].Leader { // else the next leader has never heard of it
		require.False(t, after["s3"].Heard.Before(before["s3"].Heard))
	}
	eventually(t, func() bool {
		again := members()
		require.True(t, again["s3"].Heard.Equal(after["s3"].Heard), "it stays that time")
		return again["s1"].Heard.After(after["s1"].Heard) && again["s2"].Heard.After(after["s2"].Heard)
	})
}
