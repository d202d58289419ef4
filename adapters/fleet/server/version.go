package server

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/api/client"
	"github.com/berth-project/berth/adapters/fleet/pki"
	"github.com/berth-project/berth/adapters/fleet/state"
)

// versionFor is the version that servers must know to apply a command. One that the state does
// not have yet is refused.
func (s *Server) versionFor(c *state.Command) (uint8, error) {
	has := s.state.View().Version()
	if has < state.Version {
		c.Restrict(has)
		if needs, field := c.Needs(); needs > has {
			return 0, fail(http.StatusConflict, api.CodeConflict,
				"%s needs version %d of the fleet's state, and it has %d until all servers run a program that knows more (berth server status)", field, needs, has)
		}
	}
	return uint8(max(has, c.Raise)), nil
}

// raise raises the version of the state, while this server leads, to what all servers know.
func (s *Server) raise(ctx context.Context, term uint64) {
	pause := time.Duration(float64(time.Second) * s.cfg.Slowness)
	for said := ""; ctx.Err() == nil && s.state.View().Version() < s.cfg.knows; wait(ctx, pause) {
		members, err := s.replica.Members()
		if err != nil {
			continue
		}
		text := strings.Join(s.raiseFor(ctx, term, members), ", ")
		if text != said && text != "" {
			s.cfg.Logger.Info("what is new in this program waits for other servers", "servers", text)
		}
		said = text
	}
}

// raiseAlone has a fleet of one server begin with the newest version.
func (s *Server) raiseAlone(ctx context.Context, term uint64) {
	if members, err := s.replica.Members(); err == nil && len(members) == 1 {
		s.raiseFor(ctx, term, members)
	}
}

// raiseFor raises the version to what all members know, and returns those that do not know
// all that this server does.
func (s *Server) raiseFor(ctx context.Context, term uint64, members []memberOf) (older []string) {
	known, older := s.knownByAll(ctx, members)
	if known > s.state.View().Version() {
		if _, err := s.propose(ctx, &state.Command{Raise: known, Term: term}); err == nil {
			s.cfg.Logger.Info("all servers know this version of the state", "version", known)
		}
	}
	return older
}

// knownByAll is the newest version of the state that all members know, and who does not
// know all that this one does, or does not say.
func (s *Server) knownByAll(ctx context.Context, members []memberOf) (version int, older []string) {
	version = s.cfg.knows
	for _, m := range members {
		if m.ID == s.cfg.ID {
			continue
		}
		known, err := s.knownBy(ctx, &m)
		if err != nil {
			s.cfg.Logger.Debug("a server does not say which version of the state it knows", "server", m.ID, "error", err)
		}
		if known < s.cfg.knows {
			older = append(older, m.ID)
		}
		version = min(version, known)
	}
	return version, older
}

// knownBy asks a server which version of the state it knows.
func (s *Server) knownBy(ctx context.Context, m *memberOf) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	c, err := client.New(client.Config{
		Servers: []string{m.Address}, TLS: s.proxy.to(pki.Identity{Role: pki.Server, Name: m.ID}), Patience: -1,
	})
	if err != nil {
		return 0, err
	}
	defer c.Close()
	is, err := c.ServerStatus(ctx)
	if err == nil && is.ID != m.ID {
		err = fmt.Errorf("%s is server %s", m.Address, is.ID)
	}
	if err != nil {
		return 0, err
	}
	return is.KnownVersion, nil
}
