package replica

import (
	"io"
	"testing"
	"time"

	"github.com/hashicorp/raft"
	"github.com/stretchr/testify/require"
)

// A sender whose answers nobody reads any more is not stuck: not when the transport
// ends its pipelines, and not longer than an answer may take.
func TestPipelineThatNobodyReads(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		timeout time.Duration
		free    func(*contactTransport)
	}{
		"the replica ends":         {time.Hour, (*contactTransport).closePipelines},
		"it waits for too long":    {50 * time.Millisecond, func(*contactTransport) {}},
		"raft closes the pipeline": {time.Hour, func(t *contactTransport) { closeAll(t) }},
	} {
		t.Run(name, func(t *testing.T) {
			follower := answering(t)
			leader := &contactTransport{
				NetworkTransport: loopback(t), timeout: test.timeout,
				contacts: map[raft.ServerID]contact{}, pipelines: map[*pipeline]struct{}{},
			}
			p, err := leader.AppendEntriesPipeline("f", follower)
			require.NoError(t, err)
			ended := make(chan error, 1)
			sent := make(chan struct{}, 1000)
			go func() {
				for {
					if _, err := p.AppendEntries(&raft.AppendEntriesRequest{}, &raft.AppendEntriesResponse{}); err != nil {
						ended <- err
						return
					}
					sent <- struct{}{}
				}
			}()
			<-sent // the pipeline works
			test.free(leader)
			require.Error(t, <-ended)
			require.NoError(t, p.Close())
			require.Empty(t, leader.pipelines)
		})
	}
}

// A heartbeat may write the leader's term to the store, and raft's end does not wait
// for it. So the end of the transport does, and none is handled later.
func TestNoHeartbeatOutlivesTheTransport(t *testing.T) {
	t.Parallel()
	leader, follower := loopback(t), &contactTransport{NetworkTransport: loopback(t)}
	begun, goOn := make(chan struct{}), make(chan struct{})
	follower.SetHeartbeatHandler(func(raft.RPC) { close(begun); <-goOn })
	go leader.AppendEntries("f", follower.LocalAddr(), &raft.AppendEntriesRequest{
		RPCHeader: raft.RPCHeader{Addr: []byte("l")}, Term: 1,
	}, &raft.AppendEntriesResponse{})
	<-begun
	closed := make(chan error, 1)
	go func() { closed <- follower.Close() }()
	select {
	case <-closed:
		t.Fatal("closed while a heartbeat is being answered")
	case <-time.After(20 * time.Millisecond):
	}
	close(goOn)
	require.NoError(t, <-closed)
	follower.whileOpen(func(raft.RPC) { t.Error("a heartbeat after the end") })(raft.RPC{})
}

// closeAll closes all pipelines as raft does.
func closeAll(t *contactTransport) {
	t.mu.Lock()
	var open []*pipeline
	for p := range t.pipelines {
		open = append(open, p)
	}
	t.mu.Unlock()
	for _, p := range open {
		p.Close()
	}
}

// loopback is a transport on this machine that is closed at the end of the test.
func loopback(t *testing.T) *raft.NetworkTransport {
	t.Helper()
	transport, err := raft.NewTCPTransport("127.0.0.1:0", nil, 1, time.Minute, io.Discard)
	require.NoError(t, err)
	t.Cleanup(func() { transport.Close() })
	return transport
}

// answering is a follower that agrees to everything.
func answering(t *testing.T) raft.ServerAddress {
	f := loopback(t)
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case rpc := <-f.Consumer():
				rpc.Respond(&raft.AppendEntriesResponse{Success: true}, nil)
			case <-stop:
				return
			}
		}
	}()
	t.Cleanup(func() {
		f.Close()
		close(stop)
		<-done
	})
	return f.LocalAddr()
}
