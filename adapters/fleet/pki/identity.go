package pki

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"math/big"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Role says what somebody is to the fleet.
type Role string

// The roles.
const (
	Server   Role = "server"   // may take part in the replication, and sign
	Agent    Role = "agent"    // speaks for the node of its name
	User     Role = "user"     // has jobs
	Operator Role = "operator" // may do everything that a person may
)

// The DNS names in certificates of servers and of agents, whatever their
// addresses.
const (
	ServerDNS = "server.berth"
	AgentDNS  = "agent.berth"
)

// Identity is who somebody is. For an agent, Name is its node's.
type Identity struct {
	Role Role   // what it may do
	Name string // of the server, node or user
}

// ErrNoIdentity is in the errors of connections and certificates that do not say
// who they speak for.
var ErrNoIdentity = errors.New("no identity of the fleet")

var nameForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$`)

// Validate says what is wrong with an identity: an unknown role, or a name that
// is not 1 to 64 letters, digits, or any of ._@- after the first.
func (i Identity) Validate() error {
	var errs []error
	if _, ok := roles[i.Role]; !ok {
		errs = append(errs, fmt.Errorf("role %q is none of server, agent, user, operator", i.Role))
	}
	if !nameForm.MatchString(i.Name) {
		errs = append(errs, fmt.Errorf("name %.80q must be 1 to 64 letters, digits, or any of ._@- after the first", i.Name))
	}
	return errors.Join(errs...)
}

// String is "role/name".
func (i Identity) String() string { return string(i.Role) + "/" + i.Name }

func (i Identity) uri() *url.URL {
	return &url.URL{Scheme: "berth", Host: "fleet", Path: "/" + i.String()}
}

// roles says what a certificate of each role is good for.
var roles = map[Role]struct {
	dns   string // its fixed DNS name
	usage []x509.ExtKeyUsage
}{
	Server:   {ServerDNS, []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}},
	Agent:    {AgentDNS, []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}},
	User:     {"", []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}},
	Operator: {"", []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}},
}

// IdentityOf reads whom a certificate speaks for. It does not check who signed
// it: that is done before, by TLS. The errors are ErrNoIdentity.
func IdentityOf(cert *x509.Certificate) (Identity, error) {
	refuse := func(why string) (Identity, error) {
		return Identity{}, fmt.Errorf("certificate of %.80q: %s: %w", cert.Subject.CommonName, why, ErrNoIdentity)
	}
	if cert.IsCA {
		return refuse("it is an authority's")
	}
	if len(cert.URIs) != 1 {
		return refuse(fmt.Sprintf("it has %d URIs, not one", len(cert.URIs)))
	}
	role, name, _ := strings.Cut(strings.TrimPrefix(cert.URIs[0].Path, "/"), "/")
	id := Identity{Role: Role(role), Name: name}
	if err := id.Validate(); err != nil {
		return refuse(err.Error())
	}
	if cert.URIs[0].String() != id.uri().String() {
		return refuse("its URI is not berth://fleet/role/name")
	}
	if cert.Subject.CommonName != id.Name {
		return refuse("its common name is not the name in its URI")
	}
	r := roles[id.Role]
	if r.dns != "" && !slices.Contains(cert.DNSNames, r.dns) {
		return refuse("it lacks the DNS name " + r.dns)
	}
	for _, u := range r.usage {
		if !slices.Contains(cert.ExtKeyUsage, u) {
			return refuse("its key usage does not fit its role")
		}
	}
	return id, nil
}

// PeerIdentity is who is at the other end of a connection whose handshake is
// done. Without a verified certificate the error is ErrNoIdentity.
func PeerIdentity(state tls.ConnectionState) (Identity, error) {
	if len(state.VerifiedChains) == 0 {
		return Identity{}, fmt.Errorf("the other side showed no certificate: %w", ErrNoIdentity)
	}
	return IdentityOf(state.VerifiedChains[0][0])
}

// Serial is a certificate's serial number in hexadecimal, as people know it.
func Serial(cert *x509.Certificate) string { return cert.SerialNumber.Text(16) }

// ParseSerial reads a serial number in any form that tools print it in: in upper or
// lower case, with colons, with zeros before it.
func ParseSerial(text string) (string, error) {
	digits := strings.ReplaceAll(text, ":", "")
	n, ok := new(big.Int).SetString(digits, 16)
	if !ok || n.Sign() <= 0 || len(digits) > maxSerial || strings.Trim(digits, "0123456789abcdefABCDEF") != "" {
		return "", fmt.Errorf("%.80q is no serial number in hexadecimal", text)
	}
	return n.Text(16), nil
}

// maxSerial is more digits than a serial number has.
const maxSerial = 64

// ParseIdentity reads what [Identity.String] writes.
func ParseIdentity(text string) (Identity, error) {
	role, name, _ := strings.Cut(text, "/")
	i := Identity{Role: Role(role), Name: name}
	return i, i.Validate()
}

// Made is when a certificate was made, to the second below.
func Made(cert *x509.Certificate) time.Time { return cert.NotBefore.Add(skew) }
