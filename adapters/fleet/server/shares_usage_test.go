package server

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/state"
)

// Users are ranked as in Fair Tree, by its worked example: cy has never run, and comes after fay, whose
// account has had less for its shares. What goes before all shares does so here, too.
func TestRanksAreThoseOfFairTree(t *testing.T) {
	t.Parallel()
	s := state.New(nil)
	index := uint64(0)
	do := func(c state.Command) {
		c.At = time.Unix(1_000_000, 0)
		text, err := c.Encode()
		require.NoError(t, err)
		index++
		require.Nil(t, s.Apply(index, 1, [][]byte{text})[0].(state.Result).Err)
	}
	queue := func(name, parent string, weight, priority int32) {
		do(state.Command{PutQueue: &api.Queue{Name: name, Parent: parent, Weight: weight, Priority: priority, Policy: api.PolicyUsage}})
	}
	queue("root", "", 1, 0)
	queue("phys", "root", 40, 0)
	queue("chem", "root", 40, 0)
	queue("bio", "root", 20, 0)
	queue("org", "chem", 30, 0)
	queue("inorg", "chem", 10, 0)
	do(state.Command{PutUser: &api.User{Name: "cy", Weight: 2}})
	usage := map[[2]string]api.PastUse{}
	for key, n := range map[[2]string]float64{
		{"phys", ""}: 400, {"chem", ""}: 300, {"bio", ""}: 100, {"org", ""}: 200, {"inorg", ""}: 100, {"phys", "ann"}: 300, {"phys", "bob"}: 100,
		{"phys", "cy"}: 0, {"org", "dan"}: 100, {"org", "eve"}: 100, {"inorg", "fay"}: 100, {"bio", "gus"}: 50, {"bio", "hal"}: 50,
	} {
		usage[key] = api.PastUse{Of: "cpu", Fleet: n}
	}
	ranks := func() string {
		var names [9]string
		for _, share := range shares(s.View(), usage).Shares {
			if share.Rank > 0 {
				require.Empty(t, names[share.Rank], "each rank once")
				names[share.Rank] = share.User
			}
		}
		return strings.Join(names[1:], " ")
	}
	require.Equal(t, "gus hal dan eve fay cy bob ann", ranks())
	queue("phys", "root", 40, 5)
	require.Equal(t, "cy bob ann gus hal dan eve fay", ranks())
}

// What was used is put in relation to that of the users and queues beside each other, as sshare has
// it; users without a job are shown, too. Where nothing goes by usage nothing is said of it.
func TestSharesOfWhatWasUsed(t *testing.T) {
	t.Parallel()
	s := state.New(nil)
	index := uint64(0)
	for _, q := range []*api.Queue{
		{Name: "all", Policy: api.PolicyUsage}, {Name: "physics", Parent: "all", Weight: 3, Policy: api.PolicyUsage}, {Name: "art", Parent: "all"},
	} {
		text, err := (&state.Command{At: time.Unix(1_000_000, 0), PutQueue: q}).Encode()
		require.NoError(t, err)
		index++
		require.Nil(t, s.Apply(index, 1, [][]byte{text})[0].(state.Result).Err)
	}
	used := func(fleet float64) api.PastUse { return api.PastUse{Of: "cpu", Raw: 16 * fleet, Fleet: fleet} }
	list := shares(s.View(), map[[2]string]api.PastUse{
		{"physics", ""}: used(300), {"art", ""}: used(100), {"physics", "ann"}: used(300), {"art", "eve"}: used(100),
	})
	got := map[string]api.Share{}
	for _, share := range list.Shares {
		got[share.Queue+"/"+share.User] = share
	}
	require.InDelta(t, 0.75, got["physics/"].Effective, 1e-9)
	require.InDelta(t, 1, got["physics/"].Level, 1e-9, "three quarters of the weights, and of what was used")
	require.InDelta(t, 1, got["art/"].Level, 1e-9)
	require.InDelta(t, 1, got["physics/ann"].Effective, 1e-9)
	require.Zero(t, got["art/eve"].Rank)
	require.EqualValues(t, 1, got["art/"].Rank, "all in it have one rank; it is equal to physics, and comes first by name")
	require.EqualValues(t, 2, got["physics/ann"].Rank)
	require.Nil(t, got["art/eve"].Usage, "art goes by share")
	require.Nil(t, got["all/"].Usage, "so does the top")
	require.Nil(t, got["default/"].Usage)
}
