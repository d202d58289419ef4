package server

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"time"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/pki"
)

// forwarder hands requests on, to the server that leads or to an agent.
type forwarder struct {
	keeper  *pki.Keeper
	trust   func(*x509.Certificate) error
	servers *http.Transport
}

// newForwarder makes one that connects to whom the server trusts.
func (s *Server) newForwarder() *forwarder {
	f := &forwarder{keeper: s.keeper, trust: s.trust}
	f.servers = transport(f.to(pki.Identity{Role: pki.Server}))
	return f
}

// to are settings for connections to somebody whose certificate was not revoked.
func (f *forwarder) to(who pki.Identity) *tls.Config {
	c := f.keeper.ClientTLS(who, "h2", "http/1.1")
	check := c.VerifyConnection
	c.VerifyConnection = func(s tls.ConnectionState) error {
		if err := check(s); err != nil {
			return err
		}
		return f.trust(s.VerifiedChains[0][0])
	}
	return c
}

// transport is for connections with the settings.
func transport(t *tls.Config) *http.Transport {
	d := &net.Dialer{Timeout: 5 * time.Second}
	return &http.Transport{
		DialContext: d.DialContext, TLSClientConfig: t, ForceAttemptHTTP2: true, TLSHandshakeTimeout: 5 * time.Second,
		MaxIdleConnsPerHost: 64, IdleConnTimeout: time.Minute,
		// Requests wait for an answer for as long as it takes, but not for a machine that
		// is cut off.
		HTTP2: &http.HTTP2Config{SendPingTimeout: 3 * time.Second, PingTimeout: 3 * time.Second},
	}
}

func (f *forwarder) close() { f.servers.CloseIdleConnections() }

// handOn has the server that leads answer a request, and say who makes it.
func (s *Server) handOn(r *request, address string) {
	if b, ok := r.Body.(*timedBody); ok {
		// It may be a backup. The server that leads has a limit for all other bodies; what
		// it leaves unread has this one's.
		b.limit(time.Time{})
		defer func() { b.limit(time.Now().Add(s.cfg.Limits.Body)) }()
	}
	s.proxy.hand(r, address)
}

// hand hands a request on to a server, with what it shows.
func (f *forwarder) hand(r *request, address string) {
	p := &httputil.ReverseProxy{
		Transport: f.servers, FlushInterval: -1,
		Rewrite: func(p *httputil.ProxyRequest) {
			p.SetURL(&url.URL{Scheme: "https", Host: address})
			p.Out.Header.Del("Authorization")
			p.Out.Header.Del("Origin") // it was looked at here, and names this server
			p.Out.Header.Set(onBehalf, r.shown.String())
		},
		ModifyResponse: func(a *http.Response) error {
			if a.StatusCode < http.StatusMultipleChoices {
				return nil
			}
			return refused(a)
		},
		ErrorHandler: func(w http.ResponseWriter, asked *http.Request, err error) { answerError(w, lost(asked, err)) },
	}
	p.ServeHTTP(r.w, r.Request)
}

// refused has all of a refusal at hand before the proxy passes it on. It may have come before the
// end of the body, and where its beginning is passed on, nothing more of the body is read (see
// patient); with HTTP/1.1 that ends the context of the request, and so what still comes of the answer.
func refused(a *http.Response) error {
	const most = 1 << 20 // our errors are short
	text, err := io.ReadAll(io.LimitReader(a.Body, most))
	if err != nil {
		return err
	}
	a.Body = struct {
		io.Reader
		io.Closer
	}{bytes.NewReader(text), a.Body}
	return nil
}

// lost says what is known of a request whose answer did not come.
func lost(asked *http.Request, err error) *api.Error {
	var dial *net.OpError
	if asked.Method == http.MethodGet || errors.As(err, &dial) && dial.Op == "dial" {
		return errNoLeader
	}
	return errUnknown
}

// agentClient is for requests to the agent of a node. It follows no redirection: a
// node that somebody has taken over could have the server ask for anything, and hand
// out the answer.
func (f *forwarder) agentClient(node string) *http.Client {
	t := transport(f.to(pki.Identity{Role: pki.Agent, Name: node}))
	t.DisableKeepAlives = true
	t.ResponseHeaderTimeout = 10 * time.Second
	return &http.Client{Transport: t, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	}}
}

// leaderAddress is that of the server that leads, where it is another.
func (s *Server) leaderAddress() (string, bool) {
	l, ok := s.replica.Leader()
	return l.Address, ok && l.ID != s.cfg.ID && l.Address != ""
}

// waitForLeader waits a moment for a server to lead, so that a change of leader is no
// more than a pause to callers.
func (s *Server) waitForLeader(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for s.leading.Load() == nil {
		if _, ok := s.leaderAddress(); ok {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}
