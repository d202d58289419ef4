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

// cutOff closes connections that were made before their certificates were revoked. That
// ends streams, too; whoever connects again is told why.
func (s *Server) cutOff(ctx context.Context) {
	for {
		select {
		case <-s.revoked:
			s.mux.CloseIf(func(c *x509.Certificate) bool { return s.trust(c) != nil })
			s.replica.Recheck()
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
	if expired(in.Expires) {
		return nil, invalid("expires", "it has passed: the certificate is not good without this")
	}
	// None is good for longer than the authority's.
	if end := s.keeper.CA().NotAfter.UTC(); out.Expires.IsZero() || out.Expires.After(end) {
		out.Expires = end
	}
	if !s.restoring.TryRLock() {
		return nil, errNoLeader
	}
	defer s.restoring.RUnlock()
	done, err := s.do(r, &state.Command{Revoke: &out})
	if err != nil {
		return nil, err
	}
	s.cfg.Logger.Warn("certificates were revoked", "of", out.ID, "by", r.who.Name, "tokens", done.Tokens)
	return api.RevocationResponse{Revocation: out, Tokens: done.Tokens}, nil
}
