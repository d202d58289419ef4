package scheduler_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
	"github.com/berth-project/berth/adapters/fleet/scheduler"
	"github.com/berth-project/berth/adapters/fleet/state"
	"github.com/berth-project/berth/model/modeltest"
)

// How often jobs are tried does not depend on how many wait: for each start at most three times
// the number of kinds of jobs. A try ends in a rejection, or with a node. Jobs are of one kind if they ask for the same and have the same priority, and in a tree of
// queues the same user.
func TestTriesGoByStarts(t *testing.T) {
	counts := []int{100, 200, 400}
	if testing.Short() {
		counts = []int{50, 100}
	}
	shapes := []string{
		"timeLimit: 1m", "resources: {cpu: 2}\ntimeLimit: 1m", "resources: {cpu: 3}\ntimeLimit: 2m",
		"resources: {memory: 1Gi}\ntimeLimit: 3m", "timeLimit: 10m",
	}
	priorities := []string{"", "\npriority: 1", "\npriority: 2"}
	one := []string{""}
	for name, c := range map[string]struct {
		shapes, priorities []string
		users              []string
		tree               bool
	}{
		"equal":                    {shapes[:1], one, []string{"ann"}, false},
		"shapes":                   {shapes, one, []string{"ann"}, false},
		"priorities":               {shapes[:1], priorities, []string{"ann"}, false},
		"both":                     {shapes, priorities, []string{"ann"}, false},
		"in a tree":                {shapes[:1], one, []string{"ann"}, true},
		"shapes in a tree":         {shapes, one, []string{"ann"}, true},
		"priorities in a tree":     {shapes[:1], priorities, []string{"ann"}, true},
		"shapes and users, a tree": {shapes, one, []string{"ann", "ben", "cem"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			for _, count := range counts {
				r := rand.New(rand.NewPCG(modeltest.Seed(t), 0))
				rejected, reserved, started := tries(t, c.tree, count, func() (owner, file string) {
					return c.users[r.IntN(len(c.users))], c.shapes[r.IntN(len(c.shapes))] + c.priorities[r.IntN(len(c.priorities))]
				})
				kinds := len(c.shapes) * len(c.priorities) * len(c.users)
				t.Logf("%d jobs of %d kinds: %.2f rejections and %.2f nodes a start", count, kinds, float64(rejected)/float64(started), float64(reserved)/float64(started))
				require.GreaterOrEqual(t, started, count)
				require.GreaterOrEqual(t, reserved, started)
				require.LessOrEqual(t, rejected+reserved, 3*kinds*started)
			}
		})
	}
}

// tries counts how often jobs were rejected, got a node, and started, until all have ended.
func tries(t *testing.T, tree bool, count int, next func() (owner, file string)) (rejected, reserved, started int) {
	var log bytes.Buffer
	in(t, []*api.Registration{node("a", 3), node("b", 3)}, func(w *world) {
		if tree {
			w.do(&state.Command{PutQueue: &api.Queue{Name: "light", Weight: 1}})
		}
		w.make = func(c scheduler.Config) (*scheduler.Controller, error) {
			c.Logger = hclog.New(&hclog.LoggerOptions{Output: &log, Level: hclog.Debug})
			return scheduler.New(c)
		}
		w.lead()
		w.runs = func(*state.Task) run { return run{lasts: 2 * time.Second, ends: job.Completed} }
		var ids []job.ID
		for range count {
			owner, file := next()
			ids = append(ids, w.of(owner, 1, file)...)
		}
		w.pass(time.Duration(3*count) * time.Second)
		for _, id := range ids {
			require.Equal(t, string(job.Completed), w.states(id), fmt.Sprint(id))
		}
		w.stop()
	})
	of := func(event string) int { return bytes.Count(log.Bytes(), []byte(event)) }
	return of(" rejected: "), of(" reserved: "), of(" bound: ")
}
