package server

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
	"github.com/berth-project/berth/adapters/fleet/pki"
	"github.com/berth-project/berth/adapters/fleet/replica"
	"github.com/berth-project/berth/adapters/fleet/state"
)

type memberOf = replica.Member

// status answers GET /v1/server/status.
func (s *Server) status(*request) (any, error) {
	v := s.state.View()
	l, _ := s.replica.Leader()
	out := api.ServerStatus{
		ID: s.cfg.ID, Version: s.cfg.Version, Leader: l.ID, Term: l.Term, Applied: s.replica.Stats().AppliedIndex,
		Started: s.started.UTC(), StateVersion: v.Version(), KnownVersion: s.cfg.knows,
	}
	for j := range v.Jobs() {
		out.Jobs++
		out.Pending += int(j.Counts.Of(job.Pending))
		out.Running += int(j.Active())
	}
	for range v.Nodes() {
		out.Nodes++
	}
	if lead := s.leading.Load(); lead != nil {
		out.Queue = lead.Counts()
	}
	return out, nil
}

// members answers GET /v1/server/members.
func (s *Server) members(r *request) (any, error) {
	members, err := s.replica.Members()
	if err != nil {
		return nil, errNoLeader
	}
	out := api.MemberList{}
	for _, m := range members {
		out.Members = append(out.Members, api.Member{
			ID: m.ID, Address: m.Address, Voter: m.Voter, Leader: m.Leader,
			State: s.memberState(&m, r.lead.since), Heard: m.LastContact.UTC(),
		})
	}
	return out, nil
}

// silence is for how long a server that answers ten times a second may be silent before
// it counts as unreachable. Config.Slowness stretches it.
const silence = 2 * time.Second

// memberState says how a server stands, to one that leads since a time.
func (s *Server) memberState(m *memberOf, since time.Time) api.MemberState {
	limit := time.Duration(float64(silence) * s.cfg.Slowness)
	switch {
	case time.Since(m.LastContact) < limit:
		return api.MemberHealthy
	case time.Since(since) < limit:
		return api.MemberUnknown
	}
	return api.MemberUnreachable
}

// addMember answers POST /v1/server/members, of a server that asks to take part.
func (s *Server) addMember(r *request) (any, error) {
	var in api.MemberRequest
	if err := r.decode(&in, false); err != nil {
		return nil, err
	}
	if in.ID != r.who.Name {
		return nil, fail(http.StatusForbidden, api.CodeForbidden, "%s may not speak for server %q", r.who, in.ID)
	}
	if _, _, err := net.SplitHostPort(in.Address); err != nil {
		return nil, invalid("address", "%v", err)
	}
	s.joining.Lock()
	defer s.joining.Unlock()
	if _, err := s.who(r.shown); err != nil {
		return nil, err // it was removed just now
	}
	return nil, memberError(s.replica.AddVoter(r.Context(), in.ID, in.Address))
}

// removeMember answers DELETE /v1/server/members/{id}. The server's certificates are
// revoked, so it does not come back with its old folder. It is removed before that: no
// majority may depend on a server that nobody talks to.
func (s *Server) removeMember(r *request) (any, error) {
	id := r.PathValue("id")
	if list, err := s.replica.Members(); err == nil && len(list) == 1 && list[0].ID == id {
		return nil, fail(http.StatusConflict, api.CodeConflict, "%s is the only server: without it there is no fleet; let another one join first", id)
	}
	if id == s.cfg.ID { // another one, that stays, does it
		if err := s.replica.TransferLeadership(r.Context()); err != nil {
			return nil, memberError(err)
		}
		return nil, errNoLeader
	}
	who := pki.Identity{Role: pki.Server, Name: id}
	s.joining.Lock()
	defer s.joining.Unlock()
	err := s.replica.Remove(r.Context(), id)
	if errors.Is(err, replica.ErrUnknownMember) && s.state.View().Revocation(who.String()) == nil {
		return nil, fail(http.StatusNotFound, api.CodeNotFound,
			"%v; if it was removed by a request that got no answer, its certificates may still be good: revoke them with \"berth server revoke %s\"", err, who)
	}
	if err != nil {
		return nil, memberError(err)
	}
	defer r.goOn()()
	_, err = s.revokeNow(r, &api.Revocation{ID: who.String(), Created: time.Now().UTC(), Expires: s.keeper.CA().NotAfter.UTC(), By: r.who.Name})
	if err != nil {
		return nil, fail(http.StatusConflict, api.CodeConflict,
			"server %s was removed, but its certificates could not be revoked: do that with \"berth server revoke %s\", or it may join again (%v)", id, who, err)
	}
	return nil, nil
}

// rest is how long what follows an irrevocable step may take.
const rest = 30 * time.Second

// goOn has what follows a step that cannot be taken back done also where the caller has gone. The
// function ends that.
func (r *request) goOn() context.CancelFunc {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), rest)
	r.Request = r.WithContext(ctx)
	return cancel
}

// memberError gives errors of the replication their status.
func memberError(err error) error {
	switch {
	case errors.Is(err, replica.ErrUnknownMember):
		return fail(http.StatusNotFound, api.CodeNotFound, "%v", err)
	case errors.Is(err, replica.ErrNotLeader), errors.Is(err, replica.ErrClosed):
		return errNoLeader
	case err != nil:
		return fail(http.StatusConflict, api.CodeConflict, "%v", err)
	}
	return nil
}

// backup answers GET /v1/server/backup.
func (s *Server) backup(r *request) (any, error) {
	r.w.Header().Set("Content-Type", "application/octet-stream")
	if _, err := s.replica.Backup(r.Context(), r.w); err != nil {
		s.cfg.Logger.Error("a backup failed", "error", err)
		panic(http.ErrAbortHandler) // what is written already is not a whole one
	}
	return answered, nil
}

// maxBackup is the size of a backup that is restored.
const maxBackup = 16 << 30

// restore answers POST /v1/server/restore.
func (s *Server) restore(r *request) (any, error) {
	// An upload may take as long as it needs.
	if err := http.NewResponseController(r.w).SetReadDeadline(time.Time{}); err != nil {
		return nil, err
	}
	// What is revoked after the present state was looked at would be lost.
	held := false
	defer func() {
		if held {
			s.restoring.Unlock()
		}
	}()
	prepare := func(in io.Reader, out io.Writer) error {
		s.restoring.Lock()
		held = true
		return state.Continue(in, s.state.View(), time.Now().UTC(), out)
	}
	info, err := s.replica.RestoreBackup(r.Context(), http.MaxBytesReader(r.w, r.Body, maxBackup), prepare)
	if errors.Is(err, replica.ErrBackup) || errors.Is(err, state.ErrPicture) {
		return nil, fail(http.StatusBadRequest, api.CodeInvalid, "%v", err)
	}
	if err != nil {
		return nil, memberError(err)
	}
	s.cfg.Logger.Warn("the state was replaced by a backup", "by", r.who.Name, "index", info.Index)
	defer r.goOn()()
	_, err = s.do(r, &state.Command{Restored: true})
	return nil, err
}
