package pki

import (
	"context"
	"crypto/x509"
	"fmt"
	"time"
)

// NeedsRenewal reports whether less than a third of a certificate's life is left.
func NeedsRenewal(cert *x509.Certificate, now time.Time) bool {
	life := cert.NotAfter.Sub(cert.NotBefore)
	return cert.NotAfter.Sub(now) < life/3
}

// Lifetime is how long a certificate was good when it was made.
func Lifetime(cert *x509.Certificate) time.Duration { return cert.NotAfter.Sub(cert.NotBefore) - skew }

// Renew replaces the credential in a file by one with a new key and the same
// identity. The function sign sends the signing request to a server, with the
// present credential, and returns its answer (see [Authority.Sign]). An answer
// for somebody else, or of another authority, is refused, and the file stays. A
// credential that has expired cannot be renewed: the machine joins again.
func Renew(ctx context.Context, path string, sign func(ctx context.Context, request []byte) ([]byte, error)) error {
	old, err := LoadCredential(path)
	if err != nil {
		return err
	}
	request, key, err := NewRequest(old.Identity())
	if err != nil {
		return err
	}
	chain, err := sign(ctx, request)
	if err != nil {
		return fmt.Errorf("renew %s: %w", path, err)
	}
	renewed, err := NewCredential(chain, key)
	if err != nil {
		return fmt.Errorf("renew %s: the answer: %w", path, err)
	}
	if got, want := renewed.Identity(), old.Identity(); got != want {
		return fmt.Errorf("renew %s: the answer is for %s, not for %s", path, got, want)
	}
	if !renewed.CA.Equal(old.CA) {
		return fmt.Errorf("renew %s: the answer is of another authority", path)
	}
	return renewed.Save(path, true)
}
