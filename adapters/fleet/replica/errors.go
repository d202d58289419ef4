package replica

import (
	"context"
	"errors"
	"fmt"

	"github.com/hashicorp/raft"
)

// What may go wrong, for errors.Is.
var (
	// ErrNotLeader: this server does not lead, nothing was done. errors.As to a
	// *NotLeaderError says who does.
	ErrNotLeader = errors.New("this server does not lead")
	// ErrLost: it is not known whether the command is, or will be, committed. If the
	// command may be repeated, repeat it; else look whether it was.
	ErrLost = errors.New("it is not known whether this was committed")
	// ErrClosed: the replica was closed, or has failed, see Replica.Err. Where the
	// command may have been committed all the same, the error is ErrLost too.
	ErrClosed = errors.New("the replica is closed")
	// ErrTooBig: the command has more than MaxCommand bytes. Nothing was done.
	ErrTooBig = errors.New("the command is too big")
	// ErrUnknownMember: there is no server with that ID.
	ErrUnknownMember = errors.New("no such server")
	// ErrNewer: the log, or a picture, has what only newer programs know. The replica has
	// applied nothing of it, and stopped.
	ErrNewer = errors.New("a newer program wrote it: start this server with the program of the others")
	// ErrBackup: what was given is not a whole, unaltered backup. Nothing was done.
	ErrBackup = errors.New("not a backup that can be restored")
)

// NotLeaderError is an ErrNotLeader that says who leads instead.
type NotLeaderError struct {
	// Leader is the zero Leader where none is known: there may be an election.
	Leader Leader
}

func (e *NotLeaderError) Error() string {
	if e.Leader.ID == "" {
		return "this server does not lead, and knows no leader"
	}
	return fmt.Sprintf("this server does not lead, %s at %s does", e.Leader.ID, e.Leader.Address)
}

// Is makes it an ErrNotLeader.
func (e *NotLeaderError) Is(target error) bool { return target == ErrNotLeader }

// translate puts raft's errors of a proposal or a change of members into ours.
func (r *Replica) translate(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, raft.ErrNotLeader), errors.Is(err, raft.ErrLeadershipTransferInProgress):
		return r.notLeader()
	case errors.Is(err, raft.ErrRaftShutdown):
		return fmt.Errorf("%w: %w", r.closedError(), ErrLost)
	default:
		// Leadership was lost, a backup was restored, or the disk failed.
		return fmt.Errorf("%w: %w", ErrLost, err)
	}
}

// translateChange is translate for changes of members, of which raft refuses some
// that make no sense: then nothing was done.
func (r *Replica) translateChange(err error) error {
	switch {
	case errors.Is(err, raft.ErrEnqueueTimeout):
		return context.DeadlineExceeded
	case r.ctx.Err() != nil || errors.Is(err, raft.ErrNotLeader) ||
		errors.Is(err, raft.ErrLeadershipLost) || errors.Is(err, raft.ErrAbortedByRestore) ||
		errors.Is(err, raft.ErrLeadershipTransferInProgress):
		return r.translate(err)
	}
	return err
}

func (r *Replica) notLeader() error {
	l, _ := r.Leader()
	if l.ID == r.id { // it does by now, but did not then
		l = Leader{}
	}
	return &NotLeaderError{Leader: l}
}

// closedError is ErrClosed, with the failure where there was one.
func (r *Replica) closedError() error {
	if err := r.Err(); err != nil && !errors.Is(err, ErrClosed) {
		return fmt.Errorf("%w: %w", ErrClosed, err)
	}
	return ErrClosed
}
