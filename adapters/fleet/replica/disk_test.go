package replica

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/hashicorp/raft"
	"github.com/stretchr/testify/require"
)

// fullDisk is a log that can be written until full is set.
type fullDisk struct {
	raft.LogStore
	full *atomic.Bool
}

func (d fullDisk) StoreLogs(logs []*raft.Log) error {
	if d.full.Load() {
		return fmt.Errorf("write: %w", syscall.ENOSPC)
	}
	return d.LogStore.StoreLogs(logs)
}

func TestServerWithAFullDiskStopsAndTheOthersGoOn(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	full := map[string]*atomic.Bool{"s1": {}, "s2": {}, "s3": {}}
	c.change = func(name string, conf *Config) {
		conf.wrapLog = func(s raft.LogStore) raft.LogStore { return fullDisk{s, full[name]} }
	}
	c.three()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	h, work := c.clients(ctx, 8)
	goOn(c, h, 100)

	broken := c.leader()
	full[broken.name].Store(true)
	<-broken.Done()
	require.ErrorIs(t, broken.Err(), syscall.ENOSPC)
	_, err := broken.Propose(t.Context(), 1, []byte("x"))
	require.ErrorIs(t, err, ErrClosed)
	require.ErrorIs(t, err, syscall.ENOSPC)
	require.ErrorIs(t, broken.Verify(t.Context()), ErrClosed)
	c.wait("another leads", func() bool { return c.leader() != broken })
	goOn(c, h, 100)

	c.stop(broken.name)
	full[broken.name].Store(false)
	c.start(broken.name, false)
	goOn(c, h, 100)
	cancel()
	work.Wait()
	h.check(t, c.agree())
}

func TestOneServerWithAFullDisk(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	full := &atomic.Bool{}
	c.change = func(_ string, conf *Config) {
		conf.wrapLog = func(s raft.LogStore) raft.LogStore { return fullDisk{s, full} }
	}
	s := c.start("s1", true)
	c.propose("kept")
	full.Store(true)
	_, err := s.Propose(t.Context(), 1, []byte("refused"))
	require.Error(t, err)
	<-s.Done()
	c.stop("s1")
	full.Store(false)
	s = c.start("s1", false)
	c.propose("after")
	require.Equal(t, []string{"kept", "after"}, s.machine.all())
}

// The machine dies while the last entry is being written: some of its bytes are
// there. All that was acknowledged before is.
func TestTornTail(t *testing.T) {
	t.Parallel()
	random := seeded(t)
	c := newCluster(t)
	c.start("s1", true)
	for round := range 10 {
		for range 1 + random.IntN(5) {
			c.propose("acknowledged")
		}
		before := c.leader().machine.len()
		c.propose(string(bytes.Repeat([]byte{'x'}, 200)))
		c.stop("s1")

		torn := 1 + random.IntN(200)
		how := tear(t, filepath.Join(c.dir, "s1", "log"), torn, random.IntN(3))
		t.Logf("round %d: last %d bytes %s", round, torn, how)
		s := c.start("s1", false)
		c.leader()
		require.Equal(t, before, s.machine.len())
	}
}

// tear spoils the last bytes that were written to the newest segment.
func tear(t *testing.T, dir string, n, how int) string {
	t.Helper()
	segments, err := filepath.Glob(filepath.Join(dir, "*.wal"))
	require.NoError(t, err)
	require.NotEmpty(t, segments)
	newest := segments[len(segments)-1] // names sort by their first index
	data, err := os.ReadFile(newest)
	require.NoError(t, err)
	end := len(bytes.TrimRight(data, "\x00"))
	switch how {
	case 0:
		require.NoError(t, os.Truncate(newest, int64(end-n)))
		return "cut off"
	case 1:
		clear(data[end-n : end])
		require.NoError(t, os.WriteFile(newest, data, 0o600))
		return "never written"
	default:
		for i := end - n; i < end; i++ {
			data[i] ^= 0xa5
		}
		require.NoError(t, os.WriteFile(newest, data, 0o600))
		return "garbage"
	}
}

func TestGuardedLogTakesNothingAfterAFailure(t *testing.T) {
	t.Parallel()
	full := &atomic.Bool{}
	calls := 0
	g := &guardedLog{LogStore: fullDisk{raft.NewInmemStore(), full}, onFailure: func(error) { calls++ }}
	require.NoError(t, g.StoreLog(&raft.Log{Index: 1}))
	full.Store(true)
	require.ErrorIs(t, g.StoreLog(&raft.Log{Index: 2}), syscall.ENOSPC)
	full.Store(false)
	require.ErrorIs(t, g.StoreLog(&raft.Log{Index: 2}), syscall.ENOSPC)
	require.ErrorIs(t, g.DeleteRange(1, 1), syscall.ENOSPC)
	require.Equal(t, 1, calls)
	require.False(t, errors.Is(g.failed, ErrClosed))
}
