package replica

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/raft"
	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/fleet/pki"
)

func TestOneServer(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	s := c.start("s1", true)
	c.leader()
	for i := range 10 {
		place, err := s.Propose(t.Context(), 1, fmt.Append(nil, "c", i))
		require.NoError(t, err)
		require.Equal(t, i, place)
	}
	require.NoError(t, s.Verify(t.Context()))
	l, ok := s.Leader()
	require.True(t, ok)
	require.Equal(t, "s1", l.ID)
	require.EqualValues(t, 10, s.Stats().Commands)
	require.Equal(t, "Leader", s.Stats().State)

	c.stop("s1")
	again := c.start("s1", true)
	c.leader()
	require.Equal(t, 10, again.machine.len(), "all of it is there when the leader is ready")
}

func TestConfigProblemsAreToldAtOnce(t *testing.T) {
	t.Parallel()
	_, err := Open(Config{Slowness: -1})
	for _, field := range []string{"ID", "Address", "Dir", "Machine", "Keeper", "Slowness"} {
		require.ErrorContains(t, err, field)
	}
}

func TestFolderHasOneUser(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	c.start("s1", true)
	_, err := Open(Config{ID: "x", Address: "x", Dir: filepath.Join(c.dir, "s1"), Machine: &list{}, Keeper: c.keeper("x")})
	require.ErrorContains(t, err, "another server uses the folder")
}

func TestCommandsAreLimited(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	s := c.start("s1", true)
	c.leader()
	_, err := s.Propose(t.Context(), 1, make([]byte, MaxCommand+1))
	require.ErrorIs(t, err, ErrTooBig)
	_, err = s.Propose(t.Context(), 1, bytes.Repeat([]byte{'x'}, MaxCommand))
	require.NoError(t, err)
	_, err = s.Propose(t.Context(), 1, nil)
	require.NoError(t, err, "an empty command is a command")
	require.Equal(t, 2, s.machine.len())
}

func TestFollowersCatchUpAndDecline(t *testing.T) {
	t.Parallel()
	c := newCluster(t).steady().three()
	ctx, cancel := context.WithCancel(t.Context())
	h, work := c.clients(ctx, 8)
	c.wait("500 commands", func() bool { return h.acknowledged() >= 500 })
	cancel()
	work.Wait()
	h.check(t, c.agree())

	leader := c.leader()
	for _, n := range c.all() {
		if n == leader {
			continue
		}
		_, err := n.Propose(t.Context(), 1, []byte("no"))
		require.ErrorIs(t, err, ErrNotLeader)
		var not *NotLeaderError
		require.ErrorAs(t, err, &not)
		require.Equal(t, leader.name, not.Leader.Address)
		require.ErrorIs(t, n.Verify(t.Context()), ErrNotLeader)
		require.ErrorIs(t, n.TransferLeadership(t.Context()), ErrNotLeader)
		_, err = n.RestoreBackup(t.Context(), nil, nil)
		require.ErrorIs(t, err, ErrNotLeader)
	}
	require.NoError(t, leader.Verify(t.Context()))
}

func TestProposalGivenUpBeforeItIsSentIsNotMade(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	s := c.start("s1", true)
	c.leader()
	ctx, cancel := context.WithCancelCause(t.Context())
	given := errors.New("given up")
	// All places are taken, so the proposal cannot be sent.
	for range cap(s.proposer.slots) {
		s.proposer.slots <- struct{}{}
	}
	result := make(chan error, 1)
	go func() { _, err := s.Propose(ctx, 1, []byte("no")); result <- err }()
	c.wait("it waits", func() bool { return s.Stats().Waiting == 1 })
	cancel(given)
	err := <-result
	require.ErrorIs(t, err, given)
	require.NotErrorIs(t, err, ErrLost)
	for range cap(s.proposer.slots) {
		<-s.proposer.slots
	}
	c.propose("yes")
	require.Equal(t, []string{"yes"}, s.machine.all())
}

func TestClosedReplicaAnswers(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	s := c.start("s1", true)
	c.leader()
	c.stop("s1")
	_, err := s.Propose(t.Context(), 1, nil)
	require.ErrorIs(t, err, ErrClosed)
	require.NotErrorIs(t, err, ErrLost)
	require.ErrorIs(t, s.Verify(t.Context()), ErrClosed)
	require.ErrorIs(t, s.Lead(t.Context(), nil), ErrClosed)
	require.ErrorIs(t, s.Err(), ErrClosed)
	require.NoError(t, s.Close(), "closing twice is fine")
	<-s.Done()
}

// It looks at all goroutines of the process, so nothing runs beside it.
func TestCloseLeavesNothingRunning(t *testing.T) {
	c := newCluster(t).three()
	c.propose("something")
	c.kill(c.leader().name)
	for name := range c.all() {
		c.stop(name)
	}
	c.wait("all goroutines end", func() bool {
		buf := make([]byte, 4<<20)
		stacks := string(buf[:runtime.Stack(buf, true)])
		for _, of := range []string{"github.com/hashicorp/raft", "replica.(*Replica)", "replica.(*proposer)", "replica.(*verifier)"} {
			if strings.Contains(stacks, of) {
				return false
			}
		}
		return true
	})
}

func TestMembers(t *testing.T) {
	t.Parallel()
	c := newCluster(t).steady().three()
	leader := c.leader()
	c.wait("the leader hears of all", func() bool {
		ms, err := leader.Members()
		require.NoError(t, err)
		for _, m := range ms {
			if m.LastContact.IsZero() || m.LastIndex == 0 {
				return false
			}
		}
		return true
	})
	require.ErrorIs(t, leader.Remove(t.Context(), "nobody"), ErrUnknownMember)
	require.ErrorContains(t, leader.AddVoter(t.Context(), "s9", "s1"), "remove it first")

	require.NoError(t, leader.TransferLeadership(t.Context()))
	c.wait("another leads", func() bool { return c.leader() != leader })
	second := c.leader()
	require.NoError(t, second.Remove(t.Context(), leader.name))
	c.stop(leader.name)
	c.propose("two are enough")

	// A leader that removes itself gives way.
	require.NoError(t, second.Remove(t.Context(), second.name))
	c.stop(second.name)
	c.propose("one is enough")
	last := c.leader()
	ms, err := last.Members()
	require.NoError(t, err)
	require.Len(t, ms, 1)
	err = last.Remove(t.Context(), last.name)
	require.ErrorContains(t, err, "at least one voter")
	require.NotErrorIs(t, err, ErrLost)
	c.propose("still there")
}

func TestOnlyServersReplicate(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	s := c.start("s1", true)
	for _, role := range []pki.Role{pki.Agent, pki.User, pki.Operator} {
		credential, err := c.ca.Issue(pki.Grant{Identity: pki.Identity{Role: role, Name: "eve"}})
		require.NoError(t, err)
		conn := dialAs(t, c, credential)
		require.NoError(t, conn.SetReadDeadline(time.Now().Add(patience)))
		_, err = conn.Read(make([]byte, 1))
		require.Error(t, err)
		var timeout interface{ Timeout() bool }
		require.False(t, errors.As(err, &timeout) && timeout.Timeout(), "%s is shut out", role)
		require.NoError(t, conn.Close())
	}
	c.leader()
	require.NoError(t, s.Verify(t.Context()))
}

func TestLateServerIsRestoredFromASnapshot(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	c.change = func(_ string, conf *Config) {
		conf.segment = 4096
		conf.tune = func(rc *raft.Config) {
			rc.SnapshotInterval, rc.SnapshotThreshold, rc.TrailingLogs = 20*time.Millisecond, 20, 5
		}
	}
	first := c.start("s1", true)
	var want []string
	for i := range 200 {
		want = append(want, fmt.Sprint(i))
		c.propose(want[i])
	}
	c.wait("the log is cut", func() bool {
		from, err := first.store.wal.FirstIndex()
		return err == nil && from > 100
	})
	late := c.start("s2", false)
	c.add("s2")
	c.wait("it has its vote", func() bool {
		ms, err := c.leader().Members()
		return err == nil && len(ms) == 2 && ms[1].Voter
	})
	require.Equal(t, want, others(c.agree()))
	late.machine.mu.Lock()
	require.Positive(t, late.machine.restored)
	late.machine.mu.Unlock()

	c.stop("s1")
	c.stop("s2")
	c.start("s1", false)
	c.start("s2", false)
	require.Equal(t, want, others(c.agree()), "and after a restart from snapshot and log")
}
