package server

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/api/client"
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
		if err = s.askOne(ctx, address); err == nil {
			return nil
		}
	}
	return err
}

// askOne asks one server to let this one take part.
func (s *Server) askOne(ctx context.Context, address string) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	c, err := client.New(client.Config{
		Servers: []string{address}, TLS: s.keeper.ClientTLS(pki.Identity{Role: pki.Server}), Patience: -1,
	})
	if err != nil {
		return err
	}
	defer c.Close()
	return c.AddMember(ctx, api.MemberRequest{ID: s.cfg.ID, Address: s.cfg.Advertise})
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
