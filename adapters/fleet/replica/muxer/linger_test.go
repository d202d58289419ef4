package muxer_test

import (
	"crypto/tls"
	"io"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/fleet/pki"
	"github.com/berth-project/berth/adapters/fleet/replica/muxer"
)

// handedOn has a Mux, a client and the client's connection as the Mux hands it on.
func handedOn(t *testing.T) (m *muxer.Mux, client, server *tls.Conn) {
	k := newKeeper(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	m = muxer.New(l, muxer.Config{TLS: k.ServerTLS("http/1.1")})
	t.Cleanup(func() { require.NoError(t, m.Close()) })
	client, err = tls.Dial("tcp", l.Addr().String(), k.ClientTLS(pki.Identity{Role: pki.Server}, "http/1.1"))
	require.NoError(t, err)
	t.Cleanup(func() { client.Close() })
	accepted, err := m.HTTP().Accept()
	require.NoError(t, err)
	return m, client, accepted.(*tls.Conn)
}

// closing closes a connection that lingers; the channel says that this has ended.
func closing(server *tls.Conn) chan error {
	muxer.Linger(server)
	ended := make(chan error, 1)
	go func() { ended <- server.Close() }()
	return ended
}

// A client whose connection lingers can send, and gets what was sent to it.
func TestLinger(t *testing.T) {
	_, client, server := handedOn(t)
	_, err := server.Write([]byte("answer"))
	require.NoError(t, err)
	ended := closing(server)
	for range 1000 {
		_, err = client.Write(make([]byte, 16<<10))
		require.NoError(t, err)
	}
	got, err := io.ReadAll(client)
	require.NoError(t, err)
	require.Equal(t, "answer", string(got))
	require.NoError(t, client.Close())
	require.NoError(t, <-ended)
}

// A connection that lingers ends with the Mux, or when it is closed once more.
func TestLingerEnds(t *testing.T) {
	for name, end := range map[string]func(*muxer.Mux, *tls.Conn){
		"Mux closed":   func(m *muxer.Mux, _ *tls.Conn) { _ = m.Close() },
		"closed again": func(_ *muxer.Mux, server *tls.Conn) { _ = server.NetConn().Close() },
	} {
		t.Run(name, func(t *testing.T) {
			m, client, server := handedOn(t)
			ended := closing(server)
			_, err := io.ReadAll(client) // it lingers
			require.NoError(t, err)
			begin := time.Now()
			end(m, server)
			<-ended
			t.Log("ended after", time.Since(begin))
		})
	}
}

// A client that sends nothing more is not waited for without end.
func TestLingerGivesUp(t *testing.T) {
	muxer.SetLinger(t, time.Hour, 10*time.Millisecond)
	_, _, server := handedOn(t)
	<-closing(server)
}

// Nor is one that goes on sending.
func TestLingerHasAnEnd(t *testing.T) {
	muxer.SetLinger(t, 10*time.Millisecond, time.Hour)
	_, client, server := handedOn(t)
	ended := closing(server)
	for {
		if _, err := client.Write(make([]byte, 1000)); err != nil {
			break // reset
		}
	}
	<-ended
}
