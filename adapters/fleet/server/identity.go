package server

import (
	"crypto/subtle"
	"net/http"
	"strings"
	"time"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/pki"
	"github.com/berth-project/berth/adapters/fleet/state"
)

// onBehalf is the header by which a server says for whom it hands a request on.
const onBehalf = "Berth-On-Behalf-Of"

// errUnauthorized: nobody we know.
var errUnauthorized = fail(http.StatusUnauthorized, api.CodeUnauthorized,
	"show a certificate of this fleet, or a token that is good (Authorization: Bearer)")

// identify says who makes a request.
func (s *Server) identify(r *http.Request) (pki.Identity, error) {
	if r.TLS != nil && len(r.TLS.VerifiedChains) > 0 {
		who, err := pki.PeerIdentity(*r.TLS)
		if err != nil {
			return pki.Identity{}, errUnauthorized
		}
		if err := s.trust(r.TLS.VerifiedChains[0][0]); err != nil {
			return pki.Identity{}, err
		}
		if behalf := r.Header.Get(onBehalf); behalf != "" && who.Role == pki.Server {
			return parseIdentity(behalf)
		}
		return who, nil
	}
	token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !ok {
		return pki.Identity{}, errUnauthorized
	}
	return s.bearer(token)
}

// bearer says who a token is of.
func (s *Server) bearer(token string) (pki.Identity, error) {
	hash, err := pki.HashBearer(token)
	if err != nil {
		return pki.Identity{}, errUnauthorized
	}
	known := s.token(hash, false)
	if known == nil {
		return pki.Identity{}, errUnauthorized
	}
	return pki.Identity{Role: pki.Role(known.Role), Name: known.Name}, nil
}

// token finds a token that is good, to join with or to bear; nil where there is none.
func (s *Server) token(hash pki.Hash, join bool) *state.Token {
	known := s.state.View().Token(tokenID(hash))
	if known == nil || known.Join != join || subtle.ConstantTimeCompare(known.Hash, hash[:]) != 1 || expired(known.Expires) {
		return nil
	}
	return known
}

// tokenID is what people call a token.
func tokenID(hash pki.Hash) string { return hash.String()[:12] }

func expired(at time.Time) bool { return !at.IsZero() && !time.Now().Before(at) }

// parseIdentity reads "role/name".
func parseIdentity(text string) (pki.Identity, error) {
	who, err := pki.ParseIdentity(text)
	if err != nil {
		return pki.Identity{}, errUnauthorized
	}
	return who, nil
}
