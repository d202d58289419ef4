package pki

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"math/big"
	"path/filepath"
	"time"
)

// The names of the authority's files.
const (
	CAFile    = "ca.pem"
	CAKeyFile = "ca-key.pem"
)

// Default lifetimes of certificates.
const (
	DefaultCALifetime = 10 * 365 * 24 * time.Hour
	DefaultLifetime   = 365 * 24 * time.Hour
)

// skew is how far a certificate's validity reaches back, for machines whose
// clocks are slow.
const skew = 10 * time.Minute

// AuthorityOptions are what a new authority may differ in.
type AuthorityOptions struct {
	// Name is the common name of its certificate. Default: "Berth".
	Name string
	// Lifetime of its certificate. Default: DefaultCALifetime.
	Lifetime time.Duration
	// At is when it begins. Default: now.
	At time.Time
}

// Authority signs the certificates of one fleet. It may be used by many
// goroutines.
type Authority struct {
	cert *x509.Certificate
	key  crypto.Signer
}

// NewAuthority makes an authority with a new key (ECDSA P-256).
func NewAuthority(o AuthorityOptions) (*Authority, error) {
	if o.Name == "" {
		o.Name = "Berth"
	}
	if o.Lifetime <= 0 {
		o.Lifetime = DefaultCALifetime
	}
	if o.At.IsZero() {
		o.At = time.Now()
	}
	key, err := newKey()
	if err != nil {
		return nil, err
	}
	serial, err := newSerial()
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber:          serial,
		Subject:               pkix.Name{CommonName: o.Name},
		NotBefore:             o.At.Add(-skew),
		NotAfter:              o.At.Add(o.Lifetime),
		KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageCRLSign,
		BasicConstraintsValid: true,
		IsCA:                  true,
		MaxPathLenZero:        true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, fmt.Errorf("make the authority's certificate: %w", err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("make the authority's certificate: %w", err)
	}
	return &Authority{cert: cert, key: key}, nil
}

// ParseAuthority reads what [Authority.PEM] wrote.
func ParseAuthority(certPEM, keyPEM []byte) (*Authority, error) {
	cert, err := ParseCA(certPEM)
	if err != nil {
		return nil, err
	}
	key, err := parseKey(keyPEM)
	if err != nil {
		return nil, fmt.Errorf("the authority's key: %w", err)
	}
	if !publicEqual(cert.PublicKey, key.Public()) {
		return nil, errors.New("the authority's key does not belong to its certificate")
	}
	return &Authority{cert: cert, key: key}, nil
}

// LoadAuthority reads ca.pem and ca-key.pem of a folder.
func LoadAuthority(dir string) (*Authority, error) {
	certPEM, err := readLimited(filepath.Join(dir, CAFile))
	if err != nil {
		return nil, err
	}
	keyPEM, err := ReadSecret(filepath.Join(dir, CAKeyFile))
	if err != nil {
		return nil, err
	}
	a, err := ParseAuthority(certPEM, keyPEM)
	if err != nil {
		return nil, fmt.Errorf("authority in %s: %w", dir, err)
	}
	return a, nil
}

// CAPEM is the authority's certificate, as it stands in ca.pem.
func (a *Authority) CAPEM() []byte { return encodeCert(a.cert) }

// PEM is the certificate and the key. The key is the fleet's greatest secret.
func (a *Authority) PEM() (certPEM, keyPEM []byte, err error) {
	keyPEM, err = encodeKey(a.key)
	return a.CAPEM(), keyPEM, err
}

// Save writes ca.pem and ca-key.pem into a folder. Files that are there stay
// (fs.ErrExist), unless replace is set.
func (a *Authority) Save(dir string, replace bool) error {
	certPEM, keyPEM, err := a.PEM()
	if err != nil {
		return err
	}
	// The key first: a certificate without its key would look like an authority.
	if err := writeFile(filepath.Join(dir, CAKeyFile), keyPEM, 0o600, replace); err != nil {
		return err
	}
	return writeFile(filepath.Join(dir, CAFile), certPEM, 0o644, replace)
}

func newKey() (*ecdsa.PrivateKey, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make a key: %w", err)
	}
	return key, nil
}

// newSerial draws 128 random bits.
func newSerial() (*big.Int, error) {
	n, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 128))
	if err != nil {
		return nil, fmt.Errorf("draw a serial number: %w", err)
	}
	return n.Add(n, big.NewInt(1)), nil // zero is not allowed
}

func publicEqual(a, b crypto.PublicKey) bool {
	k, ok := a.(interface{ Equal(crypto.PublicKey) bool })
	return ok && k.Equal(b)
}
