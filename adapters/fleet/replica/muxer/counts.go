package muxer

import (
	"crypto/x509"
	"net"
	"net/netip"
	"sync"
	"syscall"
)

// counts are the open connections, also those that were handed on.
type counts struct {
	all, anonymous, address int // at most; address of one
	mu                      sync.Mutex
	open, unnamed           int
	from                    map[netip.Prefix]int // anonymous ones
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
		all: all, anonymous: or(c.Anonymous, all/2), address: or(c.Address, min(DefaultAddress, all/4)),
		from: map[netip.Prefix]int{}, named: map[*counted]*x509.Certificate{},
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
	from   netip.Prefix // guarded by counts.mu, like the rest
	named  bool
	closed bool
}

// enter counts a connection; nil: there is one too many. It is anonymous until it is
// known whose it is.
func (c *counts) enter(conn net.Conn) *counted {
	from := placeOf(conn.RemoteAddr())
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open >= c.all || c.unnamed >= c.anonymous || c.from[from] >= c.address {
		return nil
	}
	c.open++
	c.unnamed++
	c.from[from]++
	return &counted{Conn: conn, counts: c, from: from}
}

// name takes a connection out of those that are anonymous.
func (c *counted) name(cert *x509.Certificate) {
	c.counts.mu.Lock()
	defer c.counts.mu.Unlock()
	c.leave()
	if !c.closed {
		c.counts.named[c] = cert
	}
	c.named = true
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

// leave takes it out of the anonymous ones; the caller has the lock.
func (c *counted) leave() {
	if c.named || c.closed {
		return
	}
	c.counts.unnamed--
	if c.counts.from[c.from]--; c.counts.from[c.from] == 0 {
		delete(c.counts.from, c.from)
	}
}

// Close implements net.Conn.
func (c *counted) Close() error {
	c.counts.mu.Lock()
	if !c.closed {
		c.leave()
		delete(c.counts.named, c)
		c.closed = true
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
