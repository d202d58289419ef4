package scheduler_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
	"github.com/berth-project/berth/adapters/fleet/state"
)

// Where the queue goes by usage, who had the fleet yesterday waits until others have had as much. A
// new leader remembers it: what has ended, and what is under way.
func TestUsageSurvivesLeaders(t *testing.T) {
	in(t, []*api.Registration{node("a", 4), node("b", 4)}, func(w *world) {
		w.runs = func(*state.Task) run { return run{lasts: 10 * time.Minute, ends: job.Completed} }
		w.do(&state.Command{PutQueue: &api.Queue{Name: job.DefaultQueue, Policy: api.PolicyUsage, HalfLife: job.Duration(24 * time.Hour)}})
		long := "timeLimit: 20m"
		w.of("ann", 40, long)
		w.pass(35 * time.Minute) // three rounds have ended, the fourth is half over
		before := w.leader.Usage()[[2]string{job.DefaultQueue, "ann"}]
		require.InDelta(t, 8*35*60, before.Raw, 8*35)
		require.Equal(t, "cpu", before.Of)
		require.InDelta(t, 35*60, before.Fleet, 35)

		w.lead()
		w.pass(2 * time.Second)
		after := w.leader.Usage()[[2]string{job.DefaultQueue, "ann"}]
		require.InEpsilon(t, before.Raw, after.Raw, 0.02, "the next leader remembers")

		w.of("bob", 40, long)
		w.pass(6 * time.Minute)
		require.Equal(t, map[string]int{"bob": 8, "queue default": 8}, w.running(), "ann has had more")
	})
	in(t, []*api.Registration{node("a", 4), node("b", 4)}, func(w *world) { // the same without history
		w.runs = func(*state.Task) run { return run{lasts: 10 * time.Minute, ends: job.Completed} }
		w.do(&state.Command{PutQueue: &api.Queue{Name: job.DefaultQueue, Policy: api.PolicyShare}})
		w.of("ann", 40, "timeLimit: 20m")
		w.pass(35 * time.Minute)
		w.of("bob", 40, "timeLimit: 20m")
		w.pass(6 * time.Minute)
		require.Equal(t, map[string]int{"ann": 4, "bob": 4, "queue default": 8}, w.running())
		require.Nil(t, w.leader.Usage())
	})
}

// Three users of equal weight have equally many slots a minute after the last has come, though one
// has many jobs, one has few, and one has gangs: Jain's index of what they have on average.
func TestUsersOfEqualWeightAreEqual(t *testing.T) {
	for _, policy := range []api.Policy{api.PolicyShare, api.PolicyUsage} {
		t.Run(string(policy), func(t *testing.T) {
			var nodes []*api.Registration
			for i := range 3 {
				nodes = append(nodes, node(fmt.Sprintf("n%d", i), 4))
			}
			in(t, nodes, func(w *world) {
				rng := rand.New(rand.NewPCG(7, 49))
				w.runs = func(*state.Task) run {
					return run{lasts: 2*time.Second + time.Duration(3*rng.ExpFloat64()*float64(time.Second)), ends: job.Completed}
				}
				w.do(&state.Command{PutQueue: &api.Queue{Name: job.DefaultQueue, Policy: policy}})
				const short = "timeLimit: 30s"
				w.of("alice", 1, short+"\narray: 1-400")
				w.pass(3 * time.Second)
				w.of("bob", 1, short+"\narray: 1-200")
				w.pass(3 * time.Second)
				for range 10 {
					w.of("carol", 1, short+"\narray: 1-12")
				}
				w.pass(time.Minute)
				sums := map[string]float64{}
				for range 60 {
					w.pass(500 * time.Millisecond)
					for who, n := range w.running() {
						if !strings.HasPrefix(who, "queue ") {
							sums[who] += float64(n)
						}
					}
				}
				require.Len(t, sums, 3)
				var sum, squares float64
				for _, n := range sums {
					sum += n
					squares += n * n
				}
				index := sum * sum / (3 * squares)
				t.Logf("slots on average %.1f, %.1f, %.1f; Jain's index %.4f", sums["alice"]/60, sums["bob"]/60, sums["carol"]/60, index)
				require.GreaterOrEqual(t, index, 0.98)
				require.False(t, math.IsNaN(index))
			})
		})
	}
}

// What is said of half-lives is checked.
func TestHalfLivesAreChecked(t *testing.T) {
	in(t, nil, func(w *world) {
		for want, q := range map[string]*api.Queue{
			"0.1s is not from 1s to 10000d":                  {Name: "q", Policy: api.PolicyUsage, HalfLife: job.Duration(100 * time.Millisecond)},
			"it is for the policy usage":                     {Name: "q", HalfLife: job.Duration(time.Hour)},
			"they are for the policy usage":                  {Name: "q", Prices: map[string]int64{"cpu": 1}},
			"-1 is not from 0 to 1000000":                    {Name: "q", Policy: api.PolicyUsage, Prices: map[string]int64{"cpu": -1}},
			"\"a b\" may only have letters":                  {Name: "q", Policy: api.PolicyUsage, Prices: map[string]int64{"a b": 1}},
			"\"used\" is not fifo, priority, share or usage": {Name: "q", Policy: "used"},
		} {
			r := w.apply(&state.Command{PutQueue: q})
			require.NotNil(t, r.Err)
			require.Contains(t, fmt.Sprint(r.Err.Problems), want)
		}
	})
}

// By prices all resources make one number of what was used; a new leader has the same.
func TestUsageByPrices(t *testing.T) {
	in(t, []*api.Registration{gpus(node("a", 8), "L4", "L4")}, func(w *world) {
		w.runs = func(*state.Task) run { return run{lasts: 100 * time.Second, ends: job.Completed} }
		w.do(&state.Command{PutQueue: &api.Queue{Name: job.DefaultQueue, Policy: api.PolicyUsage, HalfLife: job.Duration(1000 * time.Hour), Prices: map[string]int64{"cpu": 1, "gpus": 16, "memory": 2}}})
		w.of("ann", 3, minute+"\nresources: {cpu: 1, memory: 3Gi}")
		w.of("bob", 1, minute+"\nresources: {cpu: 1, memory: 0, gpus: {count: 1}}")
		w.pass(110 * time.Second)
		for _, when := range []string{"now", "after another has the lead"} {
			for who, price := range map[string]float64{"ann": 3 * (1 + 3*2), "bob": 1 + 16} {
				u := w.leader.Usage()[[2]string{job.DefaultQueue, who}]
				require.Equal(t, api.OfPrices, u.Of)
				require.InEpsilon(t, 100*price, u.Raw, 0.02, "%s %s", who, when)
				require.InEpsilon(t, 100*price/(8+2*16+1024*2), u.Fleet, 0.02, "%s %s", who, when)
			}
			w.lead()
			w.pass(2 * time.Second)
		}
	})
}

// A limit over time counts what was used and what those under way may yet use, of all in it; others do
// not wait for it. A new leader knows what was used.
func TestHoursAreLimited(t *testing.T) {
	in(t, []*api.Registration{node("a", 8)}, func(w *world) {
		w.runs = func(*state.Task) run { return run{lasts: 10 * time.Minute, ends: job.Completed} }
		w.do(&state.Command{PutAccount: &api.Account{Name: "lab"}})
		w.do(&state.Command{PutUser: &api.User{Name: "ann", Account: "lab"}})
		w.do(&state.Command{PutUser: &api.User{Name: "bob", Account: "lab"}})
		w.do(&state.Command{PutLimit: &api.Limit{Name: "grant", Account: "lab", Hours: cores(1), HalfLife: job.Duration(1000 * time.Hour)}})
		const limited = "timeLimit: 20m\nkillGrace: 0s"
		w.of("ann", 1, limited)
		w.of("bob", 1, limited)
		w.pass(2 * time.Second) // else another of ann's may start before bob has asked for anything
		w.of("ann", 1, limited)
		last := w.of("bob", 1, limited)[0]
		endless := w.of("ann", 1, "")[0]
		w.of("eve", 3, limited)
		w.pass(2 * time.Second)
		require.Equal(t, map[string]int{"ann": 1, "bob": 1, "eve": 3, "queue default": 5}, w.running(), "each may use a third of an hour and five seconds")
		require.Equal(t, job.ReasonQueueLimit, w.why(last))
		require.Regexp(t, `^limit grant: job \d+ asks for 0.00[0-9]+ core-hours too much now$`, w.whyNot(last))
		w.pass(10 * time.Minute) // a third of the hour is used
		require.Equal(t, 1, w.running()["ann"]+w.running()["bob"], "and two thirds and five seconds more would be too much")

		w.lead()
		w.pass(5 * time.Minute)
		require.Equal(t, 1, w.running()["ann"]+w.running()["bob"], "the next leader remembers")
		w.pass(6 * time.Minute) // a half is used
		require.Equal(t, 1, w.running()["ann"]+w.running()["bob"], "the last of four")
		w.of("ann", 1, limited)
		w.pass(11 * time.Minute) // two thirds are used
		require.Zero(t, w.running()["ann"]+w.running()["bob"])
		require.Equal(t, job.ReasonBadConstraints, w.why(endless))
		require.Equal(t, "it asks for more than limit grant ever allows", w.whyNot(endless))
		w.do(&state.Command{PutLimit: &api.Limit{Name: "grant", Account: "lab", Hours: cores(2)}})
		w.pass(2 * time.Second)
		require.Equal(t, 1, w.running()["ann"], "more is allowed")
	})
}
