package replica

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"

	"github.com/berth-project/berth/adapters/fleet/pki"
)

// ALPN is the protocol that servers ask for when they connect for replication.
const ALPN = "berth-raft/1"

// Handoff gives the replica a connection from another server: handshake done,
// protocol ALPN, made with pki.Keeper.ServerTLS. From here on it is the
// replica's. One that is not from a server is closed, and logged.
func (r *Replica) Handoff(conn *tls.Conn) { r.stream.handoff(conn) }

// Recheck closes the connections to servers whose certificates Config.Trust refuses by
// now. Any goroutine may call it.
func (r *Replica) Recheck() { r.stream.recheck() }

// stream is raft's way to the other servers. It knows all of its connections, so
// that none outlives it.
type stream struct {
	address advertised
	keeper  *pki.Keeper
	trust   func(*x509.Certificate) error
	dial    func(ctx context.Context, address string) (net.Conn, error)
	log     hclog.Logger

	incoming chan net.Conn
	ctx      context.Context // ends with Close
	cancel   context.CancelFunc

	mu    sync.Mutex
	conns map[*trackedConn]struct{} // nil once closed
}

func newStream(c Config) *stream {
	s := &stream{
		address:  advertised(c.Address),
		keeper:   c.Keeper,
		trust:    c.Trust,
		dial:     c.dial,
		log:      c.Log.Named("stream"),
		incoming: make(chan net.Conn),
		conns:    map[*trackedConn]struct{}{},
	}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	return s
}

func (s *stream) handoff(conn *tls.Conn) {
	if err := checkPeer(conn.ConnectionState()); err != nil {
		s.log.Warn("refused a connection for replication", "from", conn.RemoteAddr(), "error", err)
		conn.Close()
		return
	}
	t, err := s.track(conn)
	if err != nil {
		return
	}
	if err := t.trusted(); err != nil {
		s.log.Warn("refused a connection for replication", "from", conn.RemoteAddr(), "error", err)
		t.Close()
		return
	}
	select {
	case s.incoming <- t:
	case <-s.ctx.Done():
		t.Close()
	}
}

func checkPeer(state tls.ConnectionState) error {
	id, err := pki.PeerIdentity(state)
	if err != nil {
		return err
	}
	if want := (pki.Identity{Role: pki.Server}); id.Role != want.Role {
		return &pki.WrongPeerError{Want: want, Got: id}
	}
	return nil
}

// Dial implements raft.StreamLayer.
func (s *stream) Dial(address raft.ServerAddress, timeout time.Duration) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(s.ctx, timeout)
	defer cancel()
	raw, err := s.dial(ctx, string(address))
	if err != nil {
		return nil, err
	}
	conn := tls.Client(raw, s.keeper.ClientTLS(pki.Identity{Role: pki.Server}, ALPN))
	if err := conn.HandshakeContext(ctx); err != nil {
		conn.Close()
		return nil, fmt.Errorf("connect to server %s: %w", address, err)
	}
	if got := conn.ConnectionState().NegotiatedProtocol; got != ALPN {
		conn.Close()
		return nil, fmt.Errorf("connect to server %s: it does not speak %s", address, ALPN)
	}
	t, err := s.track(conn)
	if err != nil {
		return nil, err
	}
	if err := t.trusted(); err != nil {
		t.Close()
		return nil, fmt.Errorf("connect to server %s: %w", address, err)
	}
	return t, nil
}

// recheck closes the connections to servers that are trusted no longer. What is made
// meanwhile is tracked before it is looked at, so none is missed.
func (s *stream) recheck() {
	s.mu.Lock()
	var gone []*trackedConn
	for t := range s.conns {
		if t.trusted() != nil {
			gone = append(gone, t)
		}
	}
	s.mu.Unlock()
	for _, t := range gone {
		s.log.Warn("closed a connection for replication: the certificate was revoked", "from", t.RemoteAddr())
		t.conn.NetConn().Close() // at once: TLS would say goodbye first
		t.Close()
	}
}

// Accept implements net.Listener.
func (s *stream) Accept() (net.Conn, error) {
	select {
	case c := <-s.incoming:
		return c, nil
	case <-s.ctx.Done():
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener. It closes the connections as well.
func (s *stream) Close() error {
	s.cancel()
	s.mu.Lock()
	conns := s.conns
	s.conns = nil
	s.mu.Unlock()
	var errs []error
	for c := range conns {
		errs = append(errs, c.Conn.Close())
	}
	return errors.Join(errs...)
}

// Addr implements net.Listener: the address that the others know.
func (s *stream) Addr() net.Addr { return s.address }

func (s *stream) track(conn *tls.Conn) (*trackedConn, error) {
	t := &trackedConn{Conn: conn, conn: conn, stream: s}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conns == nil {
		conn.Close()
		return nil, net.ErrClosed
	}
	s.conns[t] = struct{}{}
	return t, nil
}

// trackedConn leaves the stream's list when it is closed.
type trackedConn struct {
	net.Conn
	conn   *tls.Conn // the same
	stream *stream
}

// trusted refuses a certificate that was revoked. The handshake is done, so there is one.
func (t *trackedConn) trusted() error {
	return t.stream.trust(t.conn.ConnectionState().VerifiedChains[0][0])
}

func (t *trackedConn) Close() error {
	t.stream.mu.Lock()
	delete(t.stream.conns, t)
	t.stream.mu.Unlock()
	return t.Conn.Close()
}

// advertised is an address as it is written in the configuration.
type advertised string

func (advertised) Network() string  { return "tcp" }
func (a advertised) String() string { return string(a) }
