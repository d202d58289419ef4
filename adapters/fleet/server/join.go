package server

import (
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/pki"
)

// join answers POST /v1/join: a certificate for a new server or agent that shows a
// join token, or a new one for somebody who shows the present one.
func (s *Server) join(w http.ResponseWriter, hr *http.Request) {
	v, err := s.joinFor(&request{Request: hr, w: w})
	switch {
	case err != nil:
		answerError(w, s.errorOf(hr, err))
	case v != answered:
		w.Header().Set("Cache-Control", "no-store")
		answer(w, http.StatusOK, v)
	}
}

// joinFor has the server that leads sign: another may not have heard what was revoked,
// and what it signed would be good at all servers.
func (s *Server) joinFor(r *request) (any, error) {
	var err error
	if r.shown, err = shown(r.Request); err != nil {
		return nil, err
	}
	address, err := s.confirm(r)
	switch {
	case err != nil:
		return nil, err
	case r.lead == nil:
		s.handOn(r, address)
		return answered, nil
	case r.shown.cert != nil:
		return s.renewFor(r)
	}
	known := s.token(r.shown)
	if known == nil || !known.Join {
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
	who, err := s.who(r.shown)
	if err != nil {
		return nil, err
	}
	if !s.limits.allow(who, 1) {
		return nil, errRate
	}
	var in api.JoinRequest
	if err := r.decode(&in, false); err != nil {
		return nil, err
	}
	at := s.afterRevocation(who) // what is revoked from here on ends the new one as well
	if s.replica.Verify(r.Context()) != nil {
		return nil, errNoLeader // the body may have taken a while
	}
	if _, err := s.who(r.shown); err != nil {
		return nil, err
	}
	if who.Role == pki.Agent && s.state.View().Node(who.Name) == nil {
		return nil, fail(http.StatusForbidden, api.CodeForbidden, "there is no node %s any more; it joins again with a token", who.Name)
	}
	return s.sign(pki.Grant{Identity: who, Lifetime: pki.Lifetime(r.shown.cert), At: at}, in)
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

// isMember reports whether there is a server with the ID.
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
