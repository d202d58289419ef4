package replica

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// BenchmarkFsync is what the disk can do at best: small writes to a file that has
// its size already, each with an fsync.
func BenchmarkFsync(b *testing.B) {
	f, err := os.Create(filepath.Join(b.TempDir(), "f"))
	require.NoError(b, err)
	defer f.Close()
	block := bytes.Repeat([]byte{1}, 512)
	_, err = f.Write(make([]byte, 64<<20))
	require.NoError(b, err)
	require.NoError(b, f.Sync())
	at := int64(0)
	for b.Loop() {
		_, err := f.WriteAt(block, at%(64<<20))
		require.NoError(b, err)
		require.NoError(b, f.Sync())
		at += 512
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "fsyncs/s")
}

// BenchmarkPropose is the rate of commands of 512 bytes. Read it beside
// BenchmarkFsync. Three servers of one process share the disk and the
// processors.
func BenchmarkPropose(b *testing.B) {
	for _, servers := range []int{1, 3} {
		for _, depth := range []int{1, defaultDepth, 8} {
			c := newCluster(b)
			c.slow = 1
			c.change = func(_ string, conf *Config) { conf.depth = depth }
			if servers == 1 {
				c.start("s1", true)
			} else {
				c.three()
			}
			leader := c.leader()
			for _, callers := range []int{1, 16, 256} {
				b.Run(fmt.Sprintf("servers=%d/depth=%d/callers=%d", servers, depth, callers), func(b *testing.B) {
					benchmarkPropose(b, leader, callers)
				})
			}
			for name := range c.all() {
				c.stop(name)
			}
		}
	}
}

func benchmarkPropose(b *testing.B, leader *node, callers int) {
	command := bytes.Repeat([]byte{'x'}, 512)
	before := leader.Stats()
	var left atomic.Int64
	left.Store(int64(b.N))
	done := make(chan error, callers)
	b.ResetTimer()
	for range callers {
		go func() {
			for left.Add(-1) >= 0 {
				if _, err := leader.Propose(b.Context(), 1, command); err != nil {
					done <- err
					return
				}
			}
			done <- nil
		}()
	}
	for range callers {
		require.NoError(b, <-done)
	}
	b.StopTimer()
	after := leader.Stats()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "commands/s")
	b.ReportMetric(float64(after.Entries-before.Entries)/b.Elapsed().Seconds(), "entries/s")
}
