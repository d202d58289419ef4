package pki

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
)

// maxRequest is the size that a signing request may have; real ones are below 1
// KiB.
const maxRequest = 16 << 10

// maxHosts is how many names and addresses a certificate may be for.
const maxHosts = 64

// Grant is what a certificate shall say. It comes from who signs, never from who
// asks.
type Grant struct {
	Identity
	// Hosts are DNS names and IP addresses that a browser may reach it at; for
	// servers and agents. Names that end in ".berth" and wildcards are refused.
	Hosts []string
	// Lifetime. Default: DefaultLifetime. It ends with the authority's at the
	// latest.
	Lifetime time.Duration
	// At is when it begins. Default: now.
	At time.Time
}

// Issue makes a key and a certificate for it.
func (a *Authority) Issue(g Grant) (*Credential, error) {
	key, err := newKey()
	if err != nil {
		return nil, err
	}
	cert, err := a.sign(g, key.Public())
	if err != nil {
		return nil, err
	}
	return &Credential{Cert: cert, CA: a.cert, Key: key}, nil
}

// Sign makes a certificate for the key of a signing request (PEM). Nothing else
// of the request counts. The result is the certificate and the authority's, PEM.
func (a *Authority) Sign(request []byte, g Grant) ([]byte, error) {
	public, err := parseRequest(request)
	if err != nil {
		return nil, err
	}
	cert, err := a.sign(g, public)
	if err != nil {
		return nil, err
	}
	return append(encodeCert(cert), encodeCert(a.cert)...), nil
}

// parseRequest returns the key of a request after checking that who asks has its
// secret half.
func parseRequest(request []byte) (crypto.PublicKey, error) {
	if len(request) > maxRequest {
		return nil, fmt.Errorf("signing request has %d bytes, more than %d", len(request), maxRequest)
	}
	block, rest := pem.Decode(request)
	if block == nil || block.Type != "CERTIFICATE REQUEST" || len(strings.TrimSpace(string(rest))) > 0 {
		return nil, errors.New("signing request must be one PEM block CERTIFICATE REQUEST")
	}
	csr, err := x509.ParseCertificateRequest(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("signing request: %w", err)
	}
	key, ok := csr.PublicKey.(*ecdsa.PublicKey)
	if !ok || key.Curve != elliptic.P256() {
		return nil, errors.New("signing request: the key must be ECDSA P-256")
	}
	if err := csr.CheckSignature(); err != nil {
		return nil, fmt.Errorf("signing request: %w", err)
	}
	return key, nil
}

func (a *Authority) sign(g Grant, public crypto.PublicKey) (*x509.Certificate, error) {
	template, err := a.template(g)
	if err != nil {
		return nil, fmt.Errorf("certificate for %s: %w", g.Identity, err)
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, public, a.key)
	if err != nil {
		return nil, fmt.Errorf("certificate for %s: %w", g.Identity, err)
	}
	return x509.ParseCertificate(der)
}

func (a *Authority) template(g Grant) (*x509.Certificate, error) {
	if err := g.Validate(); err != nil {
		return nil, err
	}
	role := roles[g.Role]
	dns, ips, err := splitHosts(g.Hosts)
	if err != nil {
		return nil, err
	}
	if role.dns != "" {
		dns = slices.Concat([]string{role.dns}, dns)
	} else if len(g.Hosts) > 0 {
		return nil, errors.New("hosts are for servers and agents only")
	}
	at, lifetime := g.At, g.Lifetime
	if at.IsZero() {
		at = time.Now()
	}
	if lifetime <= 0 {
		lifetime = DefaultLifetime
	}
	until := at.Add(lifetime)
	if until.After(a.cert.NotAfter) {
		until = a.cert.NotAfter
	}
	serial, err := newSerial()
	if err != nil {
		return nil, err
	}
	return &x509.Certificate{
		SerialNumber:          serial,
		Subject:               pkix.Name{CommonName: g.Name},
		NotBefore:             at.Add(-skew),
		NotAfter:              until,
		KeyUsage:              x509.KeyUsageDigitalSignature,
		ExtKeyUsage:           role.usage,
		BasicConstraintsValid: true,
		DNSNames:              dns,
		IPAddresses:           ips,
		URIs:                  []*url.URL{g.uri()},
	}, nil
}

var hostForm = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?)*$`)

// splitHosts tells names from addresses, and lists all that are neither.
func splitHosts(hosts []string) (dns []string, ips []net.IP, err error) {
	if len(hosts) > maxHosts {
		return nil, nil, fmt.Errorf("%d hosts, more than %d", len(hosts), maxHosts)
	}
	var errs []error
	for _, h := range hosts {
		switch ip := net.ParseIP(h); {
		case ip != nil:
			ips = append(ips, ip)
		case len(h) > 253 || !hostForm.MatchString(h):
			errs = append(errs, fmt.Errorf("host %.80q is neither a DNS name nor an IP address", h))
		case strings.EqualFold(h, "berth") || strings.HasSuffix(strings.ToLower(h), ".berth"):
			errs = append(errs, fmt.Errorf("host %.80q: names in .berth are the fleet's own", h))
		default:
			dns = append(dns, h)
		}
	}
	return dns, ips, errors.Join(errs...)
}
