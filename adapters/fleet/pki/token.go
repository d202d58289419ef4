package pki

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
)

// What is wrong with a token, for errors.Is.
var (
	ErrTokenForm = errors.New("not a token of this kind")
	// ErrPin: the server's authority is not the one that the token is of. Somebody
	// else answers at the address.
	ErrPin = errors.New("the server is not of the fleet that the token is for")
)

// Hash is a SHA-256 hash. In text it is hexadecimal.
type Hash [sha256.Size]byte

// String is the hash in hexadecimal.
func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// HashCA is the hash of an authority's certificate that stands in join tokens.
func HashCA(ca *x509.Certificate) Hash { return sha256.Sum256(ca.Raw) }

// Token lets a machine join the fleet: as a server or as an agent, by its Kind.
// Its text holds a secret.
type Token struct {
	Kind   Role // Server or Agent
	CA     Hash // of the fleet's authority
	secret [32]byte
}

const tokenPrefix = "berth1"

// NewToken makes a token for servers or for agents.
func NewToken(kind Role, ca *x509.Certificate) (Token, error) {
	if !joins(kind) {
		return Token{}, fmt.Errorf("a join token is for a server or an agent, not %q", kind)
	}
	t := Token{Kind: kind, CA: HashCA(ca)}
	if _, err := rand.Read(t.secret[:]); err != nil {
		return Token{}, fmt.Errorf("draw a secret: %w", err)
	}
	return t, nil
}

func joins(kind Role) bool { return kind == Server || kind == Agent }

// Text is the token as it is handed on: berth1.kind.secret.hash. There is no
// String method, so that a token is not printed by mistake.
func (t Token) Text() string {
	e := base64.RawURLEncoding
	return strings.Join([]string{tokenPrefix, string(t.Kind), e.EncodeToString(t.secret[:]), e.EncodeToString(t.CA[:])}, ".")
}

// Format implements fmt.Formatter: whatever the verb, the secret is left out.
func (t Token) Format(s fmt.State, _ rune) { fmt.Fprintf(s, "%s.%s.***", tokenPrefix, t.Kind) }

// ParseToken reads what Text wrote, and nothing else. Errors are ErrTokenForm and
// never quote the text.
func ParseToken(text string) (Token, error) {
	parts := strings.Split(strings.TrimSpace(text), ".")
	if len(parts) != 4 || parts[0] != tokenPrefix {
		return Token{}, fmt.Errorf("join token must be %s.kind.secret.hash: %w", tokenPrefix, ErrTokenForm)
	}
	t := Token{Kind: Role(parts[1])}
	if !joins(t.Kind) {
		return Token{}, fmt.Errorf("join token is for neither a server nor an agent: %w", ErrTokenForm)
	}
	if !decode32(t.secret[:], parts[2]) || !decode32(t.CA[:], parts[3]) {
		return Token{}, fmt.Errorf("join token is cut short or altered: %w", ErrTokenForm)
	}
	return t, nil
}

// decode32 reads base64 of 32 bytes. Strict: two texts never stand for one value.
func decode32(to []byte, text string) bool {
	if len(text) != base64.RawURLEncoding.EncodedLen(len(to)) || strings.ContainsAny(text, "\r\n") {
		return false
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(text)
	return err == nil && copy(to, b) == len(to)
}

// Hash is what servers keep of the token, and find it by.
func (t Token) Hash() Hash {
	return sha256.Sum256([]byte("berth join " + string(t.Kind) + "\x00" + string(t.secret[:])))
}

// TLS is for the joining machine's connection to a server that it does not know
// yet. The server must be one of the fleet whose authority has the token's hash;
// else the handshake fails with ErrPin, before anything is sent.
func (t Token) TLS(protocols ...string) *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS13,
		NextProtos: protocols,
		ServerName: ServerDNS,
		// The ordinary check needs an authority to start from, and the hash tells it
		// apart only once the chain is here. VerifyConnection does the whole check.
		InsecureSkipVerify: true,
		VerifyConnection: func(s tls.ConnectionState) error {
			_, err := t.PinnedCA(s)
			return err
		},
	}
}

// PinnedCA is the authority's certificate of a connection made with TLS, checked
// in full. The joining machine keeps it.
func (t Token) PinnedCA(s tls.ConnectionState) (*x509.Certificate, error) {
	if len(s.PeerCertificates) == 0 {
		return nil, ErrPin
	}
	for _, ca := range s.PeerCertificates[1:] {
		if h := HashCA(ca); subtle.ConstantTimeCompare(h[:], t.CA[:]) != 1 {
			continue
		}
		pool := x509.NewCertPool()
		pool.AddCert(ca)
		leaf := s.PeerCertificates[0]
		if _, err := leaf.Verify(x509.VerifyOptions{Roots: pool, DNSName: ServerDNS}); err != nil {
			return nil, err
		}
		id, err := IdentityOf(leaf)
		if err != nil {
			return nil, err
		}
		if id.Role != Server {
			return nil, &WrongPeerError{Want: Identity{Role: Server}, Got: id}
		}
		return ca, nil
	}
	return nil, ErrPin
}

const bearerPrefix = "berth_"

// NewBearer makes a token that a user shows instead of a certificate, and the
// hash that servers keep of it.
func NewBearer() (text string, hash Hash, err error) {
	var secret [32]byte
	if _, err := rand.Read(secret[:]); err != nil {
		return "", Hash{}, fmt.Errorf("draw a secret: %w", err)
	}
	text = bearerPrefix + base64.RawURLEncoding.EncodeToString(secret[:])
	return text, hashBearer(secret), nil
}

// HashBearer is the hash that a user's token is found by. The error is
// ErrTokenForm and never quotes the text.
func HashBearer(text string) (Hash, error) {
	var secret [32]byte
	body, ok := strings.CutPrefix(text, bearerPrefix)
	if !ok || !decode32(secret[:], body) {
		return Hash{}, fmt.Errorf("bearer token must be %s and 43 letters: %w", bearerPrefix, ErrTokenForm)
	}
	return hashBearer(secret), nil
}

func hashBearer(secret [32]byte) Hash {
	return sha256.Sum256([]byte("berth bearer\x00" + string(secret[:])))
}
