package replica

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/hashicorp/raft"
)

// Member is a server of the fleet.
type Member struct {
	ID      string // the server's name
	Address string // host:port
	// Voter: it counts for majorities. A new server does not until it has caught up.
	Voter  bool
	Leader bool // it leads
	// LastContact is when the leader last heard of it; zero where it has not, and on
	// servers that do not lead. There, the leader's is when this server last heard
	// of the leader.
	LastContact time.Time
	// LastIndex is the last entry that it said it has; known to the leader alone.
	LastIndex uint64
}

// Members are the servers of the fleet, in the order in which they were added, as
// far as this server knows.
func (r *Replica) Members() ([]Member, error) {
	f := r.raft.GetConfiguration()
	if err := f.Error(); err != nil {
		return nil, r.translate(err)
	}
	_, leader := r.raft.LeaderWithID()
	leads := r.raft.State() == raft.Leader
	var ms []Member
	for _, s := range f.Configuration().Servers {
		m := Member{
			ID: string(s.ID), Address: string(s.Address),
			Voter: s.Suffrage == raft.Voter, Leader: s.ID == leader,
		}
		switch {
		case m.ID == r.id:
			m.LastContact, m.LastIndex = time.Now(), r.raft.LastIndex()
		case leads:
			c := r.trans.contact(s.ID)
			m.LastContact, m.LastIndex = c.at, c.index
		case m.Leader:
			m.LastContact = r.raft.LastContact()
		}
		ms = append(ms, m)
	}
	return ms, nil
}

// AddVoter adds a server to the fleet, or tells of a new address of one. It gets
// the state at once; and its vote as soon as it has caught up, by itself, so that
// the others need not wait for it. Only the leader can. One change of members is
// made at a time.
func (r *Replica) AddVoter(ctx context.Context, id, address string) error {
	done, err := r.change(ctx)
	if err != nil {
		return err
	}
	defer done()
	ms, err := r.Members()
	if err != nil {
		return err
	}
	for _, m := range ms {
		if m.Address == address && m.ID != id {
			return fmt.Errorf("server %s has the address %s already: remove it first", m.ID, address)
		}
	}
	if slices.ContainsFunc(ms, func(m Member) bool { return m.ID == id && m.Address == address }) {
		return nil
	}
	r.trans.forget(raft.ServerID(id)) // what was known may be of an earlier life
	return r.await(ctx, r.raft.AddNonvoter(raft.ServerID(id), raft.ServerAddress(address), 0, limitOf(ctx)))
}

// Remove takes a server out of the fleet, be it there or not. If it is the leader
// it removes itself last and another takes over. The last server stays.
func (r *Replica) Remove(ctx context.Context, id string) error {
	done, err := r.change(ctx)
	if err != nil {
		return err
	}
	defer done()
	ms, err := r.Members()
	if err != nil {
		return err
	}
	known := false
	for _, m := range ms {
		known = known || m.ID == id
	}
	if !known {
		return fmt.Errorf("remove server %s: %w", id, ErrUnknownMember)
	}
	if err := r.await(ctx, r.raft.RemoveServer(raft.ServerID(id), 0, limitOf(ctx))); err != nil {
		return err
	}
	r.trans.forget(raft.ServerID(id))
	return nil
}

// TransferLeadership makes the server that is most up to date the leader, before
// this one is ended. Proposals are refused meanwhile. An error means that this
// server may still lead.
func (r *Replica) TransferLeadership(ctx context.Context) error {
	if r.raft.State() != raft.Leader {
		return r.notLeader()
	}
	return r.await(ctx, r.raft.LeadershipTransfer())
}

// limitOf is how long raft's queue may be waited for; 0 is for ever.
func limitOf(ctx context.Context) time.Duration {
	if end, ok := ctx.Deadline(); ok {
		return max(time.Until(end), time.Nanosecond)
	}
	return 0
}

// change waits until nobody else changes the members, or needs them to stay.
func (r *Replica) change(ctx context.Context) (done func(), err error) {
	select {
	case r.changing <- struct{}{}:
		return func() { <-r.changing }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-r.ctx.Done():
		return nil, r.closedError()
	}
}

// settle is change, and waits until the changes before are applied: raft makes
// and takes no snapshot while one is on its way.
func (r *Replica) settle(ctx context.Context) (done func(), err error) {
	done, err = r.change(ctx)
	if err != nil {
		return nil, err
	}
	if _, err := r.barrier(ctx); err != nil {
		done()
		return nil, err
	}
	return done, nil
}

// await waits for raft's answer. raft may end without one, so it is waited for by
// a goroutine that ends with it.
func (r *Replica) await(ctx context.Context, f raft.Future) error {
	done := make(chan error, 1)
	go func() { done <- f.Error() }()
	select {
	case err := <-done:
		return r.translateChange(err)
	case <-ctx.Done():
		return fmt.Errorf("%w: %w", ErrLost, context.Cause(ctx))
	case <-r.ctx.Done():
		return fmt.Errorf("%w: %w", r.closedError(), ErrLost)
	}
}

// caughtUp is how many entries a server without a vote may lack to be given it.
const caughtUp = 32

// promote gives votes to servers that have caught up, while this one leads.
func (r *Replica) promote(ctx context.Context, _ uint64) {
	every := time.NewTicker(r.conf.stretch(500 * time.Millisecond))
	defer every.Stop()
	for {
		select {
		case <-every.C:
			r.promoteOnce(ctx)
		case <-ctx.Done():
			return
		}
	}
}

func (r *Replica) promoteOnce(ctx context.Context) {
	done, err := r.change(ctx)
	if err != nil {
		return
	}
	defer done()
	f := r.raft.GetConfiguration()
	if f.Error() != nil {
		return
	}
	for _, s := range f.Configuration().Servers {
		c := r.trans.contact(s.ID)
		fresh := time.Since(c.at) < r.conf.stretch(time.Second)
		if s.Suffrage == raft.Voter || !fresh || c.index+caughtUp < r.raft.CommitIndex() {
			continue
		}
		// Not if the members have changed since: it may have been removed.
		err := r.await(r.ctx, r.raft.AddVoter(s.ID, s.Address, f.Index(), r.conf.stretch(time.Second)))
		if err != nil {
			r.log.Warn("cannot give a server its vote, trying again", "server", s.ID, "error", err)
			return
		}
		r.log.Info("a server has caught up and has a vote", "server", s.ID)
		return // the list is old now
	}
}
