package replica

import (
	"testing"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
	"github.com/stretchr/testify/require"
)

func TestSnapshotsOfOneIndexHaveNamesOfTheirOwn(t *testing.T) {
	t.Parallel()
	files, err := raft.NewFileSnapshotStoreWithLogger(t.TempDir(), keptSnapshots, hclog.NewNullLogger())
	require.NoError(t, err)
	store := &snapshots{FileSnapshotStore: files}
	begun := map[string]raft.SnapshotSink{}
	for range 50 {
		sink, err := store.Create(raft.SnapshotVersionMax, 8, 2, raft.Configuration{}, 1, nil)
		require.NoError(t, err)
		begun[sink.ID()] = sink
	}
	require.Len(t, begun, 50)
	for _, sink := range begun {
		require.NoError(t, sink.Close())
	}
}
