package extender

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"
)

// transport makes the HTTP transport as kube-scheduler does (pkg/scheduler/
// extender.go makeTransport, and k8s.io/client-go transport/transport.go
// TLSConfigFor, 1.37.1).
func transport(c *Config) (*http.Transport, error) {
	config, err := tlsConfig(c)
	if err != nil {
		return nil, err
	}
	return &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         (&net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		TLSHandshakeTimeout: 10 * time.Second,
		IdleConnTimeout:     90 * time.Second,
		ForceAttemptHTTP2:   true,
		TLSClientConfig:     config,
	}, nil
}

func tlsConfig(c *Config) (*tls.Config, error) {
	t := TLSConfig{}
	if c.TLS != nil {
		t = *c.TLS
	}
	if c.EnableHTTPS && !t.hasCA() {
		t.Insecure = true
	}
	out := &tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: t.Insecure, ServerName: t.ServerName}
	if t.hasCA() {
		pem, err := dataOrFile(t.CAData, t.CAFile)
		if err != nil {
			return nil, fmt.Errorf("TLS.CAFile: %w", err)
		}
		out.RootCAs = x509.NewCertPool()
		if !out.RootCAs.AppendCertsFromPEM(pem) {
			return nil, errors.New("TLS: unable to load root certificates: there is none in the PEM")
		}
	}
	if t.hasCert() {
		if _, err := t.certificate(); err != nil {
			return nil, err
		}
		out.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return t.certificate() }
	}
	return out, nil
}

// certificate is the client's. It is asked for with every new connection, so
// that files may be renewed.
func (t *TLSConfig) certificate() (*tls.Certificate, error) {
	certPEM, err := dataOrFile(t.CertData, t.CertFile)
	if err != nil {
		return nil, fmt.Errorf("TLS.CertFile: %w", err)
	}
	keyPEM, err := dataOrFile(t.KeyData, t.KeyFile)
	if err != nil {
		return nil, fmt.Errorf("TLS.KeyFile: %w", err)
	}
	cert, err := tls.X509KeyPair(certPEM, keyPEM)
	if err != nil {
		return nil, fmt.Errorf("TLS: client certificate: %w", err)
	}
	return &cert, nil
}

func dataOrFile(data []byte, file string) ([]byte, error) {
	if len(data) > 0 {
		return data, nil
	}
	return os.ReadFile(file)
}
