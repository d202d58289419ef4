package engine_test

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins/defaultbinder"
	"github.com/berth-project/berth/plugins/noderesources"
	"github.com/berth-project/berth/plugins/queuesort"
)

// traceJob is a job of a trace. Times are in seconds.
type traceJob struct {
	submit, run, limit, procs int64
	user                      string
}

// trace is a machine and its jobs, in the order in which they come.
type trace struct {
	procs int64
	jobs  []traceJob
	// warm is how many jobs come before the first forecast, every how many come from one to the next.
	warm, every int
}

// calibrate runs the trace, forecasts again and again, and returns how that came true.
func (tr *trace) calibrate(t *testing.T, mode engine.BackfillMode) engine.Calibration {
	t.Helper()
	profile := extpoints.Profile{Name: "processors"}
	extpoints.Use(&profile, queuesort.New, extpoints.NoArgs{})
	extpoints.Use(&profile, noderesources.NewFit, noderesources.FitArgs{}, extpoints.Only("PreFilter", "Filter"))
	extpoints.Use(&profile, defaultbinder.New, extpoints.NoArgs{})
	r, err := engine.NewRaw(engine.Config{
		Profiles: []extpoints.Profile{profile}, Orchestrator: &world{}, RememberDecisions: -1, Seed: 1,
		Backfill: engine.Backfill{Mode: mode}, Forecast: engine.ForecastOptions{Runs: 9, Depth: 15},
	})
	require.NoError(t, err)
	at := func(s int64) time.Time { return epoch.Add(time.Duration(s) * time.Second) }
	now := tr.jobs[0].submit
	require.NoError(t, r.Apply(at(now), engine.PutNode(&model.Node{Name: "n", Allocatable: model.Resources{CPU: tr.procs}, MaxWorkloads: tr.procs})))
	type end struct{ at, job int64 }
	var ends []end
	var last *engine.Forecast
	for next := 0; next < len(tr.jobs) || len(ends) > 0; {
		if next < len(tr.jobs) && (len(ends) == 0 || tr.jobs[next].submit < ends[0].at) {
			j := &tr.jobs[next]
			now = j.submit
			require.NoError(t, r.Apply(at(now), engine.Submit(&model.Workload{
				ID: fmt.Sprint(next), Requests: model.Resources{CPU: j.procs}, Principal: j.user, Limit: time.Duration(j.limit) * time.Second,
			})))
			next++
		} else {
			now = ends[0].at
			require.NoError(t, r.Apply(at(now), engine.Finish(fmt.Sprint(ends[0].job)), engine.Remove(fmt.Sprint(ends[0].job))))
			ends = ends[1:]
		}
		r.Tick(at(now))
		for r.Schedule(at(now)) {
			for task := r.NextTask(); task != nil; task = r.NextTask() {
				job, err := strconv.Atoi(task.Workload().ID)
				require.NoError(t, err)
				task.Settle(nil)
				r.Finish(at(now), task)
				ends = append(ends, end{now + min(tr.jobs[job].run, tr.jobs[job].limit), int64(job)})
			}
		}
		slices.SortStableFunc(ends, func(a, b end) int { return cmp.Compare(a.at, b.at) })
		if next > tr.warm && next%tr.every == 0 && next < len(tr.jobs) || len(ends) == 0 {
			last, err = r.Forecast(t.Context(), at(now))
			require.NoError(t, err)
		}
	}
	return last.Calibration
}

// percents are how many of 100 had started by the P50 and by the P90.
func percents(c engine.Calibration) (p50, p90 float64) {
	return 100 * float64(c.ByP50) / float64(c.Starts), 100 * float64(c.ByP90) / float64(c.Starts)
}

// synthetic is a trace of users each of whom has a way of asking for more time than jobs take.
func synthetic(seed uint64, jobs int) *trace {
	rng := rand.New(rand.NewPCG(seed, 3))
	tr := &trace{procs: 32, warm: 100, every: 3}
	now := int64(0)
	for range jobs {
		now += rng.Int64N(1200)
		user := rng.IntN(4)
		j := traceJob{submit: now, limit: 600 * (1 + rng.Int64N(10)), procs: 1 + rng.Int64N(16), user: fmt.Sprint("user-", user)}
		share := rng.Int64N(100) // of the limit
		switch user {
		case 0: // most of it
			share = 80 + share/5
		case 1: // little
			share = 1 + share/4
		case 2: // all, or it fails at once
			share = max(1, share/20*33-32)
		}
		j.run = max(1, j.limit*min(share, 100)/100)
		tr.jobs = append(tr.jobs, j)
	}
	return tr
}

// Where nobody overtakes, what comes later changes nothing for those that wait, and users go on as
// they did: then about half of them have started by the P50, and nine of ten by the P90. Those that wait
// at the same time wait for the same ends and miss together, so single traces differ much.
func TestForecastsComeTrue(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("-short: 2,400 jobs are not forecast; run without -short")
	}
	var all engine.Calibration
	for seed := range uint64(6) {
		c := synthetic(seed+1, 400).calibrate(t, engine.InOrder)
		p50, p90 := percents(c)
		t.Logf("seed %d: %d starts, %.1f %% by the P50, %.1f %% by the P90", seed+1, c.Starts, p50, p90)
		all.Starts, all.ByP50, all.ByP90 = all.Starts+c.Starts, all.ByP50+c.ByP50, all.ByP90+c.ByP90
	}
	require.Greater(t, all.Starts, 1000)
	p50, p90 := percents(all)
	t.Logf("%d starts, %.1f %% by the P50, %.1f %% by the P90", all.Starts, p50, p90)
	require.InDelta(t, 50, p50, 5)
	require.InDelta(t, 90, p90, 5)
}

// logged is a piece of a log of the Parallel Workloads Archive.
func logged(t *testing.T, name string, jobs int) *trace {
	t.Helper()
	root := os.Getenv("BERTH_DATA")
	if root == "" {
		t.Skip("BERTH_DATA is not set: it names the folder that has the logs in easy/")
	}
	file, err := os.Open(filepath.Join(root, "easy", name))
	require.NoError(t, err)
	defer file.Close()
	text, err := gzip.NewReader(file)
	require.NoError(t, err)
	tr := &trace{warm: jobs / 4, every: 5}
	for lines := bufio.NewScanner(text); lines.Scan() && len(tr.jobs) < jobs; {
		fields := strings.Fields(lines.Text())
		if len(fields) < 12 || fields[0] == ";" {
			continue
		}
		number := func(i int) int64 {
			n, err := strconv.ParseInt(fields[i], 10, 64)
			require.NoError(t, err)
			return n
		}
		j := traceJob{submit: number(1), run: max(1, number(3)), limit: number(8), procs: max(number(4), number(7)), user: fields[11]}
		if j.procs > 0 && j.limit > 0 {
			tr.jobs = append(tr.jobs, j)
			tr.procs = max(tr.procs, j.procs)
		}
	}
	slices.SortStableFunc(tr.jobs, func(a, b traceJob) int { return cmp.Compare(a.submit, b.submit) })
	return tr
}

// On a real log others overtake that are not foreseen, and users change what they do: fewer start in time.
func TestForecastsOfALog(t *testing.T) {
	t.Parallel()
	tr := logged(t, "KTH-SP2.easy.swf.gz", 1000)
	c := tr.calibrate(t, engine.EASY)
	p50, p90 := percents(c)
	t.Logf("%d starts, %.1f %% by the P50, %.1f %% by the P90", c.Starts, p50, p90)
	require.Greater(t, c.Starts, 100)
	require.InDelta(t, 50, p50, 20)
	require.InDelta(t, 90, p90, 15)
}
