package server

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/fleet/api"
)

// stalled is the body of a request whose client sends a part, and then waits for the
// answer.
type stalled struct {
	part io.Reader
	over <-chan struct{}
}

// Read implements io.Reader.
func (s *stalled) Read(p []byte) (int, error) {
	if n, err := s.part.Read(p); err == nil {
		return n, nil
	}
	<-s.over
	return 0, io.ErrUnexpectedEOF
}

// A request that is refused is answered at once, by the server that leads and through
// others: nobody waits for the rest of a body that a refused client does not send.
func TestRefusedBeforeTheEnd(t *testing.T) {
	t.Parallel()
	w := begunThree(t)
	callers := map[int]func() *caller{
		http.StatusRequestEntityTooLarge: func() *caller { return w.as(alice) },
		http.StatusUnauthorized:          func() *caller { return w.bearing("berth_" + strings.Repeat("A", 43)) },
	}
	for _, s := range w.servers {
		s.cfg.Limits.Body = time.Hour // else that would end the wait
	}
	for _, s := range w.servers {
		for _, protocol := range []string{"HTTP/2.0", "HTTP/1.1"} {
			for want, caller := range callers {
				t.Run(fmt.Sprintf("%s by %s over %s", http.StatusText(want), s.cfg.ID, protocol), func(t *testing.T) {
					a := ledAnswer(want, func() got { return half(t, s, caller(), protocol) })
					require.Equal(t, want, a.status, "%s", a.body)
				})
			}
		}
	}
}

// half submits what is too large, of which a part is sent before the answer is read.
func half(t *testing.T, s *Server, c *caller, protocol string) got {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	waiting, stop := context.WithCancel(ctx)
	defer stop()
	c.http.Transport.(*http.Transport).ForceAttemptHTTP2 = protocol == "HTTP/2.0"
	body := &stalled{part: strings.NewReader(`{"jobs":[{"command":["` + strings.Repeat("x", maxBody)), over: waiting.Done()}
	r, err := http.NewRequestWithContext(ctx, "POST", "https://"+s.Addr().String()+"/v1/jobs", body)
	require.NoError(t, err)
	if c.token != "" {
		r.Header.Set("Authorization", "Bearer "+c.token)
	}
	a, err := c.http.Do(r)
	require.NoError(t, err)
	text, err := io.ReadAll(a.Body)
	stop()
	require.NoError(t, err, "the answer has an end")
	require.NoError(t, a.Body.Close())
	require.Equal(t, protocol, a.Proto)
	return got{status: a.StatusCode, body: text}
}

// raw asks for something on a connection of HTTP/1.1, with a body of that many bytes of which all
// or one is sent before the answer is read. The connection is closed after that.
func raw(t *testing.T, s *Server, c *caller, path string, size int, all bool) got {
	settings := c.http.Transport.(*http.Transport).TLSClientConfig.Clone()
	settings.NextProtos = []string{"http/1.1"}
	conn, err := tls.Dial("tcp", s.Addr().String(), settings)
	require.NoError(t, err)
	t.Cleanup(func() { conn.Close() })
	require.NoError(t, conn.SetDeadline(time.Now().Add(patience)))
	_, err = fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n", path, size)
	require.NoError(t, err)
	if c.token != "" {
		_, err = fmt.Fprintf(conn, "Authorization: Bearer %s\r\n", c.token)
		require.NoError(t, err)
	}
	_, err = io.WriteString(conn, "\r\n")
	require.NoError(t, err)
	if !all {
		size = 1
	}
	_, err = io.CopyN(conn, letters{}, int64(size))
	require.NoError(t, err, "the server reads, or leaves the connection open")
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	require.NoError(t, err)
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	require.True(t, answer.Close, "no further request is expected on the connection")
	return got{status: answer.StatusCode, body: body}
}

// letters are as many as are read.
type letters struct{}

// Read implements io.Reader.
func (letters) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

// A client that reads no answer before it has sent all gets the refusal nevertheless: the
// connection is not reset under it. One that sends no more than a byte gets it too.
func TestRefusalIsNotLost(t *testing.T) {
	t.Parallel()
	w := begunThree(t)
	for _, s := range w.servers {
		s.cfg.Limits.Body = time.Hour
	}
	stranger := func() *caller { return w.bearing("berth_" + strings.Repeat("A", 43)) }
	known := func() *caller { return w.as(alice) }
	for name, refused := range map[string]struct {
		caller func() *caller
		path   string
		want   int
	}{
		"unknown token": {stranger, "/v1/jobs", http.StatusUnauthorized},
		"no such thing": {known, "/v1/nothing", http.StatusNotFound},
		"not allowed":   {known, "/v1/join-tokens", http.StatusForbidden},
		"not JSON":      {known, "/v1/jobs", http.StatusBadRequest},
	} {
		for _, s := range w.servers {
			for _, all := range []bool{true, false} {
				t.Run(fmt.Sprintf("%s/%s/all %t", name, s.cfg.ID, all), func(t *testing.T) {
					a := ledAnswer(refused.want, func() got { return raw(t, s, refused.caller(), refused.path, 32<<20, all) })
					require.Equal(t, refused.want, a.status, "%s", a.body)
				})
			}
		}
	}
}

// So are many at the same time, as commands send them.
func TestManyTooLarge(t *testing.T) {
	t.Parallel()
	w := begunThree(t)
	for _, s := range w.servers {
		s.cfg.Limits.Body = time.Hour
	}
	body, times := `{"jobs":[{"command":["`+strings.Repeat("x", 750_000)+`"]}]}`, 20
	if testing.Short() {
		times = 5
	}
	var all sync.WaitGroup
	for i := range 4 * len(w.servers) {
		s := w.servers[i%len(w.servers)]
		all.Go(func() {
			for range times {
				c := w.as(alice).at(s) // on a connection of its own, as each command is
				got := c.ask("POST", "/v1/jobs", body)
				c.http.CloseIdleConnections()
				if got.err != nil || got.status != http.StatusRequestEntityTooLarge && got.status != http.StatusServiceUnavailable {
					t.Errorf("%s: %v, %d %s", s.cfg.ID, got.err, got.status, got.body)
					return
				}
			}
		})
	}
	all.Wait()
	e := w.as(alice).refused(http.StatusRequestEntityTooLarge, "POST", "/v1/jobs", body)
	require.Equal(t, api.CodeTooLarge, e.Code)
	require.Equal(t, fmt.Sprintf("the request is larger than %d bytes", maxBody), e.Message)
}
