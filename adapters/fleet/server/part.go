package server

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"time"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/pki"
)

// takePart has a server that is not yet, or under another address, a member of the
// fleet added by the one that leads.
func (s *Server) takePart(ctx context.Context) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for !s.takesPart() {
		if err := s.askToTakePart(ctx); err != nil && ctx.Err() == nil {
			s.cfg.Logger.Warn("this server does not take part yet", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// takesPart reports whether this server is a member under its present address.
func (s *Server) takesPart() bool {
	members, err := s.replica.Members()
	return err == nil && slices.ContainsFunc(members, func(m memberOf) bool {
		return m.ID == s.cfg.ID && m.Address == s.cfg.Advertise
	})
}

// askToTakePart asks the servers that this one knows of, until one agrees.
func (s *Server) askToTakePart(ctx context.Context) error {
	var ask []string
	if s.cfg.Join != nil {
		ask = append(ask, s.cfg.Join.Servers...)
	}
	ask = append(ask, s.addresses()...)
	err := fmt.Errorf("it knows of no other server")
	for _, address := range ask {
		if err = s.post(ctx, address, "/v1/server/members", api.MemberRequest{ID: s.cfg.ID, Address: s.cfg.Advertise}, nil); err == nil {
			return nil
		}
	}
	return err
}

// post asks another server for something, as this one.
func (s *Server) post(ctx context.Context, address, path string, in, out any) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	ask, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://"+address+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	r, err := s.proxy.servers.RoundTrip(ask)
	if err != nil {
		return err
	}
	defer r.Body.Close()
	text, err := io.ReadAll(io.LimitReader(r.Body, 1<<20))
	switch {
	case err != nil:
		return err
	case r.StatusCode >= 300:
		e := &api.Error{Status: r.StatusCode, Message: r.Status}
		_ = json.Unmarshal(text, e) // else the status has to do
		return e
	case out == nil:
		return nil
	}
	return json.Unmarshal(text, out)
}

// renew gives the server a new certificate in time. It has the authority's key.
func (s *Server) renew(ctx context.Context) {
	tick := time.NewTicker(time.Hour)
	defer tick.Stop()
	for {
		if pki.NeedsRenewal(s.keeper.Credential().Cert, time.Now()) {
			if err := s.renewOnce(); err != nil {
				s.cfg.Logger.Error("the server's certificate could not be renewed", "error", err)
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func (s *Server) renewOnce() error {
	authority, err := pki.LoadAuthority(s.cfg.Dir)
	if err != nil {
		return err
	}
	c, err := authority.Issue(pki.Grant{Identity: s.keeper.Identity(), Hosts: s.cfg.hosts()})
	if err != nil {
		return err
	}
	return c.Save(filepath.Join(s.cfg.Dir, credentialFile), true)
}
