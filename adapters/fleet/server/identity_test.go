package server

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/pki"
	"github.com/berth-project/berth/adapters/fleet/state"
)

// crafted signs a certificate that the authority would not, with the authority's key.
func (f *fleet) crafted(change func(*x509.Certificate)) *pki.Credential {
	f.t.Helper()
	caPEM, keyPEM, err := f.authority.PEM()
	require.NoError(f.t, err)
	ca, err := pki.ParseCA(caPEM)
	require.NoError(f.t, err)
	block, _ := pem.Decode(keyPEM)
	caKey, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	require.NoError(f.t, err)
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(f.t, err)
	c := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "oscar"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
		URIs: []*url.URL{{Scheme: "berth", Host: "fleet", Path: "/operator/oscar"}}, BasicConstraintsValid: true,
	}
	change(c)
	der, err := x509.CreateCertificate(rand.Reader, c, ca, key.Public(), caKey)
	require.NoError(f.t, err)
	cert, err := x509.ParseCertificate(der)
	require.NoError(f.t, err)
	return &pki.Credential{Cert: cert, CA: ca, Key: key}
}

// A certificate that is not right in every way gets no connection.
func TestCertificates(t *testing.T) {
	t.Parallel()
	f := begun(t)
	uri := func(text string) *url.URL {
		u, err := url.Parse(text)
		require.NoError(t, err)
		return u
	}
	good := f.with(f.crafted(func(*x509.Certificate) {}))
	good.must("GET", "/v1/tokens", nil, nil)
	for name, change := range map[string]func(*x509.Certificate){
		"expired":           func(c *x509.Certificate) { c.NotAfter = time.Now().Add(-time.Minute) },
		"not good yet":      func(c *x509.Certificate) { c.NotBefore = time.Now().Add(time.Minute) },
		"no identity":       func(c *x509.Certificate) { c.URIs = nil },
		"two identities":    func(c *x509.Certificate) { c.URIs = append(c.URIs, uri("berth://fleet/user/alice")) },
		"another scheme":    func(c *x509.Certificate) { c.URIs[0] = uri("https://fleet/operator/oscar") },
		"another fleet":     func(c *x509.Certificate) { c.URIs[0] = uri("berth://other/operator/oscar") },
		"a query":           func(c *x509.Certificate) { c.URIs[0] = uri("berth://fleet/operator/oscar?x") },
		"an unknown role":   func(c *x509.Certificate) { c.URIs[0] = uri("berth://fleet/root/oscar") },
		"a longer path":     func(c *x509.Certificate) { c.URIs[0] = uri("berth://fleet/operator/oscar/x") },
		"an escaped path":   func(c *x509.Certificate) { c.URIs[0] = uri("berth://fleet/operator/%6fscar") },
		"another name":      func(c *x509.Certificate) { c.Subject.CommonName = "bob" },
		"for listening":     func(c *x509.Certificate) { c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth} },
		"an authority":      func(c *x509.Certificate) { c.IsCA, c.KeyUsage = true, x509.KeyUsageCertSign },
		"agent, no DNSname": func(c *x509.Certificate) { c.URIs[0] = uri("berth://fleet/agent/oscar") },
		"server as a user's": func(c *x509.Certificate) {
			c.URIs[0], c.DNSNames = uri("berth://fleet/server/oscar"), []string{pki.ServerDNS}
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := f.with(f.crafted(change))
			require.Error(t, c.ask("GET", "/v1/self", nil).err)
			require.Error(t, c.ask("POST", "/v1/join", "{}").err)
			require.Error(t, c.ask("GET", "/healthz", nil).err)
		})
	}
	t.Run("another authority", func(t *testing.T) {
		other, err := pki.NewAuthority(pki.AuthorityOptions{})
		require.NoError(t, err)
		for _, who := range []pki.Identity{alice, oscar, nodeN1, self1} {
			c, err := other.Issue(pki.Grant{Identity: who})
			require.NoError(t, err)
			require.Error(t, f.with(c).ask("GET", "/v1/self", nil).err)
			// That it says the same authority is beside it changes nothing.
			c.CA = f.ca()
			require.Error(t, f.with(c).ask("GET", "/v1/self", nil).err)
		}
	})
	t.Run("signed by a user", func(t *testing.T) {
		mine, err := f.authority.Issue(pki.Grant{Identity: alice})
		require.NoError(t, err)
		template := *good.http.Transport.(*http.Transport).TLSClientConfig.Certificates[0].Leaf
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		require.NoError(t, err)
		der, err := x509.CreateCertificate(rand.Reader, &template, mine.Cert, key.Public(), mine.Key)
		require.NoError(t, err)
		cert, err := x509.ParseCertificate(der)
		require.NoError(t, err)
		require.Error(t, f.with(&pki.Credential{Cert: cert, CA: mine.Cert, Key: key}).ask("GET", "/v1/self", nil).err)
	})
}

// A token is good for who and as long as it was made for, and in one way.
func TestTokens(t *testing.T) {
	t.Parallel()
	f := begun(t)
	op := f.as(oscar)
	k := f.token(api.TokenRequest{Role: api.RoleUser, Name: "alice", Expires: time.Now().Add(time.Hour)})
	var me api.Self
	f.bearing(k.Token).must("GET", "/v1/self", nil, &me)
	require.Equal(t, api.Self{Role: api.RoleUser, Name: "alice"}, me)

	join := f.joinToken(api.RoleAgent)
	unknown, _, err := pki.NewBearer()
	require.NoError(t, err)
	old, hash, err := pki.NewBearer()
	require.NoError(t, err)
	f.put(&state.Token{TokenInfo: api.TokenInfo{
		ID: tokenID(hash), Role: api.RoleOperator, Name: "old", Expires: time.Now().Add(-time.Second),
	}, Hash: hash[:]})
	// Another hash below the same ID: the ID is a part of the hash alone.
	forged, hash, err := pki.NewBearer()
	require.NoError(t, err)
	f.put(&state.Token{TokenInfo: api.TokenInfo{ID: tokenID(hash), Role: api.RoleOperator, Name: "x"}, Hash: make([]byte, 32)})
	removed := f.token(api.TokenRequest{Role: api.RoleOperator, Name: "gone"})
	f.bearing(removed.Token).must("GET", "/v1/tokens", nil, nil)
	op.must("DELETE", "/v1/tokens/"+removed.ID, nil, nil)

	for name, text := range map[string]string{
		"unknown": unknown, "expired": old, "another hash": forged, "removed": removed.Token, "of a join": join.Token,
		"its ID": k.ID, "cut": k.Token[:len(k.Token)-1], "longer": k.Token + "A", "none": " ", "its prefix": "berth_",
		"upper case": strings.ToUpper(k.Token), "twice": k.Token + " " + k.Token, "huge": "berth_" + strings.Repeat("A", 30_000),
	} {
		e := f.bearing(text).refused(http.StatusUnauthorized, "GET", "/v1/self", nil)
		require.Equal(t, errUnauthorized.Message, e.Message, "%s: all are refused in the same words", name)
	}
	for _, scheme := range []string{"Basic ", "bearer", "Bearer\t", ""} {
		c := f.with(nil)
		c.headers = map[string]string{"Authorization": scheme + k.Token}
		c.refused(http.StatusUnauthorized, "GET", "/v1/self", nil)
	}
	e := f.bearing(k.Token).refused(http.StatusForbidden, "GET", "/v1/tokens", nil)
	require.NotContains(t, e.Message, k.Token)

	list := op.ask("GET", "/v1/tokens", nil)
	require.NotContains(t, string(list.body), k.Token)
	require.NotContains(t, string(list.body), hash.String(), "hashes are not shown")

	for _, bad := range []string{
		`{"role":"agent","name":"n"}`, `{"role":"server","name":"n"}`, `{"role":"","name":"n"}`, `{"role":"user"}`,
		`{"role":"user","name":"a/b"}`, `{"role":"user","name":"a\r\nX: y"}`, `{"role":"user","name":".."}`,
		`{"role":"user","name":"` + strings.Repeat("a", 65) + `"}`, `{"role":"user","name":"a","expires":"2001-01-01T00:00:00Z"}`,
	} {
		op.refused(http.StatusBadRequest, "POST", "/v1/tokens", bad)
	}
	for _, bad := range []string{`{"role":"user"}`, `{"role":"operator"}`, `{}`, `{"role":"agent","expires":"2001-01-01T00:00:00Z"}`} {
		op.refused(http.StatusBadRequest, "POST", "/v1/join-tokens", bad)
	}
	made := op.ask("POST", "/v1/tokens", `{"role":"user","name":"carl"}`)
	require.Equal(t, "no-store", made.header.Get("Cache-Control"))
}

// request is a signing request of somebody, and what is sent to join.
func (f *fleet) request(who pki.Identity) api.JoinRequest {
	csr, _, err := pki.NewRequest(who)
	require.NoError(f.t, err)
	return api.JoinRequest{Name: who.Name, CSR: string(csr)}
}

// certified reads the certificate of an answer.
func (f *fleet) certified(a api.JoinResponse) (pki.Identity, *x509.Certificate) {
	f.t.Helper()
	block, _ := pem.Decode([]byte(a.Certificate))
	cert, err := x509.ParseCertificate(block.Bytes)
	require.NoError(f.t, err)
	who, err := pki.IdentityOf(cert)
	require.NoError(f.t, err)
	return who, cert
}

// A join token lets a new machine of its kind in, and nobody else.
func TestJoin(t *testing.T) {
	t.Parallel()
	f := begun(t)
	op := f.as(oscar)
	agents, servers := f.joinToken(api.RoleAgent), f.joinToken(api.RoleServer)
	var a api.JoinResponse
	f.bearing(agents.Token).must("POST", "/v1/join", f.request(pki.Identity{Role: pki.Agent, Name: "n7"}), &a)
	who, _ := f.certified(a)
	require.Equal(t, pki.Identity{Role: pki.Agent, Name: "n7"}, who)
	require.Empty(t, a.CAKey, "an agent gets no key")

	// What the request for the certificate says does not count, only its key.
	in := f.request(pki.Identity{Role: pki.Operator, Name: "mallory"})
	in.Name = "n8"
	f.bearing(agents.Token).must("POST", "/v1/join", in, &a)
	who, _ = f.certified(a)
	require.Equal(t, pki.Identity{Role: pki.Agent, Name: "n8"}, who)

	f.agent("n1")
	f.bearing(agents.Token).refused(http.StatusConflict, "POST", "/v1/join", f.request(nodeN1))
	f.bearing(servers.Token).refused(http.StatusConflict, "POST", "/v1/join", f.request(self1))
	got := f.bearing(servers.Token).ask("POST", "/v1/join", f.request(pki.Identity{Role: pki.Server, Name: "s9"}))
	require.Equal(t, 200, got.status)
	require.Equal(t, "no-store", got.header.Get("Cache-Control"))
	require.Contains(t, string(got.body), "caKey")

	for _, bad := range []func(*api.JoinRequest){
		func(r *api.JoinRequest) { r.Name = "" },
		func(r *api.JoinRequest) { r.Name = "../n1" },
		func(r *api.JoinRequest) { r.CSR = "" },
		func(r *api.JoinRequest) { r.CSR = strings.ReplaceAll(r.CSR, "REQUEST", "") },
		func(r *api.JoinRequest) { r.CSR += r.CSR },
		func(r *api.JoinRequest) { r.CSR = strings.Repeat("A", 100_000) },
		func(r *api.JoinRequest) { r.Hosts = []string{pki.ServerDNS} },
		func(r *api.JoinRequest) { r.Hosts = []string{"*.example.com"} },
		func(r *api.JoinRequest) { r.Hosts = make([]string, 1000) },
	} {
		in := f.request(pki.Identity{Role: pki.Agent, Name: "n9"})
		bad(&in)
		f.bearing(agents.Token).refused(http.StatusBadRequest, "POST", "/v1/join", in)
	}

	// Tokens that are not good, or not of this fleet.
	n9 := f.request(pki.Identity{Role: pki.Agent, Name: "n9"})
	token, err := pki.NewToken(pki.Agent, f.ca())
	require.NoError(t, err)
	old, err := pki.NewToken(pki.Agent, f.ca())
	require.NoError(t, err)
	hash := old.Hash()
	f.put(&state.Token{TokenInfo: api.TokenInfo{
		ID: tokenID(hash), Role: api.RoleAgent, Expires: time.Now().Add(-time.Second),
	}, Hash: hash[:], Join: true})
	user := f.token(api.TokenRequest{Role: api.RoleOperator, Name: "carl"})
	op.must("DELETE", "/v1/tokens/"+agents.ID, nil, nil)
	kind := strings.Replace(servers.Token, ".server.", ".agent.", 1) // its kind is a part of its hash
	for _, text := range []string{token.Text(), old.Text(), user.Token, agents.Token, kind, "", "berth1.agent", "x"} {
		f.bearing(text).refused(http.StatusUnauthorized, "POST", "/v1/join", n9)
	}
}

// A holder of a certificate gets the next one: for the same name, and for no longer.
func TestRenewal(t *testing.T) {
	t.Parallel()
	f := begun(t)
	f.agent("n1")
	for _, who := range []pki.Identity{alice, oscar, nodeN1, self1} {
		c, err := f.authority.Issue(pki.Grant{Identity: who, Lifetime: time.Hour})
		require.NoError(t, err)
		in := f.request(pki.Identity{Role: pki.Operator, Name: "mallory"})
		var a api.JoinResponse
		f.with(c).must("POST", "/v1/join", in, &a)
		got, cert := f.certified(a)
		require.Equal(t, who, got, "whatever the request says")
		require.Equal(t, who.Role == pki.Server, a.CAKey != "")
		require.WithinDuration(t, time.Now().Add(time.Hour), cert.NotAfter, 5*time.Minute)
	}
	f.as(oscar).must("DELETE", "/v1/nodes/n1", nil, nil)
	f.as(nodeN1).refused(http.StatusForbidden, "POST", "/v1/join", f.request(nodeN1))
	// With a token, the machine may come back.
	var a api.JoinResponse
	f.bearing(f.joinToken(api.RoleAgent).Token).must("POST", "/v1/join", f.request(nodeN1), &a)
}

// A browser that is on the page of another site does not act for its user.
func TestOtherSites(t *testing.T) {
	t.Parallel()
	f := begun(t)
	op := f.as(oscar)
	for _, headers := range []map[string]string{
		{"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"}, {"Origin": "https://evil.example"}, {"Origin": "null"},
	} {
		op.headers = headers
		op.refused(http.StatusForbidden, "POST", "/v1/jobs", aJob)
		op.refused(http.StatusForbidden, "DELETE", "/v1/nodes/n1", nil)
	}
	for _, headers := range []map[string]string{{"Sec-Fetch-Site": "same-origin"}, {"Origin": "https://" + op.address}} {
		op.headers = headers
		op.must("POST", "/v1/jobs", aJob, nil)
	}
	got := op.ask("GET", "/v1/tokens", nil)
	require.Empty(t, got.header.Get("Access-Control-Allow-Origin"))
}

// FuzzCredential: what is read of a header is one credential, written in one way, or none.
func FuzzCredential(f *testing.F) {
	hash := strings.Repeat("0a", 32)
	for _, text := range []string{"", " ", "bearer " + hash, "join " + hash, "bearer " + strings.ToUpper(hash), "certificate ", "certificate MAA=", "x y"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := parseCredential(text, nil)
		if err != nil {
			require.Nil(t, c)
			return
		}
		require.Equal(t, text, c.String())
	})
}
