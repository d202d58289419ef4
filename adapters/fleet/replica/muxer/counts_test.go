package muxer_test

import (
	"crypto/tls"
	"net"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/fleet/pki"
	"github.com/berth-project/berth/adapters/fleet/replica/muxer"
)

// open makes a connection and does its handshake.
func open(address string, c *tls.Config) (*tls.Conn, error) {
	d := &net.Dialer{Timeout: 10 * time.Second}
	conn, err := tls.DialWithDialer(d, "tcp", address, c)
	if err != nil {
		return nil, err
	}
	// With TLS 1.3 the client is through first: it hears of the server's end by reading.
	_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
	if _, err := conn.Write([]byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n")); err != nil {
		conn.Close()
		return nil, err
	}
	if _, err := conn.Read(make([]byte, 1)); err != nil {
		conn.Close()
		return nil, err
	}
	return conn, nil
}

// anonymous are the settings of a client without a certificate.
func anonymous(k *pki.Keeper) *tls.Config {
	c := k.ClientTLS(pki.Identity{Role: pki.Server}, "http/1.1")
	c.GetClientCertificate = nil
	return c
}

// Clients without a certificate have a limit for each address, and cannot keep out others.
func TestAnonymousConnectionsAreLimited(t *testing.T) {
	k := newKeeper(t)
	address, got := start(t, k, muxer.Config{Address: 3})
	var held []net.Conn
	for range 3 {
		conn, err := open(address, anonymous(k))
		require.NoError(t, err)
		held = append(held, conn)
	}
	_, err := open(address, anonymous(k))
	require.Error(t, err, "one too many is closed")
	require.NoError(t, held[0].Close())
	require.Eventually(t, func() bool {
		conn, err := open(address, anonymous(k))
		if err == nil {
			held = append(held, conn)
		}
		return err == nil
	}, 10*time.Second, time.Millisecond, "the next has its place")
	// Those that do not finish their handshakes are limited by themselves.
	for range 3 {
		silent, err := net.Dial("tcp", address)
		require.NoError(t, err)
		held = append(held, silent)
	}
	require.Eventually(t, func() bool { // the server counts them at some time
		conn, err := open(address, k.ClientTLS(pki.Identity{Role: pki.Server}, "http/1.1"))
		if err == nil {
			conn.Close()
		}
		return err != nil
	}, 10*time.Second, time.Millisecond, "one handshake too many is closed")
	require.NoError(t, held[len(held)-1].Close())
	named := 0
	require.Eventually(t, func() bool {
		if conn, err := open(address, k.ClientTLS(pki.Identity{Role: pki.Server}, "http/1.1")); err == nil {
			held = append(held, conn)
			named++
		}
		return named == 9
	}, 10*time.Second, time.Millisecond, "there is room for one handshake, and who shows a certificate is out of it then")
	other, err := tls.Dial("tcp", address, k.ClientTLS(pki.Identity{Role: pki.Server}, special))
	require.NoError(t, err)
	defer other.Close()
	defer (<-got).Close()
	for _, c := range held {
		c.Close()
	}
	require.Eventually(t, func() bool {
		conn, err := open(address, anonymous(k))
		if err == nil {
			conn.Close()
		}
		return err == nil
	}, 10*time.Second, time.Millisecond, "what is closed is not counted any more")
}

// Whoever shows a certificate is let in, however many do not, from the same address or
// in all.
func TestAnonymousConnectionsKeepOutNobodyElse(t *testing.T) {
	for name, c := range map[string]muxer.Config{"of one address": {Address: 2}, "in all": {Anonymous: 2}} {
		t.Run(name, func(t *testing.T) {
			k := newKeeper(t)
			address, _ := start(t, k, c)
			for range 2 {
				conn, err := open(address, anonymous(k))
				require.NoError(t, err)
				defer conn.Close()
			}
			_, err := open(address, anonymous(k))
			require.Error(t, err)
			for range 3 {
				conn, err := open(address, k.ClientTLS(pki.Identity{Role: pki.Server}, "http/1.1"))
				require.NoError(t, err)
				defer conn.Close()
			}
		})
	}
}

// There are no more connections than allowed, whoever makes them, and each that ends,
// in whatever way, makes room.
func TestAllConnectionsAreLimited(t *testing.T) {
	k := newKeeper(t)
	const most = 5
	address, _ := start(t, k, muxer.Config{Connections: most, Anonymous: most, Address: most, Timeout: 500 * time.Millisecond})
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 10 {
				if conn, err := open(address, anonymous(k)); err == nil {
					conn.Close()
				}
				if conn, err := net.Dial("tcp", address); err == nil {
					_, _ = conn.Write([]byte("GET / HTTP/1.0\r\n\r\n"))
					conn.Close()
				}
				if conn, err := tls.Dial("tcp", address, k.ClientTLS(pki.Identity{Role: pki.Server}, "unheard-of/9")); err == nil {
					conn.Close()
				}
			}
		})
	}
	all.Wait()
	var held []net.Conn
	require.Eventually(t, func() bool {
		if conn, err := open(address, k.ClientTLS(pki.Identity{Role: pki.Server}, "http/1.1")); err == nil {
			held = append(held, conn)
		}
		return len(held) == most
	}, 10*time.Second, time.Millisecond, "all that were there have gone")
	_, err := open(address, k.ClientTLS(pki.Identity{Role: pki.Server}, "http/1.1"))
	require.Error(t, err)
	for _, c := range held {
		c.Close()
	}
}

// A network of IPv6 counts as one address, and an IPv4 address in any form as one.
func TestPlaces(t *testing.T) {
	at := func(text string) netip.Prefix {
		return muxer.PlaceOf(net.TCPAddrFromAddrPort(netip.AddrPortFrom(netip.MustParseAddr(text), 99)))
	}
	require.Equal(t, at("2001:db8::1"), at("2001:db8::ffff:1"))
	require.NotEqual(t, at("2001:db8::1"), at("2001:db8:0:1::1"))
	require.Equal(t, at("10.0.0.1"), at("::ffff:10.0.0.1"))
	require.NotEqual(t, at("10.0.0.1"), at("10.0.0.2"))
	require.Equal(t, at("fe80::1%eth0"), at("fe80::1%eth1"))
	require.Zero(t, muxer.PlaceOf(&net.UnixAddr{}))
}
