package controlplane

import (
	"crypto/rand"
	"crypto/rsa"
	"errors"
	"os"

	"k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/keyutil"
)

// writeKeys makes what the API server's flags want files for: the key that service
// account tokens are signed with, and the authorities for certificates of clients
// and of proxies. Nobody has such a certificate, but a scheduler that delegates
// authentication wants the API server to say which authorities there would be.
func (c *ControlPlane) writeKeys() error {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return err
	}
	pem, err := keyutil.MarshalPrivateKeyToPEM(key)
	if err != nil {
		return err
	}
	return errors.Join(
		os.WriteFile(c.file("service-account.key"), pem, 0o600),
		c.writeAuthority("client-ca"),
		c.writeAuthority("proxy-ca"),
	)
}

// writeAuthority writes a certificate whose key nobody keeps.
func (c *ControlPlane) writeAuthority(name string) error {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return err
	}
	authority, err := cert.NewSelfSignedCACert(cert.Config{CommonName: name}, key)
	if err != nil {
		return err
	}
	pem, err := cert.EncodeCertificates(authority)
	if err != nil {
		return err
	}
	return os.WriteFile(c.file(name+".crt"), pem, 0o600)
}
