package replica

import (
	"sync"
	"time"

	"github.com/hashicorp/raft"
)

// contactTransport is raft's transport that notes what the followers answer to
// the leader's heartbeats: raft knows how far each is, and does not say. It also
// frees raft where it is stuck, see pipeline, and ends the heartbeats that raft does
// not wait for, see Close.
type contactTransport struct {
	*raft.NetworkTransport
	// timeout is how long an answer may take.
	timeout time.Duration

	mu        sync.Mutex
	contacts  map[raft.ServerID]contact
	pipelines map[*pipeline]struct{} // that are open

	// handling is held while a leader's heartbeat is answered here.
	handling sync.RWMutex
	closed   bool // guarded by handling
}

// contact is a follower's last answer.
type contact struct {
	at    time.Time
	index uint64 // of the last entry in its log
}

func newTransport(c Config, s *stream) *contactTransport {
	timeout := c.stretch(10 * time.Second)
	return &contactTransport{
		NetworkTransport: raft.NewNetworkTransportWithConfig(&raft.NetworkTransportConfig{
			Stream:                  s,
			MaxPool:                 pooledConns,
			Timeout:                 timeout,
			Logger:                  c.Log.Named("transport"),
			MsgpackUseNewTimeFormat: true,
		}),
		timeout:   timeout,
		contacts:  map[raft.ServerID]contact{},
		pipelines: map[*pipeline]struct{}{},
	}
}

// AppendEntries implements raft.Transport. Heartbeats come this way too.
func (t *contactTransport) AppendEntries(id raft.ServerID, target raft.ServerAddress, args *raft.AppendEntriesRequest, resp *raft.AppendEntriesResponse) error {
	err := t.NetworkTransport.AppendEntries(id, target, args, resp)
	if err == nil {
		t.mu.Lock()
		t.contacts[id] = contact{at: time.Now(), index: resp.LastLog}
		t.mu.Unlock()
	}
	return err
}

func (t *contactTransport) contact(id raft.ServerID) contact {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.contacts[id]
}

func (t *contactTransport) forget(id raft.ServerID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.contacts, id)
}

// SetHeartbeatHandler implements raft.Transport. The transport calls the function on
// goroutines of its own, which raft's end does not wait for.
func (t *contactTransport) SetHeartbeatHandler(handle func(raft.RPC)) {
	t.NetworkTransport.SetHeartbeatHandler(t.whileOpen(handle))
}

func (t *contactTransport) whileOpen(handle func(raft.RPC)) func(raft.RPC) {
	return func(rpc raft.RPC) {
		t.handling.RLock()
		defer t.handling.RUnlock()
		if !t.closed {
			handle(rpc)
		}
	}
}

// Close implements raft.WithClose: raft calls it once its own goroutines have ended.
// It waits for the heartbeats that are being answered, and lets none begin: a new
// leader's term is written to the store, which is closed next.
func (t *contactTransport) Close() error {
	err := t.NetworkTransport.Close()
	t.handling.Lock()
	defer t.handling.Unlock()
	t.closed = true
	return err
}

// pipeline is a connection on which entries go to a follower before those before them
// are answered. When raft does not read answers any more, because one of them ended the
// pipeline, its sender may wait for room that never comes: for good, and with it the
// heartbeats and the end of raft. So what waits longer than any answer may take ends the
// pipeline, which raft then opens anew where it still needs one.
type pipeline struct {
	raft.AppendPipeline
	transport *contactTransport
}

// AppendEntriesPipeline implements raft.Transport.
func (t *contactTransport) AppendEntriesPipeline(id raft.ServerID, target raft.ServerAddress) (raft.AppendPipeline, error) {
	inner, err := t.NetworkTransport.AppendEntriesPipeline(id, target)
	if err != nil {
		return nil, err
	}
	p := &pipeline{AppendPipeline: inner, transport: t}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.pipelines[p] = struct{}{}
	return p, nil
}

// AppendEntries implements raft.AppendPipeline.
func (p *pipeline) AppendEntries(args *raft.AppendEntriesRequest, resp *raft.AppendEntriesResponse) (raft.AppendFuture, error) {
	stuck := time.AfterFunc(p.transport.timeout, func() { p.AppendPipeline.Close() })
	defer stuck.Stop()
	return p.AppendPipeline.AppendEntries(args, resp)
}

// Close implements raft.AppendPipeline.
func (p *pipeline) Close() error {
	p.transport.mu.Lock()
	delete(p.transport.pipelines, p)
	p.transport.mu.Unlock()
	return p.AppendPipeline.Close()
}

// closePipelines ends all that are open, so that raft can end.
func (t *contactTransport) closePipelines() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for p := range t.pipelines {
		p.AppendPipeline.Close()
	}
}
