package fault

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/api/client"
	"github.com/berth-project/berth/adapters/fleet/e2e/cluster"
	"github.com/berth-project/berth/adapters/fleet/job"
)

var (
	long = flag.Bool("long", os.Getenv("BERTH_E2E_LONG") != "", "make a hundred faults of each kind (BERTH_E2E_LONG)")
	each = flag.Int("each", 0, "make so many faults of each kind; 0: 10, or 100 with -long")
	seed = flag.Uint64("seed", seedOf(os.Getenv("BERTH_E2E_SEED")), "of all random choices; 0: another one each time (BERTH_E2E_SEED)")
)

func seedOf(s string) uint64 {
	n, _ := strconv.ParseUint(s, 10, 64) // what is no number is none
	return n
}

func TestMain(m *testing.M) {
	flag.Parse()
	code := m.Run()
	cluster.Finish()
	os.Exit(code)
}

// nodes are the agents. Three, so that gangs of two have a choice.
var nodes = []string{"n1", "n2", "n3"}

func TestFaults(t *testing.T) {
	n := *each
	if n == 0 {
		n = 10
		if *long {
			n = 100
		}
	}
	if *seed == 0 {
		*seed = rand.Uint64()
	}
	t.Logf("seed %d: again with -seed %d; %d faults of each kind", *seed, *seed, n)

	_, file, _, _ := runtime.Caller(0)
	program, err := cluster.Build(filepath.Dir(filepath.Dir(file)), "./fault/task")
	require.NoError(t, err)
	ledger := t.TempDir()

	o := cluster.Options{Agents: cluster.Nodes(nodes...), Unreachable: 2 * time.Second, Lost: lost, Revive: true}
	if os.Geteuid() == 0 {
		o.Disks = map[string]int64{}
		for _, s := range []string{"s1", "s2", "s3"} {
			o.Disks[s] = 256 << 20 // the log's files have 64 MiB each
		}
		for _, s := range nodes {
			o.Disks[s] = 64 << 20
		}
	}
	c := cluster.Start(t, o)
	s := &story{capacity: capacities(t, c)}
	l := &load{c: c, program: program, ledger: ledger, seed: *seed}
	x := &trouble{t: t, c: c, tried: map[string]int{}, done: map[string]int{}}

	began := time.Now()
	ctx, stop := context.WithCancel(t.Context())
	loaded := make(chan struct{})
	go func() { defer close(loaded); l.run(ctx) }()
	var lanes sync.WaitGroup
	for i, faults := range [][]fault{serverFaults, nodeFaults} {
		lanes.Go(func() { x.lane(t.Context(), faults, n, rand.New(rand.NewPCG(*seed, uint64(i)))) })
	}
	lanes.Wait()
	stop()
	<-loaded
	t.Logf("faults are over after %v", time.Since(began).Round(time.Second))
	x.print()
	s.tell(t, c, l, x, began)
}

// tell waits for the end of all, and says what is wrong with it.
func (s *story) tell(t *testing.T, c *cluster.Cluster, l *load, x *trouble, began time.Time) {
	require.NoError(t, x.calm())
	s.gather(t, c, l, x)
	for _, err := range append(l.broken, s.check()...) {
		t.Error(err)
	}
	s.print(t, l, time.Since(began))
}

// capacities are what nodes say that they have.
func capacities(t *testing.T, c *cluster.Cluster) map[string]int64 {
	out := map[string]int64{}
	list, err := c.Client.Nodes(t.Context(), 0, "")
	require.NoError(t, err)
	for _, n := range list.Nodes {
		out[n.Name] = int64(n.Machine.CPU)
	}
	return out
}

// gather waits until all jobs have ended, and reads all that there is.
func (s *story) gather(t *testing.T, c *cluster.Cluster, l *load, x *trouble) {
	s.accepted, s.hits, s.jobs, s.names = l.accepted, x.hits, map[job.ID]api.JobDetail{}, map[string]int{}
	for _, a := range s.accepted {
		err := until(fmt.Sprintf("job %s (%s) has ended", a.id, a.key), func() error {
			j, err := c.Job(a.id)
			if err == nil && j.Ended.IsZero() {
				err = fmt.Errorf("it is %s (%s %s), %+v", j.State, j.Reason, j.Message, j.Elements)
			}
			if err == nil {
				s.jobs[a.id] = j
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
		// The same key is the same job, whoever leads by now.
		again, err := c.Client.Submit(t.Context(), api.SubmitRequest{Jobs: []job.Spec{{Name: a.key, Command: []string{"true"}}}, Key: a.key})
		if err != nil || !again.Repeated || len(again.Jobs) != 1 || again.Jobs[0] != a.id {
			t.Errorf("the key %s was accepted as job %s, and is %v by now (%v)", a.key, a.id, again, err)
		}
	}
	for after := ""; ; {
		page, err := c.Client.Jobs(t.Context(), client.JobFilter{Limit: api.MaxPage, After: after})
		require.NoError(t, err)
		for _, j := range page.Jobs {
			s.names[j.Name]++
		}
		if after = page.After; after == "" {
			break
		}
	}
	var err error
	s.records, err = records(c.Client)
	require.NoError(t, err)
	s.ledger, err = readLedger(l.ledger)
	require.NoError(t, err)
}

// print tells how much was done.
func (x *trouble) print() {
	for _, name := range slices.Sorted(maps.Keys(x.tried)) {
		x.t.Logf("%4d  %s", x.done[name], name)
	}
	for _, name := range append(x.c.Servers(), x.c.Agents()...) {
		x.t.Logf("%4d  starts of %s", x.c.Process(name).Starts(), name)
	}
}

func (s *story) print(t *testing.T, l *load, d time.Duration) {
	states := map[job.State]int{}
	for i := range s.records {
		states[s.records[i].State]++
	}
	t.Logf("%d jobs were accepted and read back %d times; %d requests were repeated", len(s.accepted), l.reads.Load(), l.repeats.Load())
	t.Logf("%d attempts, %d tasks that ran, %.1f tasks a second; ends %v", len(s.records), len(s.ledger), float64(len(s.ledger))/d.Seconds(), states)
	t.Logf("%d of %d attempts were not hit, and completed: %.1f %%", states[job.Completed], len(s.records), 100*float64(states[job.Completed])/float64(max(1, len(s.records))))
}
