package engine_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/model"
)

// refusedShares is input about queues, limits, usage and holds that is refused: each line of what
// is said begins with the number of the change, and names the object and the field.
type refusedShares struct {
	name  string
	input []engine.Change
	said  []string
}

func putQueue(name, parent string, set ...func(*model.Queue)) engine.Change {
	q := &model.Queue{Name: name, Parent: parent}
	for _, f := range set {
		f(q)
	}
	return engine.PutObject(q)
}

func putLimit(amount int64, set ...func(*model.Limit)) engine.Change {
	l := &model.Limit{Name: "l", Queue: "q", Scope: model.LimitSubtree, Measure: model.LimitRunning, Amount: amount}
	for _, f := range set {
		f(l)
	}
	return engine.PutObject(l)
}

func overTime(l *model.Limit) { l.Measure, l.Resource = model.LimitResourceSeconds, model.CPU }

func whatIsRefused() []refusedShares {
	account := func(name, parent string) engine.Change {
		return engine.PutObject(&model.Principal{Name: name, Parent: parent})
	}
	return []refusedShares{
		{"a circle of queues", []engine.Change{putQueue("top", "q")}, []string{`put Queue "top": queue "top": parent: what is above it leads back to it`}},
		{"a circle that a missing queue closes", []engine.Change{putQueue("lost", "low")}, []string{`put Queue "lost": queue "lost": parent: what is above it leads back to it`}},
		{"a queue below itself", []engine.Change{putQueue("q", "q")}, []string{`put Queue "q": queue "q": parent: must not be the queue itself`}},
		{"a circle of accounts", []engine.Change{account("lab", "ann")}, []string{`put Principal "lab": principal "lab": parent: what is above it leads back to it`}},
		{"less than no weight", []engine.Change{putQueue("x", "", func(q *model.Queue) { q.Weight = -1 }), engine.PutObject(&model.Principal{Name: "x", Shares: -1})}, []string{
			`put Queue "x": queue "x": weight: -1 is not between 0 and 1073741824`,
			`put Principal "x": principal "x": shares: -1 is not between 0 and 1073741824`,
		}},
		{"more guaranteed than it may use", []engine.Change{putQueue("x", "", func(q *model.Queue) {
			q.Guaranteed, q.Max = map[string]int64{model.CPU: 2}, map[string]int64{model.CPU: 1}
		})}, []string{`put Queue "x": queue "x": max: 1 of "cpu" is less than the 2 that are guaranteed`}},
		{"amounts below nothing", []engine.Change{putQueue("x", "", func(q *model.Queue) {
			q.Guaranteed, q.Borrow = map[string]int64{"gpu": -1}, map[string]int64{model.CPU: -2}
		})}, []string{
			`put Queue "x": queue "x": guaranteed: -1 of "gpu" is less than 0; borrow: -2 of "cpu" is less than 0`,
		}},
		{"usage that never decays", []engine.Change{byUsage("x", "", 1, 0), byUsage("y", "", 1, -time.Second), putLimit(1, overTime, func(l *model.Limit) { l.HalfLife = time.Millisecond })}, []string{
			`put Queue "x": queue "x": halfLife: 0s is not between 1s and 240000h0m0s: what has been used must decay`,
			`put Queue "y": queue "y": halfLife: -1s is not between 1s and 240000h0m0s: what has been used must decay`,
			`put Limit "l": limit "l": halfLife: 1ms is not between 1s and 240000h0m0s: what has been used must decay`,
		}},
		{"usage below nothing", []engine.Change{engine.ChargeUsage("used", "", map[string]int64{model.CPU: -5}, epoch)}, []string{`charge usage "used": usage of queue "used": -5 of "cpu" is negative`}},
		{"usage that is yet to come", []engine.Change{engine.ChargeUsage("used", "", map[string]int64{model.CPU: 5}, epoch.Add(time.Hour))}, []string{`charge usage "used": usage of queue "used": 2026-01-01 01:00:00 +0000 UTC is yet to come`}},
		{"usage of nobody's queue", []engine.Change{engine.ChargeUsage("none", "nobody", map[string]int64{model.CPU: 5}, epoch)}, []string{
			`charge usage "none": usage of queue "none": there is no queue "none"`, `usage of queue "none": there is no principal "nobody"`,
		}},
		{"requests below nothing", []engine.Change{of("x", "q", "", -1, -time.Second)}, []string{`submit "x": workload "x": requests.cpu: -1 is less than 0; limit: -1s is negative; 0 is no limit`}},
		{"a hold that ends before it begins", []engine.Change{engine.PutObject(hold("x", 20, 10, "", "n"))}, []string{`put Hold "x": hold "x": until: 2026-01-01T00:00:10Z is not after from, 2026-01-01T00:00:20Z`}},
		{"a hold of no node", []engine.Change{engine.PutObject(hold("x", 10, 20, ""))}, []string{`put Hold "x": hold "x": nodes: must not be empty where there are no node terms`}},
		{"a limit of nothing and of everybody", []engine.Change{engine.PutObject(&model.Limit{Name: "x", Amount: -1, Measure: "Jobs", Scope: "All"})}, []string{
			`put Limit "x": limit "x": queue: must not be empty where principal is; scope: "All" is not one of EachWorkload, EachPrincipal, Own, Subtree; ` +
				`measure: "Jobs" is not one of Running, Count, Resource, ResourceSeconds; resource: must not be empty; amount: -1 is less than 0`,
		}},
	}
}

// standing is what there is before bad input comes: something runs in each queue, and something waits.
func standing(t *testing.T) *used {
	u := newUsed(t)
	u.apply(node("n", 4000), putQueue("top", ""), putQueue("q", "top"), putQueue("low", "lost"), byUsage("used", "top", 1, week),
		engine.PutObject(&model.Principal{Name: "lab"}), engine.PutObject(&model.Principal{Name: "ann", Parent: "lab"}), putLimit(9),
		of("runs", "q", "ann", 2000, 0), of("used", "used", "", 2000, 0), of("waits", "q", "ann", 1000, 0))
	settle(u.Raw, u.now)
	require.Equal(t, []string{"runs", "used"}, placed(u.View(), []string{"runs", "used", "waits"}))
	return u
}

// What is wrong with queues, limits, usage and holds is refused with all that came with it, by itself,
// on a branch, and together with everything else that is wrong: all of it is said at once, by
// object and field, and nothing has been done.
func TestBadSharesAreRefused(t *testing.T) {
	t.Parallel()
	var all []engine.Change
	var allSaid []string
	for _, c := range whatIsRefused() {
		t.Run(c.name, func(t *testing.T) {
			u := standing(t)
			refusesWhole(t, u, c.input, c.said)
		})
		all, allSaid = append(all, c.input...), append(allSaid, c.said...)
	}
	t.Run("all of it", func(t *testing.T) {
		// What closes a circle is only seen where no other input is wrong by itself.
		refusesWhole(t, standing(t), all, allSaid)
	})
}

func refusesWhole(t *testing.T, u *used, input []engine.Change, said []string) {
	t.Helper()
	index, queues, counts := u.View().Index(), u.Queues(), u.QueueCounts()
	good := []engine.Change{putQueue("good", ""), of("good", "good", "", 1, 0), engine.Remove("waits")}
	err := u.Apply(u.now, append(good, input...)...)
	require.Error(t, err)
	require.ErrorContains(t, u.Branch().Apply(u.now, input...), said[0])
	for _, line := range said {
		require.ErrorContains(t, err, line)
	}
	require.Len(t, strings.Split(err.Error(), "\n"), len(said), "%v", err)
	require.NotContains(t, err.Error(), "change 0", "what is right is not blamed")
	require.Equal(t, index, u.View().Index(), "nothing is half applied")
	require.Equal(t, queues, u.Queues(), "nor charged")
	require.Equal(t, counts, u.QueueCounts(), "nor queued")
	u.apply(engine.Finish("runs"))
	settle(u.Raw, u.now)
	require.Equal(t, []string{"waits"}, placed(u.View(), []string{"waits", "good"}), "and the engine goes on")
}
