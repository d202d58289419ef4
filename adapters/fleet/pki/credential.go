package pki

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"
)

// Credential is a certificate, the authority's that signed it, and its key.
type Credential struct {
	Cert *x509.Certificate // names its holder
	CA   *x509.Certificate // of the authority that signed it
	Key  crypto.Signer     // the private key of Cert
}

// NewRequest makes a key, and the request (PEM) to have it signed.
func NewRequest(id Identity) (request []byte, key crypto.Signer, err error) {
	if err := id.Validate(); err != nil {
		return nil, nil, err
	}
	k, err := newKey()
	if err != nil {
		return nil, nil, err
	}
	der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{
		Subject: pkix.Name{CommonName: id.Name},
	}, k)
	if err != nil {
		return nil, nil, fmt.Errorf("make a signing request for %s: %w", id, err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der}), k, nil
}

// NewCredential puts the answer to a signing request (PEM: certificate and
// authority's) and the request's key together, and checks that they are one.
func NewCredential(chain []byte, key crypto.Signer) (*Credential, error) {
	certs, rest, err := decodeCerts(chain)
	if err != nil {
		return nil, err
	}
	if len(certs) != 2 || len(rest) != 0 {
		return nil, fmt.Errorf("%d certificates and %d other blocks, not a certificate and its authority's", len(certs), len(rest))
	}
	c := &Credential{Cert: certs[0], CA: certs[1], Key: key}
	if !publicEqual(c.Cert.PublicKey, key.Public()) {
		return nil, errors.New("the key does not belong to the certificate")
	}
	if err := checkCA(c.CA); err != nil {
		return nil, err
	}
	if err := c.Cert.CheckSignatureFrom(c.CA); err != nil {
		return nil, fmt.Errorf("the certificate is not signed by the authority beside it: %w", err)
	}
	if _, err := IdentityOf(c.Cert); err != nil {
		return nil, err
	}
	return c, nil
}

// ParseCredential reads what [Credential.PEM] wrote.
func ParseCredential(data []byte) (*Credential, error) {
	certs, others, err := decodeCerts(data)
	if err != nil {
		return nil, err
	}
	if len(others) != 1 {
		return nil, fmt.Errorf("%d keys, not one", len(others))
	}
	key, err := parseKey(pem.EncodeToMemory(others[0]))
	if err != nil {
		return nil, err
	}
	var chain []byte
	for _, c := range certs {
		chain = append(chain, encodeCert(c)...)
	}
	return NewCredential(chain, key)
}

// LoadCredential reads a credential's file. Others must not be able to read it.
func LoadCredential(path string) (*Credential, error) {
	data, err := ReadSecret(path)
	if err != nil {
		return nil, err
	}
	c, err := ParseCredential(data)
	if err != nil {
		return nil, fmt.Errorf("credential %s: %w", path, err)
	}
	return c, nil
}

// Identity is who the credential speaks for.
func (c *Credential) Identity() Identity {
	id, _ := IdentityOf(c.Cert) // NewCredential and Issue have checked
	return id
}

// PEM is the certificate, the authority's, and the key: a secret.
func (c *Credential) PEM() ([]byte, error) {
	key, err := encodeKey(c.Key)
	if err != nil {
		return nil, err
	}
	return slices.Concat(encodeCert(c.Cert), encodeCert(c.CA), key), nil
}

// Save writes the credential to a file of mode 0600. A file that is there stays
// (fs.ErrExist), unless replace is set.
func (c *Credential) Save(path string, replace bool) error {
	data, err := c.PEM()
	if err != nil {
		return err
	}
	return writeFile(path, data, 0o600, replace)
}

// certificate is the credential for crypto/tls. The authority's certificate is
// sent too: who joins looks at it.
func (c *Credential) certificate() *tls.Certificate {
	return &tls.Certificate{
		Certificate: [][]byte{c.Cert.Raw, c.CA.Raw},
		PrivateKey:  c.Key,
		Leaf:        c.Cert,
	}
}

// ParseCA reads an authority's certificate, PEM.
func ParseCA(data []byte) (*x509.Certificate, error) {
	certs, rest, err := decodeCerts(data)
	if err != nil {
		return nil, err
	}
	if len(certs) != 1 || len(rest) != 0 {
		return nil, errors.New("the authority's file must have one certificate and nothing else")
	}
	return certs[0], checkCA(certs[0])
}

func checkCA(c *x509.Certificate) error {
	if !c.IsCA || c.KeyUsage&x509.KeyUsageCertSign == 0 {
		return fmt.Errorf("certificate of %.80q is not an authority's", c.Subject.CommonName)
	}
	return nil
}

// decodeCerts splits PEM into certificates and other blocks. Text between blocks
// is allowed, as everywhere.
func decodeCerts(data []byte) (certs []*x509.Certificate, others []*pem.Block, err error) {
	if len(data) > maxFile {
		return nil, nil, fmt.Errorf("certificates have %d bytes, more than %d", len(data), maxFile)
	}
	for {
		var block *pem.Block
		if block, data = pem.Decode(data); block == nil {
			break
		}
		if block.Type != "CERTIFICATE" {
			others = append(others, block)
			continue
		}
		c, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, nil, err
		}
		certs = append(certs, c)
	}
	if len(certs) == 0 {
		return nil, nil, errors.New("there is no certificate")
	}
	return certs, others, nil
}

func encodeCert(c *x509.Certificate) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Raw})
}

func encodeKey(key crypto.Signer) ([]byte, error) {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("write a key: %w", err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), nil
}

// parseKey never quotes what it read in an error.
func parseKey(data []byte) (crypto.Signer, error) {
	block, _ := pem.Decode(data)
	if block == nil || block.Type != "PRIVATE KEY" {
		return nil, errors.New("there is no PEM block PRIVATE KEY")
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, errors.New("the key cannot be read")
	}
	k, ok := key.(*ecdsa.PrivateKey)
	if !ok || k.Curve != elliptic.P256() {
		return nil, errors.New("the key is not ECDSA P-256")
	}
	return k, nil
}
