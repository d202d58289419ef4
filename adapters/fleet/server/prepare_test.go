package server

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/fleet/pki"
)

// A server does not start with an authority's key that others can read: else nobody notices
// until a machine joins, or a certificate is to be renewed.
func TestAuthorityIsCheckedAtStart(t *testing.T) {
	cfg := Config{ID: "s1", Dir: t.TempDir(), Advertise: "127.0.0.1:7070", Bootstrap: true}
	require.NoError(t, prepare(t.Context(), &cfg))
	require.NoError(t, prepare(t.Context(), &cfg))
	key := filepath.Join(cfg.Dir, pki.CAKeyFile)
	require.NoError(t, os.Chmod(key, 0o644))
	require.ErrorContains(t, prepare(t.Context(), &cfg), "chmod 600")
	require.NoError(t, os.Remove(key))
	require.NoError(t, prepare(t.Context(), &cfg), "its certificates are made elsewhere")
}

// Why a machine could not join is one line, of all servers that were asked.
func TestWhyNotJoinedIsOneLine(t *testing.T) {
	t.Parallel()
	f := begun(t)
	token := f.joinToken("agent").Token
	f.stop()
	join := &Join{Servers: []string{freeAddress(t), freeAddress(t)}, Token: token}
	_, _, err := RequestCertificate(t.Context(), pki.Identity{Role: pki.Agent, Name: "n1"}, join, nil)
	require.ErrorContains(t, err, join.Servers[0]+": ")
	require.ErrorContains(t, err, "; "+join.Servers[1]+": ")
	require.NotContains(t, err.Error(), "\n")
}
