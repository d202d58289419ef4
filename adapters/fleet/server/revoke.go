package server

import (
	"context"
	"crypto/x509"
	"net/http"
	"strings"
	"time"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/pki"
	"github.com/berth-project/berth/adapters/fleet/state"
)

// errRevoked: the certificate was good once.
var errRevoked = fail(http.StatusUnauthorized, api.CodeUnauthorized,
	"the certificate was revoked; ask an operator for another one, or join again")

// trust refuses a certificate that was revoked. It is asked for each request, and for
// each connection between servers and to agents.
func (s *Server) trust(cert *x509.Certificate) error {
	v := s.state.View()
	if v.Revocation(pki.Serial(cert)) != nil {
		return errRevoked
	}
	who, err := pki.IdentityOf(cert)
	if err != nil {
		return err
	}
	if r := v.Revocation(who.String()); r != nil && !pki.Made(cert).After(r.Created) {
		return errRevoked
	}
	return nil
}

// answerTime is for answers that are on their way over connections that are to be closed, by the
// others and by a server that was removed: who removes a server may have asked that one. What is
// asked meanwhile is refused.
const answerTime = 500 * time.Millisecond

// cutOff closes connections that were made before their certificates were revoked. That
// ends streams, too; a client that connects again is told why.
func (s *Server) cutOff(ctx context.Context) {
	for {
		select {
		case <-s.revoked:
			s.replica.Recheck()
			wait(ctx, answerTime)
			s.mux.CloseIf(func(c *x509.Certificate) bool { return s.trust(c) != nil })
		case <-ctx.Done():
			return
		}
	}
}

// listRevocations answers GET /v1/revocations.
func (s *Server) listRevocations(*request) (any, error) {
	out := api.RevocationList{Revocations: []api.Revocation{}}
	for r := range s.state.View().Revocations() {
		out.Revocations = append(out.Revocations, *r)
	}
	return out, nil
}

// revoke answers POST /v1/revocations.
func (s *Server) revoke(r *request) (any, error) {
	var in api.RevocationRequest
	if err := r.decode(&in, false); err != nil {
		return nil, err
	}
	out := api.Revocation{ID: in.ID, Created: time.Now().UTC(), Expires: in.Expires, By: r.who.Name}
	var err error
	if strings.Contains(in.ID, "/") {
		_, err = pki.ParseIdentity(in.ID)
	} else {
		out.ID, err = pki.ParseSerial(in.ID)
	}
	if err != nil {
		return nil, invalid("id", "%v", err)
	}
	if !in.Own && r.revokesItself(out.ID) {
		return nil, invalid("own", "these are yours (%s): you lose access, and without another operator's certificate or token you "+
			"need a new one, made on a server with \"berth ca issue operator NAME --dir DATA\"; to go ahead, repeat it with --yes (in the API \"own\": true)", r.who)
	}
	if expired(in.Expires) {
		return nil, invalid("expires", "it has passed: the certificate is not good without this")
	}
	// None is good for longer than the authority's.
	if end := s.keeper.CA().NotAfter.UTC(); out.Expires.IsZero() || out.Expires.After(end) {
		out.Expires = end
	}
	done, err := s.revokeNow(r, &out)
	if err != nil {
		return nil, err
	}
	return api.RevocationResponse{Revocation: out, Tokens: done.Tokens, Jobs: jobsOf(s.state.View(), out.ID)}, nil
}

// revokeNow records a revocation.
func (s *Server) revokeNow(r *request, out *api.Revocation) (state.Result, error) {
	if !s.restoring.TryRLock() {
		return state.Result{}, errNoLeader
	}
	defer s.restoring.RUnlock()
	done, err := s.do(r, &state.Command{Revoke: out})
	if err == nil {
		s.cfg.Logger.Warn("certificates were revoked", "of", out.ID, "by", r.who.Name, "tokens", done.Tokens)
	}
	return done, err
}

// revokesItself reports whether a revocation would end the access of who asks for it. An
// operator who revokes another one is still there.
func (r *request) revokesItself(id string) bool {
	return id == r.who.String() || r.shown.cert != nil && id == pki.Serial(r.shown.cert)
}

// jobsOf counts the jobs that have not ended of a user or operator who was revoked.
func jobsOf(v state.View, id string) (n int) {
	who, err := pki.ParseIdentity(id)
	if err != nil || who.Role != pki.User && who.Role != pki.Operator {
		return 0
	}
	for j := range v.Jobs() {
		if j.Owner == who.Name && !j.Done() {
			n++
		}
	}
	return n
}
