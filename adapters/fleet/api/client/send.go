package client

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/berth-project/berth/adapters/fleet/api"
)

// ask sends the call and reads the answer, which is JSON or empty.
func ask[T any](ctx context.Context, c *Client, k call) (T, error) {
	var answer T
	response, err := c.send(ctx, k)
	if err != nil {
		return answer, err
	}
	defer response.Body.Close()
	data, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer+1))
	switch {
	case err != nil:
		return answer, fmt.Errorf("reading the answer of %s: %w", response.Request.URL.Host, err)
	case len(data) > maxAnswer:
		return answer, fmt.Errorf("the answer of %s has more than %d bytes: ask for a smaller page", response.Request.URL.Host, maxAnswer)
	case len(data) == 0:
		return answer, nil
	}
	if err := json.Unmarshal(data, &answer); err != nil {
		return answer, fmt.Errorf("the answer of %s cannot be read: %w", response.Request.URL.Host, err)
	}
	return answer, nil
}

// do is ask for calls whose answer says nothing.
func (c *Client) do(ctx context.Context, k call) error {
	_, err := ask[json.RawMessage](ctx, c, k)
	return err
}

// send sends the call to one server after the other until one carries it out. The
// caller closes the answer's body.
func (c *Client) send(ctx context.Context, k call) (*http.Response, error) {
	if strings.HasSuffix(k.path, "/") || strings.Contains(k.path, "//") {
		return nil, &api.Error{Status: http.StatusBadRequest, Code: api.CodeInvalid, Message: "a name must not be empty"}
	}
	body, err := k.encode()
	if err != nil {
		return nil, err
	}
	var (
		start    = time.Now()
		pause    = 50 * time.Millisecond
		first    = int(c.last.Load())
		failures []string
		// hope: a server of this round may do better later.
		hope bool
	)
	for try := 0; ; try++ {
		place := (first + try) % len(c.servers)
		response, err := c.sendTo(ctx, place, &k, body)
		if err == nil {
			c.last.Store(uint32(place))
			return response, nil
		}
		if ctx.Err() != nil {
			if errors.Is(ctx.Err(), context.DeadlineExceeded) {
				// It may hang, with its connections open: the next call tries another.
				c.last.Store(uint32((place + 1) % len(c.servers)))
			}
			return nil, context.Cause(ctx)
		}
		again, wait := c.again(&k, err)
		if !again {
			return nil, err
		}
		hope = hope || !hopeless(err)
		if try < len(c.servers) {
			failures = append(failures, failure(c.servers[place].Host, err))
		}
		if (try+1)%len(c.servers) != 0 && wait == 0 {
			continue // the next server may be better
		}
		if wait = max(wait, pause); !hope || time.Since(start)+wait > c.patience {
			return nil, lastError(err, failures)
		}
		hope = false
		if err := sleep(ctx, wait); err != nil {
			return nil, err
		}
		pause = min(2*pause, 2*time.Second)
	}
}

// lastError is the error where patience has ended: what a server said, if one did. Where
// none leads it says of several which of them answer.
func lastError(err error, failures []string) error {
	var answered *api.Error
	if !errors.As(err, &answered) {
		return fmt.Errorf("%w: %s", ErrUnreachable, strings.Join(failures, "; "))
	}
	if answered.Code == api.CodeNoLeader && len(failures) > 1 {
		return fmt.Errorf("%w (%s)", err, strings.Join(failures, "; "))
	}
	return err
}

// failure says how a server failed.
func failure(host string, err error) string {
	var answered *api.Error
	if errors.As(err, &answered) && answered.Code == api.CodeNoLeader {
		return host + " answers, and reaches no leader"
	}
	var request *url.Error
	if errors.As(err, &request) {
		err = request.Err // without the address, which is there already
	}
	return fmt.Sprintf("%s: %s", host, err)
}

// again reports whether a call that failed may be sent again, and after how long.
func (c *Client) again(k *call, err error) (again bool, wait time.Duration) {
	if k.stream != nil {
		return false, 0
	}
	var answered *answerError
	if !errors.As(err, &answered) {
		return k.safe || notSent(err), 0
	}
	switch answered.api.Code {
	case api.CodeNoLeader:
		return true, 0
	case api.CodeRate:
		return true, max(answered.after, time.Second)
	case api.CodeUnknown:
		return k.safe, 0
	}
	// A proxy or a server that is about to stop.
	return k.safe && (answered.api.Status == http.StatusBadGateway || answered.api.Status == http.StatusServiceUnavailable), 0
}

// hopeless reports whether one of the two does not trust the other, which does not
// change by itself.
func hopeless(err error) bool {
	var untrusted *tls.CertificateVerificationError
	var refused tls.AlertError
	return errors.As(err, &untrusted) || errors.As(err, &refused)
}

// notSent reports whether no connection came about, so that nothing was carried
// out.
func notSent(err error) bool {
	var op *net.OpError
	return hopeless(err) || errors.As(err, &op) && op.Op == "dial"
}

// sendTo sends the call to one server. An answer that is no success is an error.
func (c *Client) sendTo(ctx context.Context, place int, k *call, body []byte) (*http.Response, error) {
	u := *c.servers[place]
	u.Path, u.RawPath = unescaped(k.path), k.path
	u.RawQuery = k.query.Encode()
	var reader io.Reader
	switch {
	case k.stream != nil:
		reader = k.stream
	case body != nil:
		reader = bytes.NewReader(body)
	}
	request, err := http.NewRequestWithContext(ctx, k.method, u.String(), reader)
	if err != nil {
		return nil, err
	}
	request.Header.Set("User-Agent", c.agent)
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	if c.token != "" {
		request.Header.Set("Authorization", "Bearer "+c.token)
	}
	response, err := c.http.Do(request)
	if err != nil {
		return nil, err
	}
	if response.StatusCode >= 200 && response.StatusCode < 300 {
		return response, nil
	}
	defer response.Body.Close()
	return nil, readError(response)
}

// answerError is an answer that is no success.
type answerError struct {
	api   *api.Error
	after time.Duration // Retry-After
}

func (e *answerError) Error() string { return e.api.Error() }
func (e *answerError) Unwrap() error { return e.api }

// readError is the error of an answer. Where it is not one of ours, its status
// says what it is.
func readError(response *http.Response) error {
	data, _ := io.ReadAll(io.LimitReader(response.Body, 1<<20)) // what there is will do
	e := &answerError{api: &api.Error{}}
	if json.Unmarshal(data, e.api) != nil || e.api.Message == "" {
		text := strings.TrimSpace(string(data))
		if len(text) > 200 {
			text = text[:200] + "..."
		}
		e.api = &api.Error{Code: codeOf(response.StatusCode), Message: strings.TrimSpace(
			fmt.Sprintf("%s answered %s %s", response.Request.URL.Host, response.Status, text))}
	}
	e.api.Status = response.StatusCode
	if seconds, err := strconv.Atoi(response.Header.Get("Retry-After")); err == nil && seconds >= 0 && seconds < 3600 {
		e.after = time.Duration(seconds) * time.Second
	}
	return e
}

// codeOf is the code that goes with a status.
func codeOf(status int) api.ErrorCode {
	switch status {
	case http.StatusBadRequest:
		return api.CodeInvalid
	case http.StatusUnauthorized:
		return api.CodeUnauthorized
	case http.StatusForbidden:
		return api.CodeForbidden
	case http.StatusNotFound:
		return api.CodeNotFound
	case http.StatusConflict:
		return api.CodeConflict
	case http.StatusRequestEntityTooLarge:
		return api.CodeTooLarge
	case http.StatusTooManyRequests:
		return api.CodeRate
	case http.StatusGatewayTimeout:
		return api.CodeUnknown
	}
	return api.CodeInternal
}

// sleep waits, or until the context ends.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
