package replica

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
)

// Replica is one server's part of the replication. Its methods may be called by
// many goroutines.
type Replica struct {
	id     string
	log    hclog.Logger
	conf   Config
	raft   *raft.Raft
	store  *store
	stream *stream
	trans  *contactTransport

	leadership *leadership
	proposer   *proposer
	verifier   *verifier
	counts     counts
	// changing holds who changes the members, or needs them to stay as they are.
	changing chan struct{}

	// shutdownRaft gives raft the sign, once, and returns what to wait on.
	shutdownRaft func() raft.Future
	endRaft      func()
	drained      func() <-chan struct{}
	ended        chan struct{} // closed once raft has the sign to end

	// ctx ends when the replica is closed or fails; its cause is why.
	ctx  context.Context
	stop context.CancelCauseFunc
	// work are the replica's own goroutines.
	work  sync.WaitGroup
	close func() error
}

// Open starts a replica on what is in its folder: it restores the machine from
// the newest snapshot; the log's entries follow once there is a leader, who knows
// which of them count.
func Open(c Config) (*Replica, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("replica: %w", err)
	}
	r := &Replica{id: c.ID, log: c.Log, conf: c, leadership: newLeadership(), ended: make(chan struct{}), changing: make(chan struct{}, 1)}
	r.ctx, r.stop = context.WithCancelCause(context.Background())
	r.close = sync.OnceValue(r.shutdown)
	r.store, err = openStore(c, r.fail)
	if err != nil {
		return nil, fmt.Errorf("replica: %w", err)
	}
	r.stream = newStream(c)
	r.trans = newTransport(c, r.stream)
	notify := make(chan bool) // without a buffer: see watch
	if err := r.startRaft(c.raft(notify)); err != nil {
		r.trans.Close()
		r.stream.Close()
		return nil, errors.Join(fmt.Errorf("replica: %w", err), r.store.close())
	}
	r.shutdownRaft = sync.OnceValue(r.raft.Shutdown)
	r.proposer = newProposer(r, c.depth)
	r.verifier = newVerifier(r)
	r.drained = sync.OnceValue(r.drain)
	r.endRaft = sync.OnceFunc(r.cutAndEnd)
	context.AfterFunc(r.ctx, r.endRaft)
	r.work.Go(func() { r.watch(notify) })
	r.work.Go(r.establish)
	r.work.Go(func() { _ = r.Lead(context.Background(), r.promote) })
	return r, nil
}

func (r *Replica) startRaft(rc *raft.Config) error {
	s := r.store
	if r.conf.Bootstrap {
		first := raft.Configuration{Servers: []raft.Server{{
			ID: rc.LocalID, Address: raft.ServerAddress(r.conf.Address),
		}}}
		err := raft.BootstrapCluster(rc, s.log, s.wal, s.snap, r.trans, first)
		if err != nil && !errors.Is(err, raft.ErrCantBootstrap) {
			return err
		}
	}
	var err error
	machine := &fsm{machine: r.conf.Machine, knows: r.conf.Knows, counts: &r.counts, fail: r.fail}
	r.raft, err = raft.NewRaft(rc, machine, s.log, s.wal, s.snap, r.trans)
	if err != nil && r.Err() != nil {
		return r.Err() // it says more
	}
	return err
}

// fail stops the replica because its disk has failed, or the machine cannot go on.
// raft's goroutines call it, so it only gives the sign.
func (r *Replica) fail(err error) {
	r.log.Error("the replica stops", "error", err)
	r.stop(err)
}

// cutAndEnd takes this server out: one that cannot write must not lead, nor hold
// up those who ask for its vote. It cuts the network first; raft gives up its
// leadership then, and answers what it was asked. What it has not answered at its
// end it never answers.
func (r *Replica) cutAndEnd() {
	r.stream.Close()
	select {
	case <-r.drained():
	case <-time.After(r.conf.stretch(time.Second)):
		r.log.Warn("ending with proposals on their way")
	}
	r.shutdownRaft()
	r.trans.closePipelines()
	close(r.ended)
}

// drain takes no more questions for raft; the channel is closed when all are
// answered.
func (r *Replica) drain() <-chan struct{} {
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.proposer.drain()
		r.verifier.drain()
	}()
	return done
}

// Done is closed when the replica was closed or has failed. Err says which.
func (r *Replica) Done() <-chan struct{} { return r.ctx.Done() }

// Err is nil while the replica works, ErrClosed when it was closed, and else what
// it failed of. The process should end then, and be started again.
func (r *Replica) Err() error { return context.Cause(r.ctx) }

// Close ends the replica: what is on its way is waited for, for a short while,
// then calls return ErrClosed. A leader should hand over first, see
// TransferLeadership. It is joined when Close returns, and its folder may be
// opened again.
func (r *Replica) Close() error { return r.close() }

func (r *Replica) shutdown() error {
	limit := time.NewTimer(4 * r.conf.stretch(time.Second))
	defer limit.Stop()
	select {
	case <-r.drained():
	case <-limit.C: // no majority answers
	case <-r.ctx.Done(): // it has failed
	}
	r.stop(ErrClosed)
	r.endRaft()
	err := r.shutdownRaft().Error()
	r.trans.CloseStreams()
	r.work.Wait()
	return errors.Join(err, r.store.close())
}
