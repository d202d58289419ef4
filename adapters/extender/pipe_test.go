package extender_test

import (
	"context"
	"net"
	"net/http"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/extender"
)

// pipes is a network inside the process. What waits on it waits durably, so that in a
// bubble of [testing/synctest] a deadline passes when nothing else can happen, and only
// then.
type pipes struct {
	accepted chan net.Conn
	closed   chan struct{}
}

// newPipes serves the handler until the test is over.
func newPipes(t *testing.T, handler http.Handler) *pipes {
	p := &pipes{accepted: make(chan net.Conn), closed: make(chan struct{})}
	s := &http.Server{Handler: handler}
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(p) }()
	t.Cleanup(func() {
		require.NoError(t, s.Close())
		require.ErrorIs(t, <-ended, http.ErrServerClosed)
	})
	return p
}

// reach connects the extender with the server.
func (p *pipes) reach(x *extender.Extender) {
	x.DialBy(func(ctx context.Context, _, _ string) (net.Conn, error) {
		here, there := net.Pipe()
		select {
		case p.accepted <- there:
			return here, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	})
}

// unreachable has every connection of the extender refused.
func unreachable(x *extender.Extender) {
	x.DialBy(func(_ context.Context, network, _ string) (net.Conn, error) {
		return nil, &net.OpError{Op: "dial", Net: network, Err: syscall.ECONNREFUSED}
	})
}

// Accept implements [net.Listener].
func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.accepted:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

// Close implements [net.Listener].
func (p *pipes) Close() error {
	close(p.closed)
	return nil
}

// Addr implements [net.Listener].
func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipe"} }
