package cli

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/pki"
)

// A credential's file names its certificate, whatever else is in it, and says until when
// it has to be remembered.
func TestRevocationOfAFile(t *testing.T) {
	authority, err := pki.NewAuthority(pki.AuthorityOptions{})
	require.NoError(t, err)
	c, err := authority.Issue(pki.Grant{Identity: pki.Identity{Role: pki.User, Name: "eve"}})
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "eve.pem")
	require.NoError(t, c.Save(path, false))
	got, err := readRevocation(path)
	require.NoError(t, err)
	require.Equal(t, api.RevocationRequest{ID: pki.Serial(c.Cert), Expires: c.Cert.NotAfter.UTC()}, got)
	// A file whose name could be a number is a file.
	t.Chdir(filepath.Dir(path))
	require.NoError(t, c.Save("ada", false))
	got, err = readRevocation("ada")
	require.NoError(t, err)
	require.Equal(t, pki.Serial(c.Cert), got.ID)
}
