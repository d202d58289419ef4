package replica

import (
	"sync"
	"time"

	"github.com/hashicorp/raft"
)

// contactTransport is raft's transport that notes what the followers answer to
// the leader's heartbeats: raft knows how far each is, and does not say.
type contactTransport struct {
	*raft.NetworkTransport

	mu       sync.Mutex
	contacts map[raft.ServerID]contact
}

// contact is a follower's last answer.
type contact struct {
	at    time.Time
	index uint64 // of the last entry in its log
}

func newTransport(c Config, s *stream) *contactTransport {
	return &contactTransport{
		NetworkTransport: raft.NewNetworkTransportWithConfig(&raft.NetworkTransportConfig{
			Stream:                  s,
			MaxPool:                 pooledConns,
			Timeout:                 c.stretch(10 * time.Second),
			Logger:                  c.Log.Named("transport"),
			MsgpackUseNewTimeFormat: true,
		}),
		contacts: map[raft.ServerID]contact{},
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
