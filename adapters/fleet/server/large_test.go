package server

import (
	"context"
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
					ctx, cancel := context.WithTimeout(t.Context(), patience)
					defer cancel()
					waiting, stop := context.WithCancel(ctx)
					c := caller()
					c.http.Transport.(*http.Transport).ForceAttemptHTTP2 = protocol == "HTTP/2.0"
					body := &stalled{part: strings.NewReader(`{"jobs":[{"command":["` + strings.Repeat("x", maxBody)), over: waiting.Done()}
					r, err := http.NewRequestWithContext(ctx, "POST", "https://"+s.Addr().String()+"/v1/jobs", body)
					require.NoError(t, err)
					if c.token != "" {
						r.Header.Set("Authorization", "Bearer "+c.token)
					}
					got, err := c.http.Do(r)
					require.NoError(t, err)
					text, err := io.ReadAll(got.Body)
					stop()
					require.NoError(t, err, "the answer has an end")
					require.NoError(t, got.Body.Close())
					require.Equal(t, want, got.StatusCode, "%s", text)
					require.Equal(t, protocol, got.Proto)
				})
			}
		}
	}
}

// So are many at the same time, as commands send them.
func TestManyTooLarge(t *testing.T) {
	w := begunThree(t)
	for _, s := range w.servers {
		s.cfg.Limits.Body = time.Hour
	}
	body := `{"jobs":[{"command":["` + strings.Repeat("x", 750_000) + `"]}]}`
	var all sync.WaitGroup
	for i := range 4 * len(w.servers) {
		s := w.servers[i%len(w.servers)]
		all.Go(func() {
			for range 20 {
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
