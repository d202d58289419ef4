package pki

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/stretchr/testify/require"
)

func TestRenewedCertificateIsShownAtTheNextConnection(t *testing.T) {
	f := newFleet(t)
	server, client := f.keeper(t, grant(Server, "s1")), f.keeper(t, grant(User, "u"))
	listen, dial := server.ServerTLS(), client.ClientTLS(Identity{Role: Server})
	serials := func() [2]string {
		atServer, atClient, err := connect(t, listen, dial)
		require.NoError(t, err)
		return [2]string{atServer.PeerCertificates[0].SerialNumber.String(), atClient.PeerCertificates[0].SerialNumber.String()}
	}
	before := serials()
	for _, k := range []*Keeper{server, client} {
		sign := func(_ context.Context, request []byte) ([]byte, error) {
			return f.Sign(request, Grant{Identity: k.Identity()})
		}
		require.NoError(t, Renew(t.Context(), k.files.Credential, sign))
	}
	after := serials()
	require.NotEqual(t, before[0], after[0])
	require.NotEqual(t, before[1], after[1])
}

func TestKeeperGoesOnWithTheOldWhereTheNewCannotBeRead(t *testing.T) {
	f := newFleet(t)
	k := f.keeper(t, grant(Server, "s1"))
	old := k.Credential().Cert
	require.NoError(t, os.WriteFile(k.files.Credential, []byte("half a fi"), 0o600))
	require.True(t, old.Equal(k.Credential().Cert))

	stranger, err := newFleet(t).Issue(grant(Server, "s1"))
	require.NoError(t, err)
	require.NoError(t, stranger.Save(k.files.Credential, true))
	require.True(t, old.Equal(k.Credential().Cert), "of another authority")

	renewed, err := f.Issue(grant(Server, "s1"))
	require.NoError(t, err)
	require.NoError(t, renewed.Save(k.files.Credential, true))
	require.True(t, renewed.Cert.Equal(k.Credential().Cert))
}

func TestNewKeeperRefuses(t *testing.T) {
	f := newFleet(t)
	ca := filepath.Join(f.dir, CAFile)
	stranger, err := newFleet(t).Issue(grant(Server, "s1"))
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "x.pem")
	require.NoError(t, stranger.Save(file, false))
	for want, files := range map[string]Files{
		"no such file":  {CA: filepath.Join(f.dir, "none.pem")},
		"not signed by": {CA: ca, Credential: file},
		"certificate":   {CA: filepath.Join(f.dir, CAKeyFile)},
	} {
		_, err := NewKeeper(files, hclog.NewNullLogger())
		require.ErrorContains(t, err, want)
	}
}

func TestNeedsRenewal(t *testing.T) {
	f := newFleet(t)
	at := time.Now()
	c, err := f.Issue(Grant{Identity: Identity{User, "u"}, At: at.Add(skew), Lifetime: 90 * time.Hour})
	require.NoError(t, err)
	require.False(t, NeedsRenewal(c.Cert, at.Add(59*time.Hour)))
	require.True(t, NeedsRenewal(c.Cert, at.Add(61*time.Hour)))
	require.True(t, NeedsRenewal(c.Cert, at.Add(1000*time.Hour)))
}

func TestRenewRefusesAnAnswerForSomebodyElse(t *testing.T) {
	f, other := newFleet(t), newFleet(t)
	refused := errors.New("refused")
	for want, sign := range map[string]func(context.Context, []byte) ([]byte, error){
		"is for operator/u": func(_ context.Context, r []byte) ([]byte, error) { return f.Sign(r, grant(Operator, "u")) },
		"another authority": func(_ context.Context, r []byte) ([]byte, error) { return other.Sign(r, grant(User, "u")) },
		"does not belong": func(context.Context, []byte) ([]byte, error) {
			r, _, err := NewRequest(Identity{User, "u"})
			require.NoError(t, err)
			return f.Sign(r, grant(User, "u"))
		},
		"no certificate": func(context.Context, []byte) ([]byte, error) { return []byte("sorry"), nil },
		"refused":        func(context.Context, []byte) ([]byte, error) { return nil, refused },
	} {
		k := f.keeper(t, grant(User, "u"))
		before, err := os.ReadFile(k.files.Credential)
		require.NoError(t, err)
		require.ErrorContains(t, Renew(t.Context(), k.files.Credential, sign), want)
		after, err := os.ReadFile(k.files.Credential)
		require.NoError(t, err)
		require.Equal(t, before, after, "the file stays")
	}
}
