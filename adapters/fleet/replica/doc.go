// Package replica keeps a state machine the same on one, three or five servers,
// by hashicorp/raft, and loses nothing of what it has acknowledged while a
// majority of them keeps its disks.
//
// # One command's way
//
//	Propose   a caller on the leader submits a command, and waits
//	gather    what has come while the last entry was on its way becomes the next
//	entry     commands with their lengths, one raft log entry (entry.go)
//	write     the leader's disk and those of the followers, one fsync each
//	apply     a majority has it: [Machine.Apply] runs it on every server
//	answer    the leader's callers get their own command's result
//
// The disk's fsync is what limits it, so the more callers there are, the more
// commands share one.
//
// # Who leads
//
// [Replica.Lead] runs a function while this server leads, and begins it only
// when everything that earlier leaders have acknowledged is applied here.
// [Replica.Verify] makes sure, before a read, that no other server leads by now.
// Only the leader proposes; others answer [ErrNotLeader] and say who leads.
//
// # When the disk fails
//
// After a failed write nobody knows what is on the disk. The replica stops: all
// calls return [ErrClosed], [Replica.Done] is closed, and the process should end
// and be started again, which reads what is there. The other servers go on. A
// write that fails because the disk is full is no different.
//
// # When servers have different programs
//
// Each entry has the version that a server must know to apply it. Who proposes makes
// sure that all servers know it; one that does not, because it was started with an
// older program again, stops as with a failed disk, see [ErrNewer]. It never leaves
// an entry out: its state would differ from the others' for good.
//
// # Connections
//
// Servers listen on one port for everything. Package muxer tells the connections
// apart; those of the protocol [ALPN] go to [Replica.Handoff]. Both ends must
// have a server's certificate.
package replica
