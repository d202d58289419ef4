package scheduler_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
	"github.com/berth-project/berth/adapters/fleet/scheduler"
	"github.com/berth-project/berth/adapters/fleet/state"
)

// The log at its default level grows with jobs, not with how often those that wait are
// tried: each place that is free again has others tried in vain.
func TestLogGrowsWithJobs(t *testing.T) {
	linesOf := func(kind, spec string, count int) int {
		var log bytes.Buffer
		in(t, []*api.Registration{node("a", 2)}, func(w *world) {
			w.make = func(c scheduler.Config) (*scheduler.Controller, error) {
				c.Logger = hclog.New(&hclog.LoggerOptions{Output: &log, Level: hclog.Info})
				return scheduler.New(c)
			}
			w.lead()
			w.runs = func(*state.Task) run { return run{lasts: 200 * time.Millisecond, ends: job.Completed} }
			ids := w.submit(slices.Repeat([]string{spec}, count)...)
			w.pass(time.Duration(count) * time.Minute)
			for _, id := range ids {
				require.Equal(t, string(job.Completed), w.states(id), fmt.Sprint(kind, id))
			}
			w.stop()
		})
		return bytes.Count(log.Bytes(), []byte("\n"))
	}
	for kind, spec := range map[string]string{
		"single tasks": "timeLimit: 1m",
		"gangs":        "timeLimit: 1m\ntasks: 2",
	} {
		few, many := linesOf(kind, spec, 10), linesOf(kind, spec, 80)
		require.Less(t, many, 9*few, "%s: %d lines of 10 jobs, %d of 80", kind, few, many)
	}
}
