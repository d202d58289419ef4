package pki

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/stretchr/testify/require"
)

// fleet is an authority and its file.
type fleet struct {
	*Authority
	dir string
}

func newFleet(t testing.TB) fleet {
	t.Helper()
	a, err := NewAuthority(AuthorityOptions{})
	require.NoError(t, err)
	dir := t.TempDir()
	require.NoError(t, a.Save(dir, false))
	return fleet{a, dir}
}

// keeper issues a credential and keeps it.
func (f fleet) keeper(t testing.TB, g Grant) *Keeper {
	t.Helper()
	c, err := f.Issue(g)
	require.NoError(t, err)
	return f.keep(t, c)
}

func (f fleet) keep(t testing.TB, c *Credential) *Keeper {
	t.Helper()
	file := filepath.Join(t.TempDir(), "own.pem")
	require.NoError(t, c.Save(file, false))
	k, err := NewKeeper(Files{CA: filepath.Join(f.dir, CAFile), Credential: file}, hclog.NewNullLogger())
	require.NoError(t, err)
	return k
}

func grant(r Role, name string) Grant { return Grant{Identity: Identity{r, name}} }

// connect does a handshake over a loopback connection and returns what each side
// knows of the other.
func connect(t testing.TB, server, client *tls.Config) (atServer, atClient tls.ConnectionState, err error) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	raw, err := net.Dial("tcp", l.Addr().String())
	require.NoError(t, err)
	defer raw.Close()
	accepted, err := l.Accept()
	require.NoError(t, err)
	defer accepted.Close()
	s, c := tls.Server(accepted, server), tls.Client(raw, client)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	result := make(chan error, 1)
	go func() {
		err := s.HandshakeContext(ctx)
		if err != nil {
			accepted.Close()
		}
		result <- err
	}()
	clientErr := c.HandshakeContext(ctx)
	if clientErr != nil {
		raw.Close()
	}
	if serverErr := <-result; serverErr != nil || clientErr != nil {
		return atServer, atClient, fmt.Errorf("client: %w, server: %w", orNone(clientErr), orNone(serverErr))
	}
	return s.ConnectionState(), c.ConnectionState(), nil
}

func orNone(err error) error {
	if err == nil {
		return fmt.Errorf("none")
	}
	return err
}

func TestEachRoleIsKnownAtTheOtherEnd(t *testing.T) {
	f := newFleet(t)
	server := f.keeper(t, grant(Server, "s1"))
	for _, who := range []Identity{{Server, "s2"}, {Agent, "node-17.rack"}, {User, "alice@example.org"}, {Operator, "bob"}} {
		t.Run(who.String(), func(t *testing.T) {
			client := f.keeper(t, Grant{Identity: who})
			atServer, atClient, err := connect(t, server.ServerTLS("h2"), client.ClientTLS(Identity{Role: Server}, "h2"))
			require.NoError(t, err)
			got, err := PeerIdentity(atServer)
			require.NoError(t, err)
			require.Equal(t, who, got)
			got, err = PeerIdentity(atClient)
			require.NoError(t, err)
			require.Equal(t, Identity{Server, "s1"}, got)
			require.Equal(t, uint16(tls.VersionTLS13), atServer.Version)
			require.Equal(t, "h2", atServer.NegotiatedProtocol)
		})
	}
}

func TestWithoutCertificateThereIsNoIdentity(t *testing.T) {
	f := newFleet(t)
	user, err := NewKeeper(Files{CA: filepath.Join(f.dir, CAFile)}, hclog.NewNullLogger())
	require.NoError(t, err)
	require.Zero(t, user.Identity())
	server := f.keeper(t, grant(Server, "s1"))
	atServer, _, err := connect(t, server.ServerTLS(), user.ClientTLS(Identity{Role: Server}))
	require.NoError(t, err)
	_, err = PeerIdentity(atServer)
	require.ErrorIs(t, err, ErrNoIdentity)
}

func TestHandshakesThatMustFail(t *testing.T) {
	f, other := newFleet(t), newFleet(t)
	past := time.Now().Add(-48 * time.Hour)
	expired := func(r Role) Grant { return Grant{Identity: Identity{r, "old"}, At: past, Lifetime: time.Hour} }
	good, alice := f.keeper(t, grant(Server, "s1")), f.keeper(t, grant(User, "alice"))
	toServer, tls12 := alice.ClientTLS(Identity{Role: Server}), alice.ClientTLS(Identity{Role: Server})
	tls12.MinVersion, tls12.MaxVersion = tls.VersionTLS12, tls.VersionTLS12

	tests := []struct {
		why            string
		server, client *tls.Config
		want           string
	}{
		{"server of another fleet", other.keeper(t, grant(Server, "s1")).ServerTLS(), toServer, "unknown authority"},
		{"client of another fleet", good.ServerTLS(), foreignClient(t, f, other), "unknown authority"},
		{"expired server", f.keeper(t, expired(Server)).ServerTLS(), toServer, "expired"},
		{"expired client", good.ServerTLS(), f.keeper(t, expired(User)).ClientTLS(Identity{Role: Server}), "expired"},
		{"a user as a server", f.keeper(t, grant(User, "eve")).ServerTLS(), toServer, "server.berth"},
		{"an agent as a server", f.keeper(t, grant(Agent, "n1")).ServerTLS(), toServer, "server.berth"},
		{"another agent than asked for", f.keeper(t, grant(Agent, "n2")).ServerTLS(), good.ClientTLS(Identity{Agent, "n1"}), "is agent/n2, not agent/n1"},
		{"TLS 1.2", good.ServerTLS(), tls12, "protocol version"},
		{"certificate without identity", good.ServerTLS(), withCert(f, rawCert(t, f, nil)), "no identity"},
		{"certificate for encryption only", good.ServerTLS(), withCert(f, rawCert(t, f, func(c *x509.Certificate) {
			c.URIs = append(c.URIs, Identity{User, "eve"}.uri())
			c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageEmailProtection}
		})), "usage"},
	}
	for _, test := range tests {
		t.Run(test.why, func(t *testing.T) {
			_, _, err := connect(t, test.server, test.client)
			require.ErrorContains(t, err, test.want)
		})
	}
}

// foreignClient trusts the fleet and shows a certificate of another.
func foreignClient(t *testing.T, f, other fleet) *tls.Config {
	c, err := other.Issue(grant(Operator, "eve"))
	require.NoError(t, err)
	return withCert(f, c)
}

func withCert(f fleet, c *Credential) *tls.Config {
	pool := x509.NewCertPool()
	pool.AddCert(f.cert)
	return &tls.Config{RootCAs: pool, ServerName: ServerDNS,
		// Shown whether the server asked for its authority or not.
		GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return c.certificate(), nil }}
}

// rawCert is a certificate of the authority that Sign would not make.
func rawCert(t testing.TB, f fleet, change func(*x509.Certificate)) *Credential {
	t.Helper()
	key, err := newKey()
	require.NoError(t, err)
	serial, err := newSerial()
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: "eve"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	if change != nil {
		change(template)
	}
	der, err := x509.CreateCertificate(rand.Reader, template, f.cert, key.Public(), f.key)
	require.NoError(t, err)
	cert, err := x509.ParseCertificate(der)
	require.NoError(t, err)
	return &Credential{Cert: cert, CA: f.cert, Key: key}
}

func TestIdentityOfRefuses(t *testing.T) {
	f := newFleet(t)
	uri := func(id Identity) func(*x509.Certificate) {
		return func(c *x509.Certificate) { c.URIs = append(c.URIs, id.uri()) }
	}
	for why, change := range map[string]func(*x509.Certificate){
		"it has 0 URIs":      nil,
		"it has 2 URIs":      func(c *x509.Certificate) { uri(Identity{User, "eve"})(c); uri(Identity{Operator, "eve"})(c) },
		"role \"root\"":      uri(Identity{"root", "eve"}),
		"common name":        uri(Identity{User, "alice"}),
		"name":               uri(Identity{User, "../eve"}),
		"lacks the DNS name": uri(Identity{Server, "eve"}),
		"key usage": func(c *x509.Certificate) {
			uri(Identity{Server, "eve"})(c)
			c.DNSNames = []string{ServerDNS}
		},
		"not berth://fleet": func(c *x509.Certificate) {
			u := Identity{User, "eve"}.uri()
			u.Host = "elsewhere"
			c.URIs = append(c.URIs, u)
		},
	} {
		_, err := IdentityOf(rawCert(t, f, change).Cert)
		require.ErrorIs(t, err, ErrNoIdentity, why)
		require.ErrorContains(t, err, why)
	}
	_, err := IdentityOf(f.cert)
	require.ErrorIs(t, err, ErrNoIdentity)
}

func TestGrantsAreChecked(t *testing.T) {
	f := newFleet(t)
	for _, test := range []struct {
		grant Grant
		want  string
	}{
		{grant("root", "eve"), `role "root"`},
		{grant(User, ""), "name"},
		{grant(User, "a/b"), "name"},
		{Grant{Identity: Identity{User, "eve"}, Hosts: []string{"10.0.0.1"}}, "servers and agents only"},
		{Grant{Identity: Identity{Agent, "n1"}, Hosts: []string{"server.berth", "*.org", "Server.BERTH"}}, "server.berth"},
		{Grant{Identity: Identity{Agent, "n1"}, Hosts: []string{"ok", "*.org"}}, "*.org"},
		{Grant{Identity: Identity{Agent, "n1"}, Hosts: make([]string, maxHosts+1)}, "65 hosts"},
	} {
		_, err := f.Issue(test.grant)
		require.ErrorContains(t, err, test.want)
	}
}

func TestCertificatesSayWhatWasGranted(t *testing.T) {
	f := newFleet(t)
	c, err := f.Issue(Grant{Identity: Identity{Server, "s1"}, Hosts: []string{"s1.example.org", "10.0.0.1", "::1"}, Lifetime: time.Hour})
	require.NoError(t, err)
	require.Equal(t, []string{ServerDNS, "s1.example.org"}, c.Cert.DNSNames)
	require.Len(t, c.Cert.IPAddresses, 2)
	require.Equal(t, time.Hour+skew, c.Cert.NotAfter.Sub(c.Cert.NotBefore))
	require.LessOrEqual(t, c.Cert.SerialNumber.BitLen(), 129)

	long, err := f.Issue(Grant{Identity: Identity{User, "u"}, Lifetime: 2 * DefaultCALifetime})
	require.NoError(t, err)
	require.Equal(t, f.cert.NotAfter, long.Cert.NotAfter, "not longer than the authority")
}

func TestSignTakesTheKeyAndNothingElse(t *testing.T) {
	f := newFleet(t)
	key, err := newKey()
	require.NoError(t, err)
	der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{
		Subject:  pkix.Name{CommonName: "root", OrganizationalUnit: []string{"operator"}},
		DNSNames: []string{ServerDNS},
	}, key)
	require.NoError(t, err)
	chain, err := f.Sign(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der}), grant(User, "alice"))
	require.NoError(t, err)
	c, err := NewCredential(chain, key)
	require.NoError(t, err)
	require.Equal(t, Identity{User, "alice"}, c.Identity())
	require.Empty(t, c.Cert.DNSNames)
	require.Equal(t, pkix.Name{CommonName: "alice"}.String(), c.Cert.Subject.String())
}

func TestSignRefusesBadRequests(t *testing.T) {
	f := newFleet(t)
	good, _, err := NewRequest(Identity{User, "u"})
	require.NoError(t, err)
	weak, err := ecdsa.GenerateKey(elliptic.P224(), rand.Reader)
	require.NoError(t, err)
	weakDER, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{}, weak)
	require.NoError(t, err)
	block, _ := pem.Decode(good)
	forged := append([]byte{}, block.Bytes...)
	forged[len(forged)-1] ^= 1
	encode := func(der []byte) []byte {
		return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der})
	}
	for want, request := range map[string][]byte{
		"one PEM block": append(append([]byte{}, good...), good...),
		"more than":     make([]byte, maxRequest+1),
		"P-256":         encode(weakDER),
		"signing":       encode(forged),
		"must be one":   f.CAPEM(),
	} {
		_, err := f.Sign(request, grant(User, "u"))
		require.ErrorContains(t, err, want)
	}
}

func TestFilesAreKeptSafe(t *testing.T) {
	f := newFleet(t)
	mode := func(path string) fs.FileMode {
		info, err := os.Stat(path)
		require.NoError(t, err)
		return info.Mode().Perm()
	}
	require.Equal(t, fs.FileMode(0o600), mode(filepath.Join(f.dir, CAKeyFile)))
	require.Equal(t, fs.FileMode(0o644), mode(filepath.Join(f.dir, CAFile)))
	require.ErrorIs(t, f.Save(f.dir, false), fs.ErrExist, "an authority is never overwritten")

	c, err := f.Issue(grant(User, "u"))
	require.NoError(t, err)
	file := filepath.Join(f.dir, "u.pem")
	require.NoError(t, c.Save(file, false))
	require.Equal(t, fs.FileMode(0o600), mode(file))
	require.ErrorIs(t, c.Save(file, false), fs.ErrExist)
	require.NoError(t, c.Save(file, true))

	require.NoError(t, os.Chmod(file, 0o640))
	_, err = LoadCredential(file)
	require.ErrorContains(t, err, "a file with a token or a key needs mode 0600")

	loaded, err := LoadAuthority(f.dir)
	require.NoError(t, err)
	require.True(t, loaded.cert.Equal(f.cert))
	entries, err := os.ReadDir(f.dir)
	require.NoError(t, err)
	require.Len(t, entries, 3, "no temporary files are left")
}

func TestParseAuthorityWantsItsOwnKey(t *testing.T) {
	a, b := newFleet(t), newFleet(t)
	_, key, err := b.PEM()
	require.NoError(t, err)
	_, err = ParseAuthority(a.CAPEM(), key)
	require.ErrorContains(t, err, "does not belong")
	c, err := a.Issue(grant(Server, "s1"))
	require.NoError(t, err)
	_, err = ParseAuthority(encodeCert(c.Cert), key)
	require.ErrorContains(t, err, "not an authority's")
}
