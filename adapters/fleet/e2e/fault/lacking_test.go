package fault

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/fleet/agent"
	"github.com/berth-project/berth/adapters/fleet/e2e/cluster"
	"github.com/berth-project/berth/adapters/fleet/job"
)

// account is who all jobs run as. Only the nodes have it. Some machines have "nobody" whatever
// is in their files.
const account = "berth-e2e"

// withAccount is the machine's file of accounts with that one.
func withAccount(t *testing.T) string {
	passwd, err := os.ReadFile("/etc/passwd")
	require.NoError(t, err)
	path := filepath.Join(sharedFolder(t), "passwd")
	line := account + ":x:65532:65534::/nonexistent:/bin/sh\n"
	require.NoError(t, os.WriteFile(path, append(passwd, line...), 0o644))
	return path
}

// lack is what some nodes lack that jobs need.
type lack struct {
	name string
	// without makes the nodes lack it. Home is where the working directory of jobs is.
	without func(o *cluster.Options, nodes []string, home string)
	// then does so once the fleet runs.
	then func(c *cluster.Cluster, nodes []string) error
}

var lacks = []lack{
	{name: "folder", without: func(o *cluster.Options, nodes []string, home string) {
		for _, n := range nodes {
			o.Over[n][home] = ""
		}
	}},
	{name: "account", without: func(o *cluster.Options, nodes []string, _ string) {
		for _, n := range nodes {
			delete(o.Over, n)
		}
	}},
	{name: "execution", without: func(o *cluster.Options, nodes []string, _ string) { o.NoExec = nodes }},
	{name: "disk", then: func(c *cluster.Cluster, nodes []string) error {
		for _, n := range nodes {
			if err := c.Disk(n).Fill(); err != nil {
				return err
			}
		}
		return nil
	}},
}

// Two nodes of five lack the same, and all jobs end as they would without these nodes, while
// leaders die. Some jobs are mistaken, and no node that is well is lost for that.
func TestNodesThatLackSomething(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("nodes that lack something need root")
	}
	if *seed == 0 {
		*seed = rand.Uint64()
	}
	for _, k := range lacks {
		t.Run(k.name, func(t *testing.T) { lacking(t, k) })
	}
}

const (
	// kills is how many leaders die meanwhile.
	kills = 6
	// diskOfNodes is the size of their disks, in bytes.
	diskOfNodes = 64 << 20
)

var bad = []string{"b1", "b2"}

func lacking(t *testing.T, k lack) {
	shared := sharedFolder(t)
	home, ledger := filepath.Join(shared, "home"), filepath.Join(shared, "ledger")
	require.NoError(t, os.MkdirAll(filepath.Join(home, "work"), 0o755))
	require.NoError(t, os.Mkdir(ledger, 0o755))
	require.NoError(t, os.Chmod(ledger, 0o777))
	_, file, _, _ := runtime.Caller(0)
	program, err := cluster.Build(filepath.Dir(filepath.Dir(file)), "./fault/task")
	require.NoError(t, err)

	passwd := withAccount(t)
	o := cluster.Options{Unreachable: 2 * time.Second, Lost: lost, Revive: true, Disks: map[string]int64{}, Over: map[string]map[string]string{}}
	for _, name := range slices.Concat(bad, nodes) {
		n := cluster.Node(name, nil)
		n.Accounts = agent.AccountsUsers
		o.Agents, o.Disks[name] = append(o.Agents, n), diskOfNodes
		o.Over[name] = map[string]string{"/etc/passwd": passwd}
	}
	if k.without != nil {
		k.without(&o, bad, home)
	}
	c := cluster.Start(t, o)
	if k.then != nil {
		require.NoError(t, k.then(c, bad))
	}
	s := &story{capacity: capacities(t, c), lacking: bad}
	x := &trouble{t: t, c: c, tried: map[string]int{}, done: map[string]int{}}
	l := &load{c: c, program: program, ledger: ledger, seed: *seed, change: jobsIn(filepath.Join(home, "work"))}

	t.Logf("seed %d", *seed)
	began := time.Now()
	ctx, stop := context.WithCancel(t.Context())
	loaded := make(chan struct{})
	go func() { defer close(loaded); l.run(ctx) }()
	x.lane(t.Context(), serverFaults[:1], kills, rand.New(rand.NewPCG(*seed, 0)))
	stop()
	<-loaded
	s.tell(t, c, l, x, began)
	s.tellOfNodes(t, c)
}

// jobsIn has jobs run in a folder, half of them as scripts. A fifth of them is mistaken.
func jobsIn(folder string) func(*rand.Rand, *job.Spec) bool {
	return func(rng *rand.Rand, s *job.Spec) bool {
		s.User, s.Dir = account, folder
		mistaken := rng.IntN(5) == 0
		switch {
		case mistaken && rng.IntN(2) == 0:
			s.Dir += "s"
		case mistaken:
			s.Command[0] += "s"
		case rng.IntN(2) == 0:
			s.Script, s.Args, s.Command = "#!/bin/sh\nexec \"$@\"\n", s.Command, nil
		}
		return mistaken
	}
}

// tellOfNodes says which nodes are lost, and on which attempts could not start.
func (s *story) tellOfNodes(t *testing.T, c *cluster.Cluster) {
	list, err := c.Client.Nodes(t.Context(), 0, "")
	require.NoError(t, err)
	for _, n := range list.Nodes {
		t.Logf("node %s: %q", n.Name, n.Unhealthy)
		if !slices.Contains(s.lacking, n.Name) && n.Unhealthy != "" {
			t.Errorf("node %s is lost: %s", n.Name, n.Unhealthy)
		}
	}
	failed := map[string]int{}
	for i := range s.records {
		if r := &s.records[i]; r.State == job.Failed || r.State == job.BootFail {
			failed[fmt.Sprint(r.Nodes)]++
		}
	}
	t.Logf("attempts that could not start, by their nodes: %v", failed)
}

// sharedFolder is a folder that all accounts may pass through.
func sharedFolder(t *testing.T) string {
	dir, err := os.MkdirTemp("", "berth-shared-")
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	require.NoError(t, os.Chmod(dir, 0o711))
	return dir
}
