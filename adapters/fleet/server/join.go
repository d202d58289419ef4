package server

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/pki"
)

// join answers POST /v1/join: a certificate for a new server or agent that shows a
// join token, or a new one for who shows the present one. Any server can answer that is
// not cut off; all have the authority's key.
func (s *Server) join(w http.ResponseWriter, hr *http.Request) {
	r := &request{Request: hr, w: w}
	v, err := s.joinFor(r)
	if err != nil {
		answerError(w, s.errorOf(hr, err))
		return
	}
	w.Header().Set("Cache-Control", "no-store")
	answer(w, http.StatusOK, v)
}

func (s *Server) joinFor(r *request) (any, error) {
	if r.TLS != nil && len(r.TLS.VerifiedChains) > 0 {
		return s.renewFor(r)
	}
	text, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	token, err := pki.ParseToken(text)
	if err != nil {
		return nil, errUnauthorized
	}
	if err := s.inTouch(r.Context()); err != nil {
		return nil, err
	}
	known := s.token(token.Hash(), true)
	if known == nil {
		return nil, errUnauthorized
	}
	v := s.state.View()
	var in api.JoinRequest
	if err := r.decode(&in, false); err != nil {
		return nil, err
	}
	who := pki.Identity{Role: pki.Role(known.Role), Name: in.Name}
	if err := who.Validate(); err != nil {
		return nil, invalid("name", "%v", err)
	}
	if who.Role == pki.Agent && v.Node(in.Name) != nil || who.Role == pki.Server && s.isMember(in.Name) {
		return nil, fail(http.StatusConflict, api.CodeConflict,
			"there is %s already; if it was installed anew, remove the old one first", who)
	}
	return s.sign(pki.Grant{Identity: who, At: s.afterRevocation(who)}, in)
}

// renewFor gives a new certificate to who has one, that is good for as long as the
// present one was: who was let in for a day does not stay for a year. A node that was
// removed is let in with a token alone.
func (s *Server) renewFor(r *request) (any, error) {
	who, err := pki.PeerIdentity(*r.TLS)
	if err != nil {
		return nil, errUnauthorized
	}
	if !s.limits.allow(who, 1) {
		return nil, errRate
	}
	if err := s.inTouch(r.Context()); err != nil {
		return nil, err
	}
	var in api.JoinRequest
	if err := r.decode(&in, false); err != nil {
		return nil, err
	}
	at := s.afterRevocation(who) // what is revoked from here on ends the new one as well
	if err := s.trust(r.TLS.VerifiedChains[0][0]); err != nil {
		return nil, err
	}
	if who.Role == pki.Agent && s.state.View().Node(who.Name) == nil {
		return nil, fail(http.StatusForbidden, api.CodeForbidden, "there is no node %s any more; it joins again with a token", who.Name)
	}
	present := r.TLS.VerifiedChains[0][0]
	return s.sign(pki.Grant{Identity: who, Lifetime: pki.Lifetime(present), At: at}, in)
}

// afterRevocation is when a certificate must be made to be good, though the clock of the
// server that revoked those before was ahead, or it was in this second; zero: now.
func (s *Server) afterRevocation(who pki.Identity) time.Time {
	if old := s.state.View().Revocation(who.String()); old != nil {
		if next := old.Created.Truncate(time.Second).Add(time.Second); time.Now().Before(next) {
			return next
		}
	}
	return time.Time{}
}

// inTouch refuses to go on where no server is known to lead: this one may not have heard
// what was revoked, and what it signed would be good at all servers.
func (s *Server) inTouch(ctx context.Context) error {
	s.waitForLeader(ctx)
	if _, ok := s.leaderAddress(); !ok && s.leading.Load() == nil {
		return errNoLeader
	}
	return nil
}

// isMember reports whether there is a server of the ID.
func (s *Server) isMember(id string) bool {
	members, err := s.replica.Members()
	return err != nil || slices.ContainsFunc(members, func(m memberOf) bool { return m.ID == id })
}

// sign makes a certificate. Servers get the authority's key too.
func (s *Server) sign(g pki.Grant, in api.JoinRequest) (any, error) {
	authority, err := pki.LoadAuthority(s.cfg.Dir)
	if err != nil {
		return nil, err
	}
	if g.Role == pki.Agent || g.Role == pki.Server {
		g.Hosts = in.Hosts
	}
	chain, err := authority.Sign([]byte(in.CSR), g)
	if err != nil {
		return nil, invalid("csr", "%v", err)
	}
	out := api.JoinResponse{Certificate: string(chain), CA: string(authority.CAPEM()), Servers: s.addresses()}
	if g.Role == pki.Server {
		_, key, err := authority.PEM()
		if err != nil {
			return nil, err
		}
		out.CAKey = string(key)
	}
	return out, nil
}

// addresses are those of all servers.
func (s *Server) addresses() []string {
	out := []string{}
	members, err := s.replica.Members()
	if err != nil && !errors.Is(err, http.ErrServerClosed) {
		return out
	}
	for _, m := range members {
		out = append(out, m.Address)
	}
	return out
}
