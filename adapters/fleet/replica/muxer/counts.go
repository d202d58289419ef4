package muxer

import (
	"context"
	"crypto/x509"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"syscall"
)

// counts are the open connections, also those that were handed on.
type counts struct {
	all, anonymous, address int // at most; address of one
	mu                      sync.Mutex
	open, unnamed           int
	new, from               map[netip.Prefix]int // before the end of their handshakes; anonymous ones
	named                   map[*counted]*x509.Certificate
}

func newCounts(c Config) *counts {
	or := func(set, def int) int {
		if set > 0 {
			return set
		}
		return def
	}
	all := or(c.Connections, min(DefaultConnections, filesFor()))
	return &counts{
		all: all, anonymous: or(c.Anonymous, all/2), address: or(c.Address, min(DefaultAddress, max(1, all/8))),
		new: map[netip.Prefix]int{}, from: map[netip.Prefix]int{}, named: map[*counted]*x509.Certificate{},
	}
}

// filesFor is how many of the files that the process may open are for connections: the
// server needs some for its log and its state.
func filesFor() int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return DefaultConnections
	}
	return int(min(limit.Cur, 4*DefaultConnections) / 4 * 3)
}

// counted is a connection that is counted until it is closed.
type counted struct {
	net.Conn
	counts *counts
	from   netip.Prefix
	is     standing // guarded by counts.mu

	ended   context.Context // the Mux is closed
	lingers atomic.Bool
}

// standing is what is known of a connection.
type standing int

const (
	shaking   standing = iota // not through its handshake
	anonymous                 // showed no certificate
	named
	refused // one too many that showed no certificate
	closed
)

// enter counts a connection before its handshake; nil: there is one too many. How many
// have shown no certificate is nothing to it yet, for it may show one.
func (c *counts) enter(ended context.Context, conn net.Conn) *counted {
	from := placeOf(conn.RemoteAddr())
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open >= c.all || c.new[from] >= c.address {
		return nil
	}
	c.open++
	c.new[from]++
	return &counted{Conn: conn, counts: c, from: from, ended: ended}
}

// name says what certificate a connection showed, nil for none. It reports false where
// that is one too many without.
func (c *counted) name(cert *x509.Certificate) bool {
	n := c.counts
	n.mu.Lock()
	defer n.mu.Unlock()
	if c.is == closed {
		return false
	}
	c.leave()
	switch {
	case cert != nil:
		c.is = named
		n.named[c] = cert
	case n.unnamed >= n.anonymous || n.from[c.from] >= n.address:
		c.is = refused
		return false
	default:
		c.is = anonymous
		n.unnamed++
		n.from[c.from]++
	}
	return true
}

// of returns the connections whose certificate is one of those.
func (c *counts) of(those func(*x509.Certificate) bool) []*counted {
	c.mu.Lock()
	defer c.mu.Unlock()
	var found []*counted
	for conn, cert := range c.named {
		if those(cert) {
			found = append(found, conn)
		}
	}
	return found
}

// leave takes it out of those of its standing; the caller has the lock.
func (c *counted) leave() {
	n := c.counts
	switch c.is {
	case shaking:
		less(n.new, c.from)
	case anonymous:
		n.unnamed--
		less(n.from, c.from)
	case named:
		delete(n.named, c)
	}
}

// less counts one less from a place.
func less(n map[netip.Prefix]int, from netip.Prefix) {
	if n[from]--; n[from] == 0 {
		delete(n, from)
	}
}

// Close implements net.Conn. A connection that lingers still counts meanwhile.
func (c *counted) Close() error {
	if c.lingers.Swap(false) {
		c.linger()
	}
	c.counts.mu.Lock()
	if c.is != closed {
		c.leave()
		c.is = closed
		c.counts.open--
	}
	c.counts.mu.Unlock()
	return c.Conn.Close()
}

// placeOf is where a connection comes from: one has as many addresses of version 6 as
// one likes, in a network of 64 bits.
func placeOf(a net.Addr) netip.Prefix {
	tcp, ok := a.(*net.TCPAddr)
	if !ok {
		return netip.Prefix{}
	}
	ip := tcp.AddrPort().Addr().Unmap().WithZone("")
	bits := 64
	if ip.Is4() {
		bits = 32
	}
	place, err := ip.Prefix(bits)
	if err != nil {
		return netip.Prefix{}
	}
	return place
}
