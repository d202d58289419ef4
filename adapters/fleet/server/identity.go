package server

import (
	"context"
	"crypto/subtle"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/pki"
	"github.com/berth-project/berth/adapters/fleet/state"
)

// Who somebody is, is decided by the server that leads, once it has made sure that it
// still does: every token that was created, and every removal and revocation that was
// acknowledged before the request came, is in its state then. A server that does not
// lead may be behind, so it decides nothing. It hands on what it was shown.

// onBehalf is the header in which a server hands on what it was shown, see credential.
const onBehalf = "Berth-On-Behalf-Of"

// errUnauthorized: nobody we know. All that is shown in vain is refused in the same words:
// they say nothing about what there is.
var errUnauthorized = fail(http.StatusUnauthorized, api.CodeUnauthorized,
	"the token or certificate is not valid: it is incomplete, expired, removed, of another fleet, or only for joining")

// errNothingShown: somebody without a token or a certificate.
var errNothingShown = fail(http.StatusUnauthorized, api.CodeUnauthorized,
	"show a token (--token-file, BERTH_TOKEN_FILE; in the API Authorization: Bearer) or a certificate of this fleet")

// credential is what somebody shows to say who she is: a certificate, or else a token
// to bear or to join with.
type credential struct {
	cert *x509.Certificate
	hash pki.Hash
	join bool
	// via is the certificate of the server that handed it on, nil where none did.
	via *x509.Certificate
}

// shown is what a request shows. Whether it is good is another question, see who.
func shown(r *http.Request) (*credential, error) {
	if r.TLS != nil && len(r.TLS.VerifiedChains) > 0 {
		who, err := pki.PeerIdentity(*r.TLS)
		if err != nil {
			return nil, errUnauthorized
		}
		cert := r.TLS.VerifiedChains[0][0]
		if behalf := r.Header.Get(onBehalf); behalf != "" && who.Role == pki.Server {
			return parseCredential(behalf, cert)
		}
		return &credential{cert: cert}, nil
	}
	text, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !ok {
		return nil, errNothingShown
	}
	if hash, err := pki.HashBearer(text); err == nil {
		return &credential{hash: hash}, nil
	}
	if token, err := pki.ParseToken(text); err == nil {
		return &credential{hash: token.Hash(), join: true}, nil
	}
	return nil, errUnauthorized
}

// The kinds of credential in the header. Of tokens it has the hash: their secrets stay
// where they were shown.
const (
	certificateKind = "certificate"
	bearerKind      = "bearer"
	joinKind        = "join"
)

// String is the credential as the header has it.
func (c *credential) String() string {
	switch {
	case c.cert != nil:
		return certificateKind + " " + base64.StdEncoding.EncodeToString(c.cert.Raw)
	case c.join:
		return joinKind + " " + hex.EncodeToString(c.hash[:])
	}
	return bearerKind + " " + hex.EncodeToString(c.hash[:])
}

// parseCredential reads what String wrote on the server whose certificate is via.
func parseCredential(text string, via *x509.Certificate) (*credential, error) {
	c := &credential{via: via}
	kind, value, _ := strings.Cut(text, " ")
	var err error
	if kind == certificateKind {
		var der []byte
		if der, err = base64.StdEncoding.DecodeString(value); err == nil {
			c.cert, err = x509.ParseCertificate(der)
		}
	} else {
		var hash []byte
		hash, err = hex.DecodeString(value)
		copy(c.hash[:], hash)
		c.join = kind == joinKind
	}
	if err != nil || c.String() != text { // there is one way to write it
		return nil, errUnauthorized
	}
	return c, nil
}

// who says whose a credential is, by this server's state. The caller has made sure that
// the server leads, see confirm. A server that was removed speaks for nobody; whoever asked it is
// told no more than that: another server that takes itself for revoked ends.
func (s *Server) who(c *credential) (pki.Identity, error) {
	if c.via != nil && s.trust(c.via) != nil {
		return pki.Identity{}, errNoLeader
	}
	if c.cert != nil {
		who, err := pki.IdentityOf(c.cert)
		if err != nil {
			return pki.Identity{}, errUnauthorized
		}
		return who, s.trust(c.cert)
	}
	known := s.token(c)
	if known == nil || c.join {
		return pki.Identity{}, errUnauthorized
	}
	return pki.Identity{Role: pki.Role(known.Role), Name: known.Name}, nil
}

// token finds a credential's token where that is good, to join with or to bear; nil
// where there is none.
func (s *Server) token(c *credential) *state.Token {
	known := s.state.View().Token(tokenID(c.hash))
	if known == nil || known.Join != c.join || subtle.ConstantTimeCompare(known.Hash, c.hash[:]) != 1 || expired(known.Expires) {
		return nil
	}
	return known
}

// tokenID is what people call a token.
func tokenID(hash pki.Hash) string { return hash.String()[:12] }

func expired(at time.Time) bool { return !at.IsZero() && !time.Now().Before(at) }

// askLimit is how long the server that leads may take to say who somebody is.
const askLimit = 5 * time.Second

// askWho has the server that leads say whose a credential is.
func (s *Server) askWho(ctx context.Context, c *credential, leader string) (pki.Identity, error) {
	ctx, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	u := url.URL{Scheme: "https", Host: leader, Path: "/v1/self"}
	ask, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return pki.Identity{}, err
	}
	ask.Header.Set(onBehalf, c.String())
	got, err := s.proxy.servers.RoundTrip(ask)
	if err != nil {
		return pki.Identity{}, errNoLeader
	}
	defer got.Body.Close()
	body := json.NewDecoder(io.LimitReader(got.Body, maxBody))
	if got.StatusCode != http.StatusOK {
		refused := &api.Error{}
		if body.Decode(refused) != nil || refused.Message == "" {
			return pki.Identity{}, errNoLeader
		}
		refused.Status = got.StatusCode
		return pki.Identity{}, refused
	}
	var is api.Self
	if body.Decode(&is) != nil {
		return pki.Identity{}, errNoLeader
	}
	return pki.Identity{Role: pki.Role(is.Role), Name: is.Name}, nil
}
