package main

import (
	"bytes"
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/rest"
)

// question is a request to the scheduler.
type question struct {
	method, path string
	query        url.Values
	contentType  string
	body         []byte
}

// put sends the question and returns the answer. The error says what the scheduler, at
// the address, has against it.
func (q *question) put(ctx context.Context, config *rest.Config, at string) ([]byte, error) {
	transport, err := rest.TransportFor(config)
	if err != nil {
		return nil, err
	}
	client := &http.Client{
		Transport: transport, Timeout: config.Timeout,
		// Credentials go nowhere else.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	defer utilnet.CloseIdleConnectionsFor(transport)
	r, err := http.NewRequestWithContext(ctx, q.method, config.Host+q.path+"?"+q.query.Encode(), bytes.NewReader(q.body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Accept", "application/json")
	if q.contentType != "" {
		r.Header.Set("Content-Type", q.contentType)
	}
	response, err := client.Do(r)
	if err != nil {
		return nil, unreached(at, err)
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, fmt.Errorf("read the answer of the scheduler at %s: %w", at, err)
	}
	if response.StatusCode != http.StatusOK {
		return nil, refused(at, response, text)
	}
	return text, nil
}

// unreached says why there was no answer.
func unreached(at string, err error) error {
	var unknown x509.UnknownAuthorityError
	var otherName x509.HostnameError
	if errors.As(err, &unknown) || errors.As(err, &otherName) {
		return fmt.Errorf("the scheduler at %s is not known to be one (see --scheduler-certificate-authority): %w", at, err)
	}
	return fmt.Errorf("ask the scheduler at %s: %w", at, err)
}

// refused says what is wrong by the answer.
func refused(at string, response *http.Response, text []byte) error {
	var status metav1.Status
	known := json.Unmarshal(text, &status) == nil && status.Kind == "Status" && status.Message != ""
	switch {
	case known && response.StatusCode == http.StatusUnauthorized:
		return fmt.Errorf("the scheduler at %s does not know you: it takes the bearer tokens and client certificates of the cluster", at)
	case known && response.StatusCode == http.StatusForbidden:
		return fmt.Errorf("%s: a cluster role with the nonResourceURLs /explain/* and the verbs get and post allows it", status.Message)
	case known && status.Details != nil && len(status.Details.Causes) > 0:
		return causes(&status)
	case known:
		return errors.New(status.Message)
	case response.StatusCode == http.StatusNotFound:
		return fmt.Errorf("the scheduler at %s does not explain anything: it is not Berth, or an old version", at)
	}
	return fmt.Errorf("the scheduler at %s answers %s: %.200s", at, response.Status, bytes.TrimSpace(text))
}

// causes lists all that is wrong, one line each.
func causes(status *metav1.Status) error {
	lines := []string{"the scheduler refuses what it was sent:"}
	for _, c := range status.Details.Causes {
		lines = append(lines, "  "+c.Field+": "+c.Message)
	}
	return errors.New(strings.Join(lines, "\n"))
}
