package muxer

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"
)

// Default limits.
const (
	// DefaultHandshakes is how many connections may be before the end of their
	// handshake, where there may be four times as many in all. More wait in the kernel's
	// queue. One address cannot have all of them.
	DefaultHandshakes = 4096
	// DefaultTimeout is how long a handshake may take.
	DefaultTimeout = 10 * time.Second
	// DefaultConnections is how many connections may be open, where the process may have
	// so many files open and a third more. More are closed at once.
	DefaultConnections = 32768
	// DefaultAddress is how many connections from one address (of IPv6: a network of 64
	// bits) may be of clients that showed no certificate; and how many, besides, may be
	// before the end of their handshake.
	DefaultAddress = 1024
)

// Config says how connections are told apart.
type Config struct {
	// TLS is for the handshake. Its NextProtos, or those of the configuration that it
	// returns for a client, must name the handlers' protocols.
	TLS *tls.Config
	// Handlers take the connections of a protocol, and own them. Each call is on a
	// goroutine of its own, and should not block for longer than the hand-over.
	Handlers map[string]func(*tls.Conn)
	// Handshakes and Timeout. Default: DefaultHandshakes, DefaultTimeout.
	Handshakes int
	Timeout    time.Duration // how long a handshake may take
	// Connections, Anonymous and Address are limits of open connections: of all, of
	// those whose clients showed no certificate, and of these, or of handshakes, from one
	// address.
	// Default: DefaultConnections, half of all, DefaultAddress.
	Connections, Anonymous, Address int
	// Log. Default: none.
	Log hclog.Logger
}

// Mux accepts the connections of a listener.
type Mux struct {
	config   Config
	listener net.Listener
	http     chan net.Conn
	slots    chan struct{} // one for each handshake
	counts   *counts
	warned   atomic.Int64 // when it was last logged that there are too many, Unix time

	ctx    context.Context // ends with Close
	cancel context.CancelFunc
	work   sync.WaitGroup
}

// New starts accepting. The listener is the Mux's, and closed with it.
func New(l net.Listener, c Config) *Mux {
	counts := newCounts(c)
	if c.Handshakes <= 0 {
		c.Handshakes = min(DefaultHandshakes, max(1, counts.all/4))
	}
	if c.Timeout <= 0 {
		c.Timeout = DefaultTimeout
	}
	if c.Log == nil {
		c.Log = hclog.NewNullLogger()
	}
	m := &Mux{config: c, listener: l, http: make(chan net.Conn), slots: make(chan struct{}, c.Handshakes), counts: counts}
	m.ctx, m.cancel = context.WithCancel(context.Background())
	m.work.Go(m.accept)
	return m
}

// HTTP is the listener for all connections without a handler. They are *tls.Conn
// with the handshake done, so net/http serves HTTP/2 to those who asked for it.
// Closing it closes the Mux.
func (m *Mux) HTTP() net.Listener { return httpListener{m} }

// Close stops accepting and ends handshakes that are under way. Connections that
// were handed on stay open. Nothing of the Mux runs when it returns.
func (m *Mux) Close() error {
	m.cancel()
	err := m.listener.Close()
	m.work.Wait()
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// CloseIf closes the connections of clients whose certificates are refused, also those
// that were handed on. Any goroutine may call it.
func (m *Mux) CloseIf(refused func(*x509.Certificate) bool) {
	for _, conn := range m.counts.of(refused) {
		conn.Close()
	}
}

func (m *Mux) accept() {
	const firstPause, longestPause = 5 * time.Millisecond, time.Second
	pause := firstPause
	for {
		select {
		case m.slots <- struct{}{}:
		case <-m.ctx.Done():
			return
		}
		conn, err := m.listener.Accept()
		if err == nil {
			pause = firstPause
			if one := m.counts.enter(m.ctx, conn); one != nil {
				m.work.Go(func() { m.handshake(one) })
				continue
			}
			<-m.slots
			conn.Close()
			m.warn(conn.RemoteAddr())
			continue
		}
		<-m.slots
		if m.ctx.Err() != nil {
			return
		}
		if errors.Is(err, net.ErrClosed) {
			m.config.Log.Error("the listener was closed by somebody else", "error", err)
			m.cancel()
			return
		}
		// Too many open files, for example: it passes.
		m.config.Log.Warn("cannot accept a connection", "error", err, "pause", pause)
		select {
		case <-time.After(pause):
		case <-m.ctx.Done():
			return
		}
		pause = min(2*pause, longestPause)
	}
}

// handshake gives up its place when it is done; the hand-over needs none.
func (m *Mux) handshake(raw *counted) {
	conn := tls.Server(raw, m.config.TLS)
	ctx, cancel := context.WithTimeout(m.ctx, m.config.Timeout)
	err := conn.HandshakeContext(ctx)
	cancel()
	<-m.slots
	if err != nil {
		m.refuse(conn, err)
		return
	}
	var shown *x509.Certificate
	if chains := conn.ConnectionState().VerifiedChains; len(chains) > 0 {
		shown = chains[0][0]
	}
	if !raw.name(shown) {
		raw.Close() // at once: TLS would say goodbye first
		m.warn(raw.RemoteAddr())
		return
	}
	if handle := m.config.Handlers[conn.ConnectionState().NegotiatedProtocol]; handle != nil {
		handle(conn)
		return
	}
	select {
	case m.http <- conn:
	case <-m.ctx.Done():
		conn.Close()
	}
}

// warn logs now and then that connections are closed.
func (m *Mux) warn(from net.Addr) {
	now, last := time.Now().Unix(), m.warned.Load()
	if now-last > 60 && m.warned.CompareAndSwap(last, now) {
		m.config.Log.Warn("closed a connection: too many are open, or too many from its address", "from", from)
	}
}

func (m *Mux) refuse(conn *tls.Conn, err error) {
	defer conn.Close()
	m.config.Log.Debug("handshake failed", "from", conn.RemoteAddr(), "error", err)
	var header tls.RecordHeaderError
	if errors.As(err, &header) && header.Conn != nil && looksLikeHTTP(header.RecordHeader) {
		_ = header.Conn.SetWriteDeadline(time.Now().Add(time.Second))
		_, _ = io.WriteString(header.Conn, "HTTP/1.0 400 Bad Request\r\n\r\nThis port speaks HTTPS only: use https:// in the address.\n")
	}
}

func looksLikeHTTP(head [5]byte) bool {
	switch string(head[:]) {
	case "GET /", "HEAD ", "POST ", "PUT /", "OPTIO", "DELET", "PATCH":
		return true
	}
	return false
}

type httpListener struct{ *Mux }

// Accept implements net.Listener.
func (l httpListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.http:
		return c, nil
	case <-l.ctx.Done():
		return nil, net.ErrClosed
	}
}

// Addr implements net.Listener.
func (l httpListener) Addr() net.Addr { return l.listener.Addr() }
