package server

import (
	"bufio"
	"context"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
	"github.com/berth-project/berth/adapters/fleet/pki"
	"github.com/berth-project/berth/adapters/fleet/state"
)

// A certificate that was revoked is good for nothing from then on, also on connections
// that are there; others of the same user are not concerned.
func TestRevokedCertificate(t *testing.T) {
	t.Parallel()
	f := begun(t)
	op := f.as(oscar)
	lost, err := f.authority.Issue(pki.Grant{Identity: alice, Lifetime: time.Hour})
	require.NoError(t, err)
	a, other := f.with(lost), f.as(alice)
	a.must("GET", "/v1/self", nil, nil)

	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	follow, err := http.NewRequestWithContext(ctx, "GET", "https://"+a.address+"/v1/events?follow=true", nil)
	require.NoError(t, err)
	a.submit(sleeper())
	stream, err := a.http.Do(follow)
	require.NoError(t, err)
	defer stream.Body.Close()
	lines := bufio.NewScanner(stream.Body)
	require.True(t, lines.Scan())

	serial := pki.Serial(lost.Cert)
	var r api.Revocation
	op.must("POST", "/v1/revocations", api.RevocationRequest{ID: "00:" + strings.ToUpper(serial), Expires: lost.Cert.NotAfter}, &r)
	require.Equal(t, serial, r.ID, "however it was written")
	require.Equal(t, "oscar", r.By)
	require.True(t, lost.Cert.NotAfter.Equal(r.Expires))
	for lines.Scan() {
	}
	require.NoError(t, ctx.Err(), "the stream was ended")
	for _, path := range []string{"/v1/self", "/v1/jobs", "/v1/events"} {
		e := cutOff(a, "GET", path, nil)
		require.Equal(t, errRevoked.Message, e.Message)
	}
	cutOff(a, "POST", "/v1/join", f.request(alice)) // nor for the next one
	other.must("GET", "/v1/self", nil, nil)

	var list api.RevocationList
	op.must("GET", "/v1/revocations", nil, &list)
	require.Equal(t, []api.Revocation{r}, list.Revocations)
}

// cutOff is a request of a caller whose certificate was revoked just now. Its connection
// is being closed: it may have to ask again to be told.
func cutOff(c *caller, method, path string, body any) api.Error {
	c.f.t.Helper()
	return c.cutOffWith(http.StatusUnauthorized, method, path, body)
}

// cutOffWith is cutOff of a caller who is refused in another way.
func (c *caller) cutOffWith(status int, method, path string, body any) api.Error {
	c.f.t.Helper()
	var a got
	eventually(c.f.t, func() bool {
		a = c.ask(method, path, body)
		return a.err == nil
	})
	return c.refusal(a, status)
}

// All certificates of somebody can be revoked: those that were made until then.
func TestRevokedIdentity(t *testing.T) {
	t.Parallel()
	f := begun(t)
	op, a, n := f.as(oscar), f.as(alice), f.agent("n1")
	var r api.Revocation
	op.must("POST", "/v1/revocations", api.RevocationRequest{ID: "user/alice"}, &r)
	require.True(t, f.ca().NotAfter.Equal(r.Expires), "none is good for longer")
	cutOff(a, "GET", "/v1/self", nil)
	later, err := f.authority.Issue(pki.Grant{Identity: alice, At: time.Now().Add(time.Minute)})
	require.NoError(t, err)
	f.with(later).must("GET", "/v1/self", nil, nil)
	f.as(pki.Identity{Role: pki.User, Name: "alice2"}).must("GET", "/v1/self", nil, nil)
	f.as(pki.Identity{Role: pki.Operator, Name: "alice"}).must("GET", "/v1/self", nil, nil)

	op.must("POST", "/v1/revocations", api.RevocationRequest{ID: "agent/n1"}, nil)
	cutOff(n.caller, "POST", "/v1/agent/poll", api.PollRequest{Node: "n1", Boot: "1"})
	require.Error(t, f.server.trust(n.http.Transport.(*http.Transport).TLSClientConfig.Certificates[0].Leaf), "nor is its log asked for")
	// A server that was revoked speaks for nobody, and who asked it is not told that it was she:
	// a server would take itself for revoked, and end.
	s9 := f.as(pki.Identity{Role: pki.Server, Name: "s9"})
	s9.headers = map[string]string{onBehalf: handed(op)}
	s9.must("GET", "/v1/tokens", nil, nil)
	op.must("POST", "/v1/revocations", api.RevocationRequest{ID: "server/s9"}, nil)
	e := s9.cutOffWith(http.StatusServiceUnavailable, "GET", "/v1/tokens", nil)
	require.Equal(t, api.CodeNoLeader, e.Code)
	s9.headers = nil
	cutOff(s9, "GET", "/v1/tokens", nil)

	for _, bad := range []string{
		`{}`, `{"id":"alice"}`, `{"id":"root/alice"}`, `{"id":"user/"}`, `{"id":"user/a/b"}`, `{"id":"0"}`, `{"id":"-1"}`,
		`{"id":"0x1"}`, `{"id":"` + strings.Repeat("a", 65) + `"}`, `{"id":"ab","expires":"2001-01-01T00:00:00Z"}`,
	} {
		op.refused(http.StatusBadRequest, "POST", "/v1/revocations", bad)
	}
}

// An operator who would end her own access has to say that it is meant; one who revokes another operator
// is still there.
func TestOperatorsDoNotRevokeThemselvesUnawares(t *testing.T) {
	t.Parallel()
	f := begun(t)
	own, err := f.authority.Issue(pki.Grant{Identity: oscar})
	require.NoError(t, err)
	op := f.with(own)
	for _, id := range []string{"operator/oscar", pki.Serial(own.Cert)} {
		e := op.refused(http.StatusBadRequest, "POST", "/v1/revocations", api.RevocationRequest{ID: id})
		require.Contains(t, e.Problems[0].Message, "berth ca issue operator NAME --dir DATA")
	}
	op.must("GET", "/v1/self", nil, nil)
	var out api.RevocationResponse
	op.must("POST", "/v1/revocations", api.RevocationRequest{ID: "operator/olga"}, &out)
	op.must("POST", "/v1/revocations", api.RevocationRequest{ID: "user/oscar"}, &out)
	f.as(alice).submit(sleeper())
	op.must("POST", "/v1/revocations", api.RevocationRequest{ID: "user/alice"}, &out)
	require.Equal(t, 1, out.Jobs)
	op.ask("POST", "/v1/revocations", api.RevocationRequest{ID: "operator/oscar", Own: true}) // its connection may be closed first
	cutOff(op, "GET", "/v1/self", nil)
}

// A backup that is older does not make certificates good again.
func TestRestoredRevocations(t *testing.T) {
	t.Parallel()
	f := begun(t)
	op, a := f.as(oscar), f.as(alice)
	backup := op.ask("GET", "/v1/server/backup", nil)
	require.Equal(t, 200, backup.status)
	op.must("POST", "/v1/revocations", api.RevocationRequest{ID: "user/alice"}, nil)
	op.must("POST", "/v1/server/restore", backup.body, nil)
	eventually(t, func() bool { return f.server.leading.Load() != nil })
	cutOff(a, "GET", "/v1/self", nil)
}

// What is revoked while a backup is being restored is not lost either.
func TestRevokedDuringRestore(t *testing.T) {
	t.Parallel()
	f := begun(t)
	op, other := f.as(oscar), f.as(oscar)
	backup := op.ask("GET", "/v1/server/backup", nil)
	require.Equal(t, 200, backup.status)
	end, done := make(chan struct{}), make(chan []string)
	var accepted atomic.Bool
	go func() {
		var revoked []string
		for n := 1; ; n++ {
			select {
			case <-end:
				done <- revoked
				return
			default:
			}
			id := strconv.FormatInt(int64(n), 16)
			if other.ask("POST", "/v1/revocations", api.RevocationRequest{ID: id}).status == http.StatusOK {
				revoked = append(revoked, id)
				accepted.Store(true)
			}
		}
	}()
	for n := 0; n < 5 || !accepted.Load(); n++ { // while a server takes over it refuses
		op.must("POST", "/v1/server/restore", backup.body, nil)
	}
	close(end)
	revoked := <-done
	require.NotEmpty(t, revoked)
	eventually(t, func() bool { return f.server.leading.Load() != nil })
	for _, id := range revoked {
		require.NotNil(t, f.server.state.View().Revocation(id), "%s of %d", id, len(revoked))
	}
}

// A user with restored access gets a certificate that is good, also where the clock of the
// server that revoked the others is ahead of that of the server that makes it.
func TestJoinAgainAfterRevocation(t *testing.T) {
	t.Parallel()
	f := begun(t)
	who := pki.Identity{Role: pki.Agent, Name: "n7"}
	ahead := time.Now().Add(time.Minute).UTC()
	_, err := f.server.propose(t.Context(), &state.Command{Revoke: &api.Revocation{ID: who.String(), Created: ahead, Expires: f.ca().NotAfter}})
	require.NoError(t, err)
	var a api.JoinResponse
	f.bearing(f.joinToken(api.RoleAgent).Token).must("POST", "/v1/join", f.request(who), &a)
	_, cert := f.certified(a)
	require.NoError(t, f.server.trust(cert))
	require.True(t, cert.NotBefore.Before(time.Now()), "it is good at once")
}

// A server that is cut off from the others may not know what was revoked: it renews no
// certificate, for the new one would be good everywhere.
func TestServerAloneRenewsNothing(t *testing.T) {
	t.Parallel()
	w := begunThree(t)
	w.stops[1]()
	w.stops[2]()
	alone := w.servers[0]
	eventually(t, func() bool {
		_, ok := alone.replica.Leader()
		return !ok
	})
	a := w.as(alice)
	a.address = alone.Addr().String()
	e := a.refused(http.StatusServiceUnavailable, "POST", "/v1/join", w.request(alice))
	require.Equal(t, api.CodeNoLeader, e.Code)
}

// Servers do not talk to one whose certificate was revoked; it ends, and the others go on.
func TestRevokedServer(t *testing.T) {
	t.Parallel()
	w := begunThree(t)
	w.mayEnd = errRefused
	leader := w.leader()
	gone := w.servers[(leader+1)%3]
	op := w.as(oscar)
	op.address = w.servers[leader].Addr().String()
	op.must("POST", "/v1/revocations", api.RevocationRequest{ID: pki.Serial(gone.keeper.Credential().Cert)}, nil)
	<-gone.replica.Done()
	a := w.as(alice)
	a.address = op.address
	require.NotEmpty(t, a.submit(job.Spec{Command: []string{"true"}}))
}

// Whoever is locked out loses all tokens, and a backup does not bring them back. Those
// that are made after that are good.
func TestRevokedUserHasNoTokens(t *testing.T) {
	t.Parallel()
	f := begun(t)
	op := f.as(oscar)
	var tokens []api.TokenResponse
	for range 2 {
		tokens = append(tokens, f.token(api.TokenRequest{Role: api.RoleUser, Name: "alice"}))
	}
	others := []api.TokenResponse{
		f.token(api.TokenRequest{Role: api.RoleUser, Name: "alice2"}), f.token(api.TokenRequest{Role: api.RoleOperator, Name: "alice"}),
	}
	backup := op.ask("GET", "/v1/server/backup", nil)
	require.Equal(t, 200, backup.status)
	var r api.RevocationResponse
	op.must("POST", "/v1/revocations", api.RevocationRequest{ID: "user/alice"}, &r)
	require.ElementsMatch(t, []string{tokens[0].ID, tokens[1].ID}, r.Tokens)
	later := f.token(api.TokenRequest{Role: api.RoleUser, Name: "alice"})
	check := func() {
		t.Helper()
		for _, k := range tokens {
			f.bearing(k.Token).refused(http.StatusUnauthorized, "GET", "/v1/self", nil)
		}
		for _, k := range others {
			f.bearing(k.Token).must("GET", "/v1/self", nil, nil)
		}
	}
	check()
	f.bearing(later.Token).must("GET", "/v1/self", nil, nil)
	op.must("POST", "/v1/server/restore", backup.body, nil)
	check()
	// Here the token is in the backup and in the present state.
	later = f.token(api.TokenRequest{Role: api.RoleUser, Name: "alice"})
	backup = op.ask("GET", "/v1/server/backup", nil)
	op.must("POST", "/v1/server/restore", backup.body, nil)
	f.bearing(later.Token).must("GET", "/v1/self", nil, nil)
}
