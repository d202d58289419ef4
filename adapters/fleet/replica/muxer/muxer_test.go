package muxer_test

import (
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/fleet/pki"
	"github.com/berth-project/berth/adapters/fleet/replica/muxer"
)

func newKeeper(t *testing.T) *pki.Keeper {
	t.Helper()
	ca, err := pki.NewAuthority(pki.AuthorityOptions{})
	require.NoError(t, err)
	dir := t.TempDir()
	require.NoError(t, ca.Save(dir, false))
	c, err := ca.Issue(pki.Grant{Identity: pki.Identity{Role: pki.Server, Name: "s1"}})
	require.NoError(t, err)
	files := pki.Files{CA: filepath.Join(dir, pki.CAFile), Credential: filepath.Join(dir, "s1.pem")}
	require.NoError(t, c.Save(files.Credential, false))
	k, err := pki.NewKeeper(files, hclog.NewNullLogger())
	require.NoError(t, err)
	return k
}

const special = "special/1"

// start serves HTTP, and sends connections of the special protocol to the
// channel.
func start(t *testing.T, k *pki.Keeper, c muxer.Config) (address string, got chan *tls.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	got = make(chan *tls.Conn, 1)
	c.TLS = k.ServerTLS("h2", "http/1.1", special)
	c.Handlers = map[string]func(*tls.Conn){special: func(conn *tls.Conn) { got <- conn }}
	m := muxer.New(l, c)
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id, err := pki.PeerIdentity(*r.TLS)
		if err != nil {
			id.Name = "nobody"
		}
		_, _ = io.WriteString(w, r.Proto+" for "+id.Name)
	})}
	served := make(chan error, 1)
	go func() { served <- server.Serve(m.HTTP()) }()
	t.Cleanup(func() {
		require.NoError(t, m.Close())
		require.ErrorIs(t, <-served, net.ErrClosed)
		require.NoError(t, server.Close())
	})
	return l.Addr().String(), got
}

func get(t *testing.T, address string, config *tls.Config, http2 bool) string {
	t.Helper()
	transport := &http.Transport{TLSClientConfig: config, ForceAttemptHTTP2: http2}
	defer transport.CloseIdleConnections()
	client := http.Client{Transport: transport, Timeout: 10 * time.Second}
	response, err := client.Get("https://" + address)
	require.NoError(t, err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return string(body)
}

func TestEachProtocolGoesItsWay(t *testing.T) {
	k := newKeeper(t)
	address, got := start(t, k, muxer.Config{})
	want := pki.Identity{Role: pki.Server}

	require.Equal(t, "HTTP/2.0 for s1", get(t, address, k.ClientTLS(want), true))
	require.Equal(t, "HTTP/1.1 for s1", get(t, address, k.ClientTLS(want, "http/1.1"), false))

	conn, err := tls.Dial("tcp", address, k.ClientTLS(want, special))
	require.NoError(t, err)
	defer conn.Close()
	other := <-got
	defer other.Close()
	_, err = conn.Write([]byte("hello"))
	require.NoError(t, err)
	buf := make([]byte, 5)
	_, err = io.ReadFull(other, buf)
	require.NoError(t, err)
	require.Equal(t, "hello", string(buf))

	_, err = tls.Dial("tcp", address, k.ClientTLS(want, "unheard-of/9"))
	require.ErrorContains(t, err, "no application protocol")
}

func TestPlainHTTPIsTold(t *testing.T) {
	address, _ := start(t, newKeeper(t), muxer.Config{})
	response, err := http.Get("http://" + address)
	require.NoError(t, err)
	defer response.Body.Close()
	require.Equal(t, http.StatusBadRequest, response.StatusCode)
	body, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	require.Contains(t, string(body), "https://")
}

func TestSilentConnectionsGiveUpTheirPlaces(t *testing.T) {
	k := newKeeper(t)
	address, _ := start(t, k, muxer.Config{Handshakes: 2, Timeout: 500 * time.Millisecond})
	for range 8 {
		silent, err := net.Dial("tcp", address)
		require.NoError(t, err)
		defer silent.Close()
	}
	require.Equal(t, "HTTP/2.0 for s1", get(t, address, k.ClientTLS(pki.Identity{Role: pki.Server}), true))
}

func TestCloseEndsHandshakesUnderWay(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	m := muxer.New(l, muxer.Config{TLS: newKeeper(t).ServerTLS(), Timeout: time.Hour})
	silent, err := net.Dial("tcp", l.Addr().String())
	require.NoError(t, err)
	defer silent.Close()
	// With the handshake's first byte there, it has begun for sure or never will.
	_, err = silent.Write([]byte{22})
	require.NoError(t, err)
	require.NoError(t, m.Close())
	require.NoError(t, silent.SetReadDeadline(time.Now().Add(10*time.Second)))
	_, err = silent.Read(make([]byte, 1))
	require.Error(t, err)
	require.NotErrorIs(t, err, os.ErrDeadlineExceeded, "the connection is closed")
	_, err = m.HTTP().Accept()
	require.ErrorIs(t, err, net.ErrClosed)
}
