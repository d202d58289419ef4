package server

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/stretchr/testify/require"
)

// serveInTime serves a handler with the limits of servers.
func serveInTime(t *testing.T, limit time.Duration, h http.HandlerFunc) *httptest.Server {
	s := &Server{cfg: Config{Limits: Limits{Body: time.Minute, Write: limit}, Logger: hclog.NewNullLogger()}}
	srv := httptest.NewUnstartedServer(nil)
	srv.Config = s.httpServer(h)
	srv.EnableHTTP2 = true
	srv.StartTLS()
	t.Cleanup(srv.Close)
	return srv
}

// protocol is a client that speaks HTTP/1 or 2.
func protocol(t *testing.T, srv *httptest.Server, two bool) *http.Client {
	c := srv.Client().Transport.(*http.Transport).TLSClientConfig.Clone()
	c.NextProtos = map[bool][]string{true: {"h2"}, false: {"http/1.1"}}[two]
	tr := &http.Transport{TLSClientConfig: c, ForceAttemptHTTP2: two}
	t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr}
}

// An answer that nobody reads is ended, be it one or a stream.
func TestAnswersThatNobodyReads(t *testing.T) {
	t.Parallel()
	const short = 100 * time.Millisecond
	ended := make(chan error)
	srv := serveInTime(t, short, func(w http.ResponseWriter, r *http.Request) {
		var err error
		c := http.NewResponseController(w)
		for err == nil {
			if _, err = w.Write(make([]byte, 1<<20)); err == nil && r.URL.Path == "/stream" {
				err = c.Flush()
			}
		}
		ended <- err
	})
	for _, two := range []bool{false, true} {
		for _, path := range []string{"/", "/stream"} {
			t.Run(fmt.Sprintf("HTTP/2 %t %s", two, path), func(t *testing.T) {
				got, err := protocol(t, srv, two).Get(srv.URL + path)
				require.NoError(t, err)
				defer got.Body.Close()
				select {
				case err := <-ended:
					require.Error(t, err)
				case <-time.After(patience):
					t.Fatal("the handler waits for ever")
				}
			})
		}
	}
}

// Small answers on one connection that is not read are ended as well, though each of
// them is in a buffer when its handler has returned.
func TestManyAnswersThatNobodyReads(t *testing.T) {
	t.Parallel()
	srv := serveInTime(t, 100*time.Millisecond, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write(make([]byte, 2000))
	})
	conn, err := tls.Dial("tcp", srv.Listener.Addr().String(), &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"http/1.1"}})
	require.NoError(t, err)
	defer conn.Close()
	// The server closes the connection: at some time what is asked meets with an error.
	require.NoError(t, conn.SetWriteDeadline(time.Now().Add(patience)))
	w := bufio.NewWriter(conn)
	for err == nil {
		_, err = io.WriteString(w, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	}
	require.NotErrorIs(t, err, os.ErrDeadlineExceeded, "the server reads, or has closed")
}

// A connection of HTTP/2 that is not read at all is closed, though its windows are open.
func TestConnectionThatNobodyReads(t *testing.T) {
	t.Parallel()
	closed := make(chan struct{})
	srv := httptest.NewUnstartedServer(nil)
	// Long enough for the server to fill the buffers, or it would end the stream alone.
	s := &Server{cfg: Config{Limits: Limits{Body: time.Minute, Write: time.Second}, Logger: hclog.NewNullLogger()}}
	srv.Config = s.httpServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for {
			if _, err := w.Write(make([]byte, 1<<20)); err != nil {
				return
			}
		}
	}))
	srv.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateClosed {
			close(closed)
		}
	}
	srv.EnableHTTP2 = true
	srv.StartTLS()
	t.Cleanup(srv.Close)
	conn, err := tls.Dial("tcp", srv.Listener.Addr().String(), &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}})
	require.NoError(t, err)
	defer conn.Close()
	var b bytes.Buffer
	b.WriteString("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
	frame := func(kind, flags, stream byte, payload ...byte) {
		b.Write([]byte{0, 0, byte(len(payload)), kind, flags, 0, 0, 0, stream})
		b.Write(payload)
	}
	frame(4, 0, 0, 0, 4, 0x7f, 0xff, 0xff, 0xff)   // SETTINGS: windows of streams, 2 GiB
	frame(8, 0, 0, 0x7f, 0, 0, 0)                  // WINDOW_UPDATE: that of the connection
	frame(1, 5, 1, 0x82, 0x87, 0x84, 0x41, 1, 'x') // HEADERS: GET https://x/
	_, err = conn.Write(b.Bytes())
	require.NoError(t, err)
	select {
	case <-closed:
	case <-time.After(patience):
		t.Fatal("the connection stays for ever")
	}
}

// A client that is slow, but reads, gets all of an answer that is larger than all buffers, and
// takes longer than a piece may.
func TestSlowReaders(t *testing.T) {
	t.Parallel()
	const limit = 3 * time.Second
	large := make([]byte, 32<<20)
	srv := serveInTime(t, limit, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(large) })
	for _, two := range []bool{false, true} {
		t.Run(fmt.Sprintf("HTTP/2 %t", two), func(t *testing.T) {
			t.Parallel()
			got, err := protocol(t, srv, two).Get(srv.URL)
			require.NoError(t, err)
			defer got.Body.Close()
			var all int64
			for err == nil {
				var n int64
				n, err = io.CopyN(io.Discard, got.Body, 1<<20)
				all += n
				time.Sleep(limit / 16) // it is what is tested
			}
			require.ErrorIs(t, err, io.EOF)
			require.EqualValues(t, len(large), all)
		})
	}
}

// A stream may be silent for longer than a piece may take.
func TestSilentStreams(t *testing.T) {
	t.Parallel()
	const short = 300 * time.Millisecond
	srv := serveInTime(t, short, func(w http.ResponseWriter, _ *http.Request) {
		c := http.NewResponseController(w)
		for range 2 {
			fmt.Fprintln(w, "line")
			if c.Flush() != nil {
				return
			}
			time.Sleep(2 * short) // it is what is tested
		}
		fmt.Fprintln(w, "last")
	})
	for _, two := range []bool{false, true} {
		got, err := protocol(t, srv, two).Get(srv.URL)
		require.NoError(t, err)
		text, err := io.ReadAll(got.Body)
		require.NoError(t, err)
		require.Equal(t, "line\nline\nlast\n", string(text))
		got.Body.Close()
	}
}
