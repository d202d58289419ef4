package pki

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"sync"

	"github.com/hashicorp/go-hclog"
)

// Files are where a program's certificates are.
type Files struct {
	// CA is the authority's certificate.
	CA string
	// Credential is the program's own. Empty: it has none, and shows none; for
	// users who bear a token.
	Credential string
}

// Keeper holds a program's certificates for its TLS connections, and reads the
// files again when they have changed: a renewal needs no restart. It looks at
// them when a connection is made, and never in between; where the new ones
// cannot be read it keeps the old. It may be used by many goroutines.
type Keeper struct {
	files Files
	log   hclog.Logger

	mu    sync.Mutex
	seen  [2]stamp // of the files as they were last read
	state *material
}

// material is what was read from the files at one time. It does not change.
type material struct {
	ca   *x509.Certificate
	pool *x509.CertPool
	own  *Credential // nil: none
}

// stamp tells one version of a file from the next: by its inode too, as two
// versions within the clock's tick may have the same size.
type stamp struct {
	info os.FileInfo // nil where there is none
	err  string
}

func stampOf(path string) stamp {
	if path == "" {
		return stamp{}
	}
	info, err := os.Stat(path)
	if err != nil {
		return stamp{err: err.Error()}
	}
	return stamp{info: info}
}

func (s stamp) same(t stamp) bool {
	if s.info == nil || t.info == nil {
		return s.info == nil && t.info == nil && s.err == t.err
	}
	return os.SameFile(s.info, t.info) && s.info.Size() == t.info.Size() && s.info.ModTime().Equal(t.info.ModTime())
}

// NewKeeper reads the files.
func NewKeeper(files Files, log hclog.Logger) (*Keeper, error) {
	k := &Keeper{files: files, log: log, seen: stampsOf(files)}
	m, err := readMaterial(files)
	if err != nil {
		return nil, err
	}
	k.state = m
	return k, nil
}

func stampsOf(f Files) [2]stamp { return [2]stamp{stampOf(f.CA), stampOf(f.Credential)} }

func readMaterial(f Files) (*material, error) {
	data, err := readLimited(f.CA)
	if err != nil {
		return nil, err
	}
	ca, err := ParseCA(data)
	if err != nil {
		return nil, fmt.Errorf("authority's certificate %s: %w", f.CA, err)
	}
	m := &material{ca: ca, pool: x509.NewCertPool()}
	m.pool.AddCert(ca)
	if f.Credential == "" {
		return m, nil
	}
	if m.own, err = LoadCredential(f.Credential); err != nil {
		return nil, err
	}
	if err := m.own.Cert.CheckSignatureFrom(ca); err != nil {
		return nil, fmt.Errorf("credential %s is not signed by the authority in %s", f.Credential, f.CA)
	}
	return m, nil
}

// current looks whether the files have changed.
func (k *Keeper) current() *material {
	k.mu.Lock()
	defer k.mu.Unlock()
	// The stamps are from before the reading: what changes meanwhile is read again.
	now := stampsOf(k.files)
	if now[0].same(k.seen[0]) && now[1].same(k.seen[1]) {
		return k.state
	}
	k.seen = now
	m, err := readMaterial(k.files)
	if err != nil {
		k.log.Warn("cannot read the changed certificates, going on with the old", "error", err)
		return k.state
	}
	k.state = m
	k.log.Info("read the changed certificates", "ca", k.files.CA, "credential", k.files.Credential)
	return m
}

// Credential is the program's own as it is now; nil where it has none.
func (k *Keeper) Credential() *Credential { return k.current().own }

// CA is the authority's certificate as it is now.
func (k *Keeper) CA() *x509.Certificate { return k.current().ca }

// Identity is who the program is; the zero Identity where it has no credential.
func (k *Keeper) Identity() Identity {
	if own := k.Credential(); own != nil {
		return own.Identity()
	}
	return Identity{}
}

// ServerTLS is for who listens, with the protocols that it speaks (ALPN). TLS 1.3
// only. A client may show no certificate: then it has to say who it is in
// another way. If it shows one it must be of this fleet, see [PeerIdentity].
// There is no resumption, so every connection is checked in full.
func (k *Keeper) ServerTLS(protocols ...string) *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS13,
		NextProtos: protocols,
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
			m := k.current()
			if m.own == nil {
				return nil, errors.New("this program has no credential to listen with")
			}
			return &tls.Config{
				MinVersion:             tls.VersionTLS13,
				NextProtos:             protocols,
				Certificates:           []tls.Certificate{*m.own.certificate()},
				ClientAuth:             tls.VerifyClientCertIfGiven,
				ClientCAs:              m.pool,
				SessionTicketsDisabled: true,
				VerifyConnection: func(s tls.ConnectionState) error {
					if len(s.PeerCertificates) == 0 {
						return nil
					}
					_, err := PeerIdentity(s)
					return err
				},
			}, nil
		},
	}
}

// ClientTLS is for who connects to want, a server or an agent; with an empty
// Name, to any of that role. The program's certificate, if it has one, is read
// anew for each connection; a changed authority needs a new call.
func (k *Keeper) ClientTLS(want Identity, protocols ...string) *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS13,
		NextProtos: protocols,
		RootCAs:    k.current().pool,
		ServerName: roles[want.Role].dns,
		GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			if own := k.Credential(); own != nil {
				return own.certificate(), nil
			}
			return &tls.Certificate{}, nil // the way to say none
		},
		VerifyConnection: func(s tls.ConnectionState) error { return expect(s, want) },
	}
}

// expect checks who is at the other end.
func expect(s tls.ConnectionState, want Identity) error {
	got, err := PeerIdentity(s)
	if err != nil {
		return err
	}
	if got.Role != want.Role || (want.Name != "" && got.Name != want.Name) {
		return &WrongPeerError{Want: want, Got: got}
	}
	return nil
}

// WrongPeerError says that somebody else than expected is at the other end of a
// connection. An empty Want.Name stands for any.
type WrongPeerError struct {
	Want, Got Identity // who was expected, and who it is
}

func (e *WrongPeerError) Error() string {
	if e.Want.Name == "" {
		return fmt.Sprintf("the other side is %s, not a %s", e.Got, e.Want.Role)
	}
	return fmt.Sprintf("the other side is %s, not %s", e.Got, e.Want)
}
