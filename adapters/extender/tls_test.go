package extender_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/extender"
	"github.com/berth-project/berth/model"
)

// secureServer agrees to every bind and remembers the client's certificate.
type secureServer struct {
	*httptest.Server
	mu      sync.Mutex
	clients []string // common names, empty for none
}

func newSecureServer(t *testing.T) *secureServer {
	s := &secureServer{}
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := ""
		if len(r.TLS.PeerCertificates) > 0 {
			name = r.TLS.PeerCertificates[0].Subject.CommonName
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.clients = append(s.clients, name)
		fmt.Fprint(w, "{}")
	}))
	s.TLS = &tls.Config{ClientAuth: tls.RequestClientCert}
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	t.Cleanup(s.Close)
	return s
}

func (s *secureServer) ca() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
}

// clientCert makes a certificate of the name and its key.
func clientCert(t *testing.T, name string) (cert, key []byte) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Unix(0, 0), NotAfter: time.Unix(1<<33, 0), BasicConstraintsValid: true, IsCA: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	require.NoError(t, err)
	secret, err := x509.MarshalECPrivateKey(private)
	require.NoError(t, err)
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: secret})
}

func TestTLS(t *testing.T) {
	s := newSecureServer(t)
	other, _ := clientCert(t, "somebody else")
	dir := t.TempDir()
	file := func(name string, data []byte) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, data, 0o600))
		return path
	}
	cert, key := clientCert(t, "scheduler")
	for _, test := range []struct {
		name  string
		https bool
		tls   *extender.TLSConfig
		err   string // empty: it works
		who   string // what the server sees of the client
	}{
		{name: "the system's roots do not know the server", err: "certificate signed by unknown authority"},
		{name: "insecure by EnableHTTPS without a CA", https: true},
		{name: "insecure", tls: &extender.TLSConfig{Insecure: true}},
		{name: "its CA", tls: &extender.TLSConfig{CAData: s.ca()}},
		{name: "its CA, and EnableHTTPS", https: true, tls: &extender.TLSConfig{CAData: s.ca()}},
		{name: "its CA from a file", tls: &extender.TLSConfig{CAFile: file("ca", s.ca())}},
		{name: "data before files", tls: &extender.TLSConfig{CAData: s.ca(), CAFile: file("other", other)}},
		{name: "another CA", tls: &extender.TLSConfig{CAData: other}, err: "certificate signed by unknown authority"},
		{name: "another CA, and EnableHTTPS", https: true, tls: &extender.TLSConfig{CAData: other}, err: "certificate signed by unknown authority"},
		{name: "another name", tls: &extender.TLSConfig{CAData: s.ca(), ServerName: "elsewhere.test"}, err: "elsewhere.test"},
		{name: "a name that it has", tls: &extender.TLSConfig{CAData: s.ca(), ServerName: "example.com"}},
		{name: "a client certificate", tls: &extender.TLSConfig{CAData: s.ca(), CertData: cert, KeyData: key}, who: "scheduler"},
		{name: "a client certificate from files", tls: &extender.TLSConfig{CAData: s.ca(), CertFile: file("c", cert), KeyFile: file("k", key)}, who: "scheduler"},
	} {
		t.Run(test.name, func(t *testing.T) {
			x := newExtender(t, s.URL, func(c *extender.Config) { c.EnableHTTPS, c.TLS = test.https, test.tls })
			err := x.Bind(ctx, waiting.Workload, model.Binding{Node: "n1"})
			if test.err != "" {
				require.ErrorContains(t, err, test.err)
				return
			}
			require.NoError(t, err)
			require.Equal(t, test.who, s.clients[len(s.clients)-1])
		})
	}
}

// As in kube-scheduler HTTP/2 is spoken where the server can.
func TestHTTP2(t *testing.T) {
	var major int
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		major = r.ProtoMajor
		fmt.Fprint(w, "{}")
	}))
	s.EnableHTTP2 = true
	s.StartTLS()
	defer s.Close()
	x := newExtender(t, s.URL, func(c *extender.Config) { c.EnableHTTPS = true })
	require.NoError(t, x.Bind(ctx, waiting.Workload, model.Binding{Node: "n1"}))
	require.Equal(t, 2, major)
}

// A client certificate that is renewed is used for the next connection.
func TestClientCertificateIsRenewed(t *testing.T) {
	s := newSecureServer(t)
	dir := t.TempDir()
	certFile, keyFile := filepath.Join(dir, "cert"), filepath.Join(dir, "key")
	write := func(name string) {
		cert, key := clientCert(t, name)
		require.NoError(t, os.WriteFile(certFile, cert, 0o600))
		require.NoError(t, os.WriteFile(keyFile, key, 0o600))
	}
	write("first")
	x := newExtender(t, s.URL, func(c *extender.Config) {
		c.TLS = &extender.TLSConfig{CAData: s.ca(), CertFile: certFile, KeyFile: keyFile}
	})
	require.NoError(t, x.Bind(ctx, waiting.Workload, model.Binding{Node: "n1"}))
	write("second")
	x.Close()
	require.NoError(t, x.Bind(ctx, waiting.Workload, model.Binding{Node: "n1"}))
	require.Equal(t, []string{"first", "second"}, s.clients)
	require.NoError(t, os.Remove(certFile))
	x.Close()
	require.ErrorContains(t, x.Bind(ctx, waiting.Workload, model.Binding{Node: "n1"}), "TLS.CertFile: open")
}

func TestTLSFilesThatAreNone(t *testing.T) {
	cert, _ := clientCert(t, "x")
	_, key := clientCert(t, "y")
	for want, config := range map[string]*extender.TLSConfig{
		`TLS.CAFile: open /nowhere`:                 {CAFile: "/nowhere"},
		`TLS: unable to load root certificates`:     {CAData: []byte("nonsense")},
		`TLS.CertFile: open /nowhere`:               {CertFile: "/nowhere", KeyData: key},
		`TLS.KeyFile: open /nowhere`:                {CertData: cert, KeyFile: "/nowhere"},
		`TLS: client certificate: tls: private key`: {CertData: cert, KeyData: key},
	} {
		_, err := extender.New(extender.Config{URLPrefix: "https://h", TLS: config})
		require.ErrorContains(t, err, want)
		require.ErrorContains(t, err, `extender "https://h": `)
	}
}
