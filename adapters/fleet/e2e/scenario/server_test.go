package scenario

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/e2e/cluster"
	"github.com/berth-project/berth/adapters/fleet/job"
)

func TestServers(t *testing.T) {
	// Agents notice a server that hangs after some seconds only.
	tell(t, cluster.Options{Agents: racks(), Lost: 30 * time.Second}, []part{
		{"events are followed across a change of leader", eventsAcrossLeaders},
		{"a leader that is asked to end hands over", handover},
		{"a leader that is killed is replaced, and what runs runs on", failover},
		{"a server that hangs holds nothing up", hang},
		{"a fourth server joins, and one leaves", joinAndRemove},
		{"a backup is restored", backup},
	})
}

func TestServersAgree(t *testing.T) {
	tell(t, cluster.Options{}, []part{
		{"a good token is good while servers are killed, and a removed one nowhere", tokensUnderKills},
		{"a server that is cut off identifies nobody", cutOffServer},
		{"a revoked user is locked out, tokens and all", lockedOut},
		{"the list of servers says which is dead", deadMember},
	})
}

// newToken makes a token, and returns its user and its ID.
func newToken(c *cluster.Cluster, name string) (*cluster.User, string) {
	var made api.TokenResponse
	c.JSON(&made, "token", "create", name)
	return c.Bearer(made.Token), made.ID
}

// tokensUnderKills: each server is killed in turn, misses that a token is made, and is
// asked from the moment when it is started again.
func tokensUnderKills(t *testing.T, c *cluster.Cluster) {
	servers := c.Servers()
	for round := range 2 * len(servers) {
		p := c.Process(servers[round%len(servers)])
		old, oldID := newToken(c, "eve")
		p.Kill()
		fresh, freshID := newToken(c, "eve")
		c.Berth("token", "remove", oldID)
		require.NoError(t, p.Start())
		all := []string{p.Address}
		for _, name := range servers {
			if other := c.Process(name).Address; other != p.Address {
				all = append(all, other)
			}
		}
		for range 10 { // the client asks it first, and then others
			fresh.Berth("submit", "--check", "--addr", strings.Join(all, ","), "--", "true")
			old.Refused(4, nil, "submit", "--check", "--addr", strings.Join(all, ","), "--", "true")
		}
		agree := func(u *cluster.User, want int) {
			t.Helper()
			for _, address := range all {
				c.Until(fmt.Sprintf("%s answers", address), func() error {
					a := u.Try("jobs", "--addr", address)
					require.Contains(t, []int{want, 5}, a.Code, "%s: %s%s", address, a.Out, a.Bad)
					if a.Code == want {
						return nil
					}
					return a.Err()
				})
			}
		}
		agree(fresh, 0)
		agree(old, 4)
		c.Berth("token", "remove", freshID)
		agree(fresh, 4)
	}
}

// cutOffServer: users reach it, and it reaches no other server.
func cutOffServer(t *testing.T, c *cluster.Cluster) {
	if !c.CanCut() {
		t.Skip("links can be cut between network namespaces only")
	}
	before, id := newToken(c, "eve")
	cut := c.Leader()
	for _, other := range c.Servers() {
		if other != cut {
			require.NoError(t, c.Cut(cut, other))
		}
	}
	c.Until("another server leads", func() error {
		if leader := c.FindLeader(); leader == "" || leader == cut {
			return fmt.Errorf("%q does", leader)
		}
		return nil
	})
	alone := c.Process(cut).Address
	after, _ := newToken(c, "eve")
	c.Berth("token", "remove", id)
	for _, u := range []*cluster.User{before, after, c.User} {
		u.Refused(5, []string{"no server that leads can be reached"}, "jobs", "--addr", alone)
		u.Refused(5, nil, "server", "status", "--addr", alone)
	}
	for _, other := range c.Servers() {
		if other != cut {
			require.NoError(t, c.Heal(cut, other))
		}
	}
	for u, want := range map[*cluster.User]int{before: 4, after: 0} {
		c.Until("it answers again", func() error {
			a := u.Try("jobs", "--addr", alone)
			require.Contains(t, []int{want, 5}, a.Code, "%s%s", a.Out, a.Bad)
			if a.Code == want {
				return nil
			}
			return a.Err()
		})
	}
}

func lockedOut(t *testing.T, c *cluster.Cluster) {
	one, oneID := newToken(c, "mallory")
	two, twoID := newToken(c, "mallory")
	other, _ := newToken(c, "eve")
	said := c.Berth("server", "revoke", "user/mallory")
	require.Contains(t, said, "2 tokens are removed: ")
	require.Contains(t, said, oneID)
	require.Contains(t, said, twoID)
	for _, name := range c.Servers() {
		address := c.Process(name).Address
		one.Refused(4, nil, "jobs", "--addr", address)
		two.Refused(4, nil, "submit", "--addr", address, "--", "true")
		other.Berth("jobs", "--addr", address)
	}
}

func deadMember(t *testing.T, c *cluster.Cluster) {
	gone := c.Leader()
	c.Process(gone).Kill()
	c.Until("it is said to be unreachable, and the others healthy", func() error {
		var list api.MemberList
		a := c.Try("server", "members", "-o", "json")
		if err := a.Err(); err != nil {
			return err
		}
		require.NoError(t, json.Unmarshal([]byte(a.Out), &list))
		require.Len(t, list.Members, 3)
		for _, m := range list.Members {
			if want := map[bool]api.MemberState{true: api.MemberUnreachable, false: api.MemberHealthy}[m.ID == gone]; m.State != want {
				return fmt.Errorf("%s is %s", m.ID, m.State)
			}
		}
		return nil
	})
	require.Regexp(t, `(?m)^`+gone+` .* unreachable `, c.Berth("server", "members"))
	require.NoError(t, c.Process(gone).Start())
}

func eventsAcrossLeaders(t *testing.T, c *cluster.Cluster) {
	f := c.Follow("events", "-f", "-o", "json")
	finished := func(id job.ID) func() error {
		return func() error {
			for line := range strings.Lines(f.Text()) {
				var e api.Event
				if json.Unmarshal([]byte(line), &e) == nil && e.Job == id && e.Kind == api.EventFinished {
					return nil
				}
			}
			return fmt.Errorf("not among %d bytes of events", len(f.Text()))
		}
	}
	var ids []job.ID
	for range 3 {
		id := c.Submit("--cpu", "0.1", "--", "true")
		ids = append(ids, id)
		c.Until("the job's end is told", finished(id))
		leader := c.Leader()
		require.NoError(t, c.Process(leader).Stop())
		require.NoError(t, c.Process(leader).Start())
		c.Leader()
	}
	last := c.Submit("--cpu", "0.1", "--", "true")
	c.Until("the job's end is told", finished(last))
	f.Stop()
	told := map[string]int{}
	for line := range strings.Lines(f.Text()) {
		var e api.Event
		require.NoError(t, json.Unmarshal([]byte(line), &e), line)
		told[e.ID]++
		require.Equal(t, 1, told[e.ID], "event %s is told once", e.ID)
		require.NotEqual(t, api.EventMissed, e.Kind)
	}
	for _, id := range append(ids, last) {
		var kinds []api.EventKind
		for line := range strings.Lines(f.Text()) {
			var e api.Event
			if json.Unmarshal([]byte(line), &e) == nil && e.Job == id {
				kinds = append(kinds, e.Kind)
			}
		}
		require.Equal(t, []api.EventKind{api.EventSubmitted, api.EventPlaced, api.EventRunning, api.EventEnded, api.EventFinished}, kinds)
	}
}

// steady is a job that runs through a part.
func steady(t *testing.T, c *cluster.Cluster) (stillRuns func()) {
	id := sleeper(c)
	before := c.In(id, job.Running)
	return func() {
		t.Helper()
		after := c.In(id, job.Running)
		require.Empty(t, after.Attempts)
		require.Equal(t, before.Elements[0].Tasks[0], after.Elements[0].Tasks[0], "the same task on the same node")
		end(c, id)
	}
}

func handover(t *testing.T, c *cluster.Cluster) {
	stillRuns := steady(t, c)
	old := c.Leader()
	before, err := c.Status(old)
	require.NoError(t, err)
	require.NoError(t, c.Process(old).Stop())
	leader := c.Leader()
	require.NotEqual(t, old, leader)
	after, err := c.Status(leader)
	require.NoError(t, err)
	require.Equal(t, before.Term+1, after.Term, "handed over: nobody had to stand twice")
	c.Ended(c.Submit("--cpu", "0.1", "--", "true"), job.Completed)
	require.NoError(t, c.Process(old).Start())
	stillRuns()
}

func failover(t *testing.T, c *cluster.Cluster) {
	stillRuns := steady(t, c)
	waits := c.Submit("--begin", "now+3s", "--cpu", "0.1", "--", "true")
	held := c.Submit("--hold", "--cpu", "0.1", "--", "true")
	old := c.Leader()
	c.Process(old).Kill()
	c.Leader()
	c.Ended(waits, job.Completed)
	c.Berth("release", held.String())
	c.Ended(held, job.Completed)
	require.NoError(t, c.Process(old).Start())
	c.Until("it follows", func() error {
		s, err := c.Status(old)
		if err == nil && s.Leader == "" {
			err = fmt.Errorf("it knows of no leader")
		}
		return err
	})
	stillRuns()
}

// hang: the leader does not run, and its connections stay open. Agents and users go to
// the next one by themselves.
func hang(t *testing.T, c *cluster.Cluster) {
	stillRuns := steady(t, c)
	old := c.Leader()
	p := c.Process(old)
	p.Pause()
	defer p.Resume()
	c.Until("another server leads", func() error {
		if leader := c.FindLeader(); leader == "" || leader == old {
			return fmt.Errorf("%q does", leader)
		}
		return nil
	})
	c.Ended(c.Submit("--cpu", "0.1", "--retry-backoff", "0s", "--", "true"), job.Completed)
	p.Resume()
	c.Until("it follows", func() error {
		if leader := c.FindLeader(); leader == old {
			return fmt.Errorf("it leads")
		}
		return nil
	})
	stillRuns()
}

func joinAndRemove(t *testing.T, c *cluster.Cluster) {
	stillRuns := steady(t, c)
	members := func() []string {
		var list api.MemberList
		c.JSON(&list, "server", "members")
		var out []string
		for _, m := range list.Members {
			if m.Voter {
				out = append(out, m.ID)
			}
		}
		slices.Sort(out)
		return out
	}
	c.AddServer("s4")
	c.Until("the fourth server takes part", func() error {
		if m := members(); len(m) != 4 {
			return fmt.Errorf("%v", m)
		}
		return nil
	})
	gone := c.Leader()
	if gone == "s1" {
		gone = "s2" // the operator's first address
	}
	c.Berth("server", "remove", gone)
	require.NotContains(t, members(), gone)
	require.NoError(t, c.Process(gone).Stop())
	c.Ended(c.Submit("--cpu", "0.1", "--", "true"), job.Completed)
	s4, err := c.Status("s4")
	require.NoError(t, err)
	require.NotEmpty(t, s4.Leader)
	c.Refused(3, []string{"nosuch"}, "server", "remove", "nosuch")
	stillRuns()
}

// backup: what has happened since is forgotten, and tasks that it does not know are
// ended.
func backup(t *testing.T, c *cluster.Cluster) {
	kept := c.Submit("--hold", "--name", "kept", "--cpu", "0.1", "--", "true")
	stillRuns := steady(t, c)
	file := filepath.Join(t.TempDir(), "backup")
	c.Berth("server", "backup", file)
	c.Refused(2, []string{"is there already"}, "server", "backup", file)
	later := sleeper(c, "--name", "later")
	node := nodeOf(t, c.In(later, job.Running))
	c.Refused(2, []string{"--yes"}, "server", "restore", file)
	c.Berth("server", "restore", "--yes", file)
	c.Refused(3, []string{"no job"}, "job", later.String())
	c.Until("what the backup does not know is ended", func() error {
		for task := range c.Process(node).Shims() {
			if strings.HasPrefix(task, later.String()+"_") {
				return fmt.Errorf("task %s runs", task)
			}
		}
		return nil
	})
	c.Waits(kept, job.ReasonHeldUser)
	c.Berth("release", kept.String())
	c.Ended(kept, job.Completed)
	stillRuns()
}
