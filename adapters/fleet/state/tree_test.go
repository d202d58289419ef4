package state_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
	"github.com/berth-project/berth/adapters/fleet/state"
)

// All that is wrong with a queue, account, user or limit is said at once, and nothing is
// recorded then. What others need is not removed.
func TestTreeIsChecked(t *testing.T) {
	n := func(i int64) *int64 { return &i }
	many := cores(4)
	many.GPUs, many.Other = n(-1), map[string]int64{"a b": 1}
	for _, test := range []struct {
		name    string
		command state.Command
		want    string // the problems, or the message
	}{
		{"a queue's parent is not there", state.Command{PutQueue: &api.Queue{Name: "q", Parent: "none"}}, `parent: there is no queue "none"`},
		{"a queue is its own parent", state.Command{PutQueue: &api.Queue{Name: "q", Parent: "q"}}, `parent: queue "q" would be below itself`},
		{"a circle of queues", state.Command{PutQueue: &api.Queue{Name: "physics", Parent: "lasers"}}, `parent: queue "physics" would be below itself`},
		{"everything of a queue", state.Command{PutQueue: &api.Queue{Name: "q", Parent: "none", Weight: -1, Policy: "lifo", Guaranteed: cores(5), Max: many, Reclaim: "all", MinRuntime: job.Duration(10_001 * 24 * time.Hour), Protected: 101}}, `parent: there is no queue "none"
weight: -1 is not from 1 to 1000000 (0 is the default, 1)
policy: "lifo" is not fifo, priority, share or usage
reclaim: "all" is not never, lower or any
minRuntime: 10001d is not from 0 to 10000d
protected: 101 is not from 0 to 100 percent
max.gpus: -1 is not an amount
max.other: "a b" may only have letters, digits, and any of "_-."
max.cpu: it is less than what is guaranteed`},
		{"a circle of accounts", state.Command{PutAccount: &api.Account{Name: "uni", Parent: "lab"}}, `parent: account "uni" would be below itself`},
		{"everything of an account", state.Command{PutAccount: &api.Account{Name: "a b", Parent: "none", Queue: "none"}}, `name: "a b" may only have letters, digits, and any of "_-."
parent: there is no account "none"
queue: there is no queue "none"`},
		{"everything of a user", state.Command{PutUser: &api.User{Name: "", Account: "none", Queue: "none", Weight: 2_000_000}}, `name: must not be empty
account: there is no account "none"
queue: there is no queue "none"
weight: 2000000 is not from 1 to 1000000 (0 is the default, 1)`},
		{"a limit of nobody, on nothing", state.Command{PutLimit: &api.Limit{Name: "m"}}, `queue: write one of queue, account and user: whose limit it is; there are 0
running: write running, or an amount in use or hours: what is limited`},
		{"everything of a limit", state.Command{PutLimit: &api.Limit{Name: "m", Queue: "none", Account: "none", User: "a b", Each: "day", Running: n(-1), Use: many}}, `queue: write one of queue, account and user: whose limit it is; there are 3
queue: there is no queue "none"
account: there is no account "none"
user: "a b" may only have letters, digits, and any of "_-."
each: "day" is neither user nor task
running: -1 is not a number of tasks
use.gpus: -1 is not an amount
use.other: "a b" may only have letters, digits, and any of "_-."`},
		{"hours below nothing, above all, and half of them at once", state.Command{PutLimit: &api.Limit{Name: "m", User: "eve", Hours: &api.Amounts{Other: map[string]int64{"licence": -1}, GPUs: n(1 << 41), Memory: new(job.Bytes(1 << 51))}, HalfLife: 1}}, `hours.other.licence: -1 is not an amount
hours.memory: 2Pi is too much: the most is 1Pi
hours.gpus: 2199023255552 is too much: the most is 1099511627776
halfLife: 0.000000001s is not from 1s to 10000d`},
		{"a half-life of nothing over time", state.Command{PutLimit: &api.Limit{Name: "m", User: "eve", Running: n(1), HalfLife: job.Duration(time.Hour)}}, "halfLife: it is for hours that are not of each task"},
		{"a half-life of each task", state.Command{PutLimit: &api.Limit{Name: "m", Queue: "lasers", Each: api.EachTask, Hours: cores(1), HalfLife: job.Duration(time.Hour)}}, "halfLife: it is for hours that are not of each task"},
		{"each of a user", state.Command{PutLimit: &api.Limit{Name: "m", User: "eve", Each: api.EachUser, Running: n(1)}}, "each: user is for the limit of a queue"},
		{"tasks of a task", state.Command{PutLimit: &api.Limit{Name: "m", User: "eve", Each: api.EachTask, Running: n(1)}}, "running: a task is one task: there is nothing to count for each"},

		{"a queue with queues below it", state.Command{RemoveQueue: "physics"}, `queue "physics" is needed by queue "lasers", which is below it; change or remove that first`},
		{"the queue of an account", state.Command{RemoveQueue: "lasers"}, `queue "lasers" is needed by account "lab"; change or remove that first`},
		{"an account with a limit", state.Command{RemoveAccount: "uni"}, `account "uni" is needed by limit "l"; change or remove that first`},
		{"an account with users", state.Command{RemoveAccount: "lab"}, `account "lab" is needed by user "alice"; change or remove that first`},
		{"what is not there", state.Command{RemoveAccount: "none"}, `there is no account "none"`},
		{"no user", state.Command{RemoveUser: "none"}, `nothing is said of user "none"`},
		{"no limit", state.Command{RemoveLimit: "none"}, `there is no limit "none"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := lively(t)
			before := string(whole(t, s))
			r := applied(t, s, s.View().Now(), &test.command)
			require.NotNil(t, r.Err)
			got := []string{r.Err.Message}
			if len(r.Err.Problems) > 0 {
				got = nil
			}
			for _, p := range r.Err.Problems {
				got = append(got, p.Field+": "+p.Message)
			}
			require.Equal(t, test.want, strings.Join(got, "\n"))
			tables := func(text string) string { return text[strings.Index(text, "\n{\"t\":\"queues\""):] } // after the time and the index
			require.Equal(t, tables(before), tables(string(whole(t, s))))
		})
	}
}

// Jobs go by queues from the first thing that is said about them until the last is taken
// back, and a user's queue and accounts are found from the user up.
func TestTree(t *testing.T) {
	var last state.Changed
	s := state.New(func(ch state.Changed) { last = ch })
	now := time.Unix(1_000_000, 0).UTC()
	do := func(c *state.Command) {
		t.Helper()
		require.Nil(t, applied(t, s, now, c).Err)
		require.True(t, last.Tree)
	}
	check := func(byQueues bool, queue string, accounts ...string) {
		t.Helper()
		v := s.View()
		require.Equal(t, byQueues, v.ByQueues())
		require.Equal(t, queue, v.QueueOf("ann"))
		require.Equal(t, accounts, v.AccountsOf("ann"))
	}
	do(&state.Command{PutQueue: &api.Queue{Name: "night", MaxRunning: 4}})
	check(false, job.DefaultQueue)
	do(&state.Command{PutAccount: &api.Account{Name: "uni", Queue: "night"}})
	check(true, job.DefaultQueue)
	do(&state.Command{PutAccount: &api.Account{Name: "lab", Parent: "uni"}})
	do(&state.Command{PutUser: &api.User{Name: "ann", Account: "lab"}})
	check(true, "night", "lab", "uni")
	do(&state.Command{PutQueue: &api.Queue{Name: "day", Weight: 2}})
	do(&state.Command{PutUser: &api.User{Name: "ann", Account: "lab", Queue: "day"}})
	check(true, "day", "lab", "uni")
	do(&state.Command{RemoveUser: "ann"})
	do(&state.Command{RemoveAccount: "lab"})
	do(&state.Command{RemoveAccount: "uni"})
	check(true, job.DefaultQueue)
	do(&state.Command{RemoveQueue: "day"})
	check(false, job.DefaultQueue)
	one := int64(1)
	do(&state.Command{PutLimit: &api.Limit{Name: "l", User: "ann", Running: &one}})
	check(true, job.DefaultQueue)
	do(&state.Command{RemoveLimit: "l"})
	check(false, job.DefaultQueue)

	do(&state.Command{PutAccount: &api.Account{Name: "lab"}})
	applied(t, s, now, &state.Command{AddReservation: &api.Reservation{Name: "r", Nodes: []string{"n"}, From: now, To: now.Add(time.Hour), Accounts: []string{"lab"}}})
	require.Equal(t, api.CodeConflict, applied(t, s, now, &state.Command{RemoveAccount: "lab"}).Err.Code)
	require.False(t, s.View().Reservation("r").Open("ann", s.View().AccountsOf("ann")))
	do(&state.Command{PutUser: &api.User{Name: "ann", Account: "lab"}})
	require.True(t, last.Reservations, "jobs that wait for it are looked at again")
	require.True(t, s.View().Reservation("r").Open("ann", s.View().AccountsOf("ann")))
}
