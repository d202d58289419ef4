package replica

import (
	"context"
	"crypto/tls"
	"math/rand/v2"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/raft"
	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/fleet/pki"
	"github.com/berth-project/berth/model/modeltest"
)

// seeded is the chance of one test run, the same every time.
func seeded(t testing.TB) *rand.Rand {
	t.Helper()
	return rand.New(rand.NewPCG(modeltest.Seed(t), 1))
}

// dialAs connects to s1 for replication, with any credential.
func dialAs(t *testing.T, c *cluster, credential *pki.Credential) *tls.Conn {
	t.Helper()
	pem, err := credential.PEM()
	require.NoError(t, err)
	pair, err := tls.X509KeyPair(pem, pem)
	require.NoError(t, err)
	config := c.keeper("any").ClientTLS(pki.Identity{Role: pki.Server}, ALPN)
	config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &pair, nil }
	conn, err := tls.Dial("tcp", c.net.where["s1"], config)
	require.NoError(t, err)
	return conn
}

// Under load, leaders are killed and cut off by chance; whatever was acknowledged
// is on all servers, in one order, at the place that the client was told.
func TestNothingAcknowledgedIsLost(t *testing.T) {
	t.Parallel()
	random := seeded(t)
	c := newCluster(t)
	c.change = func(_ string, conf *Config) {
		conf.segment = 64 << 10 // so that there are many
		conf.tune = func(rc *raft.Config) {
			rc.SnapshotInterval, rc.SnapshotThreshold, rc.TrailingLogs = 50*time.Millisecond, 100, 50
		}
	}
	c.three()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	h, work := c.clients(ctx, 8)
	defer work.Wait()
	defer cancel()
	for range 6 {
		goOn(c, h, 100)
		name := c.leader().name
		if random.IntN(4) == 0 { // a follower, now and then
			name = []string{"s1", "s2", "s3"}[random.IntN(3)]
		}
		switch random.IntN(3) {
		case 0:
			t.Log("kill", name)
			c.kill(name)
			goOn(c, h, 1+random.IntN(100))
			c.start(name, false)
		case 1:
			t.Log("stop", name)
			c.stop(name)
			goOn(c, h, 1+random.IntN(100))
			c.start(name, false)
		case 2:
			t.Log("cut off", name)
			c.net.isolate(name, true)
			c.wait("another leads", func() bool { return c.leader().name != name })
			goOn(c, h, 1+random.IntN(100))
			c.net.isolate(name, false)
		}
	}
	cancel()
	work.Wait()
	h.check(t, c.agree())
}

// goOn waits until some more commands are acknowledged.
func goOn(c *cluster, h *history, more int) {
	c.t.Helper()
	want := h.acknowledged() + more
	c.wait("the fleet goes on", func() bool { return h.acknowledged() >= want })
}

func TestAllServersStopAndStartAgain(t *testing.T) {
	t.Parallel()
	c := newCluster(t).three()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	h, work := c.clients(ctx, 4)
	goOn(c, h, 200)
	for name := range c.all() {
		c.kill(name)
	}
	cancel()
	work.Wait()
	for _, name := range []string{"s1", "s2", "s3"} {
		c.start(name, false)
	}
	h.check(t, c.agree())
}

func TestLeaderWithoutMajorityVerifiesNothing(t *testing.T) {
	t.Parallel()
	c := newCluster(t).three()
	old := c.leader()
	c.net.isolate(old.name, true)
	c.wait("another leads", func() bool { return c.leader() != old })
	c.propose("new")
	require.ErrorIs(t, old.Verify(t.Context()), ErrNotLeader, "it would read what is old")

	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	_, err := old.Propose(ctx, 1, []byte("never"))
	require.Error(t, err)
	require.NoError(t, ctx.Err(), "the answer comes by itself")
	c.net.isolate(old.name, false)
	require.NotContains(t, c.agree(), "never")
}

// What Lead runs begins with the whole state, is never run twice at once on a
// server, is told when leadership is lost, and on each server terms only grow.
func TestLeadBeginsCompleteAndIsJoined(t *testing.T) {
	t.Parallel()
	c := newCluster(t).three()
	terms := make(chan uint64, 1000)
	var acknowledged atomic.Int64
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 3)
	for _, n := range c.all() {
		var running atomic.Int32
		var last uint64
		lead := func(ctx context.Context, term uint64) {
			if running.Add(1) != 1 {
				t.Error("run twice at once on", n.name)
			}
			if term <= last {
				t.Errorf("%s leads in term %d after %d", n.name, term, last)
			}
			last = term
			want, has := acknowledged.Load(), n.machine.len()
			// Where it leads no more, a later leader may have acknowledged what is missing.
			if n.Verify(ctx) == nil && has < int(want) {
				t.Errorf("%s begins with %d of %d commands", n.name, has, want)
			}
			terms <- term
			<-ctx.Done()
			for range 10000 { // slow to end: the next run must wait
				runtime.Gosched()
			}
			running.Add(-1)
		}
		go func() { ended <- n.Lead(ctx, lead) }()
	}
	<-terms
	for i := range 4 {
		c.propose("before")
		leader := c.leader()
		acknowledged.Store(int64(leader.machine.len()))
		old, _ := leader.Leads()
		if i%2 == 1 || leader.TransferLeadership(t.Context()) != nil {
			c.net.isolate(leader.name, true)
		}
		for <-terms <= old {
		}
		c.net.isolate(leader.name, false)
	}
	cancel()
	for range 3 {
		require.ErrorIs(t, <-ended, context.Canceled)
	}
}

func TestLeadThatReturnsEarlyWaitsForTheNextLeadership(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	s := c.start("s1", true)
	c.leader()
	ctx, cancel := context.WithCancel(t.Context())
	ran := make(chan uint64, 10)
	ended := make(chan error, 1)
	go func() { ended <- s.Lead(ctx, func(_ context.Context, term uint64) { ran <- term }) }()
	<-ran
	resume := s.leadership.suspend() // as a restored backup does
	resume()
	<-ran
	c.leader()
	cancel()
	require.ErrorIs(t, <-ended, context.Canceled)
	require.Empty(t, ran)
}
