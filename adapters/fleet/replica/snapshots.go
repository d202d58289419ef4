package replica

import (
	"sync"
	"time"

	"github.com/hashicorp/raft"
)

// snapshots keeps the state in files. Two snapshots of one index never get the same
// name: the file store names them by term, index and millisecond, and refuses the
// second of a millisecond when it is complete.
type snapshots struct {
	*raft.FileSnapshotStore
	mu   sync.Mutex
	last int64 // the millisecond of the newest name
}

// Create begins a snapshot, in a millisecond of its own.
func (s *snapshots) Create(version raft.SnapshotVersion, index, term uint64, servers raft.Configuration, serversIndex uint64, trans raft.Transport) (raft.SnapshotSink, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for time.Now().UnixMilli() == s.last {
		time.Sleep(100 * time.Microsecond)
	}
	sink, err := s.FileSnapshotStore.Create(version, index, term, servers, serversIndex, trans)
	s.last = time.Now().UnixMilli()
	return sink, err
}
