package replica

import (
	"sync/atomic"

	"github.com/hashicorp/raft"
)

// Stats are numbers for metrics.
type Stats struct {
	// State is Leader, Follower, Candidate or Shutdown.
	State string
	Term  uint64 // the newest that this server has seen
	// Indexes of the log: the last entry here, the last that is committed, the last
	// that is handed to the machine, the last in a snapshot.
	LastIndex, CommitIndex, AppliedIndex, SnapshotIndex uint64
	// Entries, Commands and Bytes count what was applied here since the start.
	Entries, Commands, Bytes uint64
	// Waiting are the commands that wait for an entry, InFlight the entries on their
	// way.
	Waiting, InFlight int
}

type counts struct{ entries, commands, bytes atomic.Uint64 }

// Stats reads the numbers. They are of slightly different times.
func (r *Replica) Stats() Stats {
	s := Stats{
		State:        r.raft.State().String(),
		Term:         r.raft.CurrentTerm(),
		LastIndex:    r.raft.LastIndex(),
		CommitIndex:  r.raft.CommitIndex(),
		AppliedIndex: r.raft.AppliedIndex(),
		Entries:      r.counts.entries.Load(),
		Commands:     r.counts.commands.Load(),
		Bytes:        r.counts.bytes.Load(),
		InFlight:     len(r.proposer.slots),
	}
	if snaps, err := r.store.snap.List(); err == nil && len(snaps) > 0 {
		s.SnapshotIndex = snaps[0].Index
	}
	r.proposer.mu.Lock()
	s.Waiting = len(r.proposer.waiting)
	r.proposer.mu.Unlock()
	return s
}

var _ raft.StreamLayer = (*stream)(nil)
