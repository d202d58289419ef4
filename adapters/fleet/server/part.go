package server

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/api/client"
	"github.com/berth-project/berth/adapters/fleet/pki"
)

// errRefused: the fleet has removed this server, or revoked its certificate.
var errRefused = errors.New("the fleet has removed this server, or revoked its certificate")

// takePart has a server that is not yet, or under another address, a member of the
// fleet added by the one that leads. One that hears of no leader asks, too: it may have
// been removed, and then it ends, since nobody will ever tell it.
func (s *Server) takePart(ctx context.Context) error {
	for ; ctx.Err() == nil; wait(ctx, time.Second) {
		part := s.takesPart()
		if _, led := s.replica.Leader(); led && part {
			continue
		}
		err := s.askToTakePart(ctx)
		switch {
		case errors.Is(err, errRefused):
			wait(ctx, answerTime) // the request that removed it may have come here
			return fmt.Errorf("server %s: %w", s.cfg.ID, err)
		case err != nil && !part && ctx.Err() == nil:
			s.cfg.Logger.Warn("this server does not take part yet", "error", err)
		}
	}
	return nil
}

// wait waits for a while, or until the context ends.
func wait(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// takesPart reports whether this server is a member under its present address.
func (s *Server) takesPart() bool {
	members, err := s.replica.Members()
	return err == nil && slices.ContainsFunc(members, func(m memberOf) bool {
		return m.ID == s.cfg.ID && m.Address == s.cfg.Advertise
	})
}

// askToTakePart asks the servers that this one knows of, until one agrees, or does not
// know this one any more.
func (s *Server) askToTakePart(ctx context.Context) error {
	var ask []string
	if s.cfg.Join != nil {
		ask = append(ask, s.cfg.Join.Servers...)
	}
	ask = append(ask, s.addresses()...)
	err := errors.New("it knows of no other server")
	for _, address := range ask {
		if address == s.cfg.Advertise {
			continue
		}
		err = s.askOne(ctx, address)
		var answered *api.Error
		if errors.As(err, &answered) && answered.Code == api.CodeUnauthorized {
			return fmt.Errorf("%w: to have it join again, empty its data folder %s and start it with a new join token (%s says: %w)",
				errRefused, s.cfg.Dir, address, err)
		}
		if err == nil {
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

// renew gives the server a new certificate in time. It has the authority's key, and uses
// it while there is a leader: one that was removed would let itself in again. With a
// certificate that has expired there is nobody to hear of.
func (s *Server) renew(ctx context.Context) {
	for ; ctx.Err() == nil; wait(ctx, time.Minute) {
		cert, now := s.keeper.Credential().Cert, time.Now()
		_, led := s.replica.Leader()
		if !pki.NeedsRenewal(cert, now) || !led && now.Before(cert.NotAfter) {
			continue
		}
		if err := s.renewOnce(); err != nil {
			s.cfg.Logger.Error("the server's certificate could not be renewed", "error", err)
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
