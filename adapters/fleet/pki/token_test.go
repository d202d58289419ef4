package pki

import (
	"crypto/tls"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestJoiningMachinePinsTheAuthority(t *testing.T) {
	f, other := newFleet(t), newFleet(t)
	token, err := NewToken(Agent, f.cert)
	require.NoError(t, err)
	read, err := ParseToken(token.Text() + "\n")
	require.NoError(t, err)
	require.Equal(t, token.Hash(), read.Hash())

	_, atClient, err := connect(t, f.keeper(t, grant(Server, "s1")).ServerTLS(), read.TLS())
	require.NoError(t, err)
	ca, err := read.PinnedCA(atClient)
	require.NoError(t, err)
	require.True(t, f.cert.Equal(ca))

	_, _, err = connect(t, other.keeper(t, grant(Server, "s1")).ServerTLS(), read.TLS())
	require.ErrorIs(t, err, ErrPin)
	// The right authority's certificate is no secret: to send it along is not enough.
	c, err := other.Issue(grant(Server, "s1"))
	require.NoError(t, err)
	c.CA = f.cert
	_, _, err = connect(t, serving(c), read.TLS())
	require.ErrorContains(t, err, "unknown authority")
	agent, err := f.Issue(grant(Agent, "n1"))
	require.NoError(t, err)
	_, _, err = connect(t, serving(agent), read.TLS())
	require.ErrorContains(t, err, ServerDNS, "an agent is not a server")
}

func serving(c *Credential) *tls.Config {
	return &tls.Config{Certificates: []tls.Certificate{*c.certificate()}}
}

func TestTokensOfDifferentKindsHaveDifferentHashes(t *testing.T) {
	f := newFleet(t)
	token, err := NewToken(Agent, f.cert)
	require.NoError(t, err)
	altered, err := ParseToken(strings.Replace(token.Text(), ".agent.", ".server.", 1))
	require.NoError(t, err)
	require.NotEqual(t, token.Hash(), altered.Hash())
	_, err = NewToken(User, f.cert)
	require.Error(t, err)
}

func TestTokensAreNotPrintedByMistake(t *testing.T) {
	token, err := NewToken(Agent, newFleet(t).cert)
	require.NoError(t, err)
	secret := strings.Split(token.Text(), ".")[2]
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%x", "%d"} {
		require.NotContains(t, fmt.Sprintf(verb, token), secret)
		require.Contains(t, fmt.Sprintf(verb, struct{ T Token }{token}), "***")
	}
	_, err = ParseToken(token.Text()[:len(token.Text())-1])
	require.ErrorIs(t, err, ErrTokenForm)
	require.NotContains(t, err.Error(), secret)
}

func TestBearerTokens(t *testing.T) {
	text, hash, err := NewBearer()
	require.NoError(t, err)
	got, err := HashBearer(text)
	require.NoError(t, err)
	require.Equal(t, hash, got)
	for _, bad := range []string{"", "berth_", text[1:], text + "A", text[:len(text)-1], text[:len(text)-1] + "!", "Berth_" + text[6:]} {
		_, err := HashBearer(bad)
		require.ErrorIs(t, err, ErrTokenForm)
	}
}

func FuzzParseToken(f *testing.F) {
	ca := newFleet(f).cert
	for _, kind := range []Role{Server, Agent} {
		token, err := NewToken(kind, ca)
		require.NoError(f, err)
		f.Add(token.Text())
	}
	f.Add("berth1.agent..")
	f.Fuzz(func(t *testing.T, text string) {
		token, err := ParseToken(text)
		if err != nil {
			require.ErrorIs(t, err, ErrTokenForm)
			return
		}
		require.Equal(t, strings.TrimSpace(text), token.Text())
	})
}

func FuzzHashBearer(f *testing.F) {
	text, _, err := NewBearer()
	require.NoError(f, err)
	f.Add(text)
	f.Fuzz(func(t *testing.T, text string) {
		if _, err := HashBearer(text); err != nil {
			require.ErrorIs(t, err, ErrTokenForm)
		} else {
			require.Len(t, text, 49)
		}
	})
}

func FuzzSign(f *testing.F) {
	ca := newFleet(f)
	request, _, err := NewRequest(Identity{Agent, "n1"})
	require.NoError(f, err)
	f.Add(request)
	f.Add(ca.CAPEM())
	f.Fuzz(func(t *testing.T, request []byte) {
		chain, err := ca.Sign(request, grant(User, "u"))
		if err != nil {
			return
		}
		certs, _, err := decodeCerts(chain)
		require.NoError(t, err)
		id, err := IdentityOf(certs[0])
		require.NoError(t, err)
		require.Equal(t, Identity{User, "u"}, id)
	})
}

func FuzzParseCredential(f *testing.F) {
	ca := newFleet(f)
	c, err := ca.Issue(grant(Server, "s1"))
	require.NoError(f, err)
	text, err := c.PEM()
	require.NoError(f, err)
	f.Add(text)
	f.Fuzz(func(t *testing.T, text []byte) {
		read, err := ParseCredential(text)
		if err == nil {
			require.NoError(t, read.Identity().Validate())
		}
	})
}
