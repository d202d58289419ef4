package main

import (
	"crypto/tls"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"k8s.io/client-go/util/cert"
)

// A user with a client certificate shows it to the scheduler as well, however it is
// reached.
func TestClientCertificates(t *testing.T) {
	certificate, key, err := cert.GenerateSelfSignedCertKey("user", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	files := []string{filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")}
	for i, text := range [][]byte{certificate, key} {
		if err := os.WriteFile(files[i], text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	byCertificate := func(handler http.Handler) *httptest.Server {
		server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if len(r.TLS.PeerCertificates) == 0 {
				status(w, http.StatusUnauthorized, "Unauthorized")
				return
			}
			handler.ServeHTTP(w, r)
		}))
		server.TLS = &tls.Config{ClientAuth: tls.RequestClientCert}
		server.StartTLS()
		t.Cleanup(server.Close)
		return server
	}
	scheduler := byCertificate(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"kind": "Queue", "apiVersion": "explain.berth/v1"}`)
	}))
	c := &cluster{objects: map[string]any{leasePath: lease("sched-1_u"), podPath + "/sched-1": schedulerPod("sched-1", nil)}, sockets: true, forward: true}
	c.startKubelet(t)
	user := []string{"queue", "--client-certificate", files[0], "--client-key", files[1], "--server", byCertificate(c).URL, "--insecure-skip-tls-verify"}
	for _, way := range [][]string{
		{"--scheduler", scheduler.URL, "--scheduler-insecure-skip-tls-verify"},
		{"--scheduler-port", port(t, scheduler)},
	} {
		if code, out, complaints := kubectlBerth(t, "", append(user, way...)...); code != exitOK || out != "No pod waits.\n" {
			t.Errorf("%v: exit code %d: %s%s", way, code, out, complaints)
		}
	}
}
