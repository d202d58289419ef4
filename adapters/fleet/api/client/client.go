package client

import (
	"bytes"
	"cmp"
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
	"sync/atomic"
	"time"
)

// ErrUnreachable says that no server could be asked.
var ErrUnreachable = errors.New("no server can be reached")

// Defaults of a Config, and limits.
const (
	// DefaultPort is that of a server whose address has none.
	DefaultPort = "7070"
	// DefaultPatience is that of Config.
	DefaultPatience = 15 * time.Second
	// maxAnswer is the largest answer that is read, but for streams.
	maxAnswer = 64 << 20
)

// Config says how to reach the servers.
type Config struct {
	// Servers are addresses, "host:port", "host" or "https://host:port". At least
	// one.
	Servers []string
	// TLS says whom to trust, and who the client is. It is not changed. Required:
	// nothing is sent without TLS.
	TLS *tls.Config
	// Token, where not empty, is a bearer token.
	Token string
	// Patience is how long a request is tried again where no server can carry it
	// out. Default: DefaultPatience; below 0: each server is asked once.
	Patience time.Duration
	// UserAgent names the program. Default: "berth".
	UserAgent string
}

// Client speaks to servers. Its methods may be called by many goroutines at once.
type Client struct {
	servers  []*url.URL
	token    string
	agent    string
	patience time.Duration
	http     *http.Client
	// last is the place, in servers, of the one that answered last.
	last atomic.Uint32
}

// New makes a client. It connects to nothing yet.
func New(c Config) (*Client, error) {
	if len(c.Servers) == 0 {
		return nil, errors.New("client: Config.Servers is empty, give the address of a server")
	}
	if c.TLS == nil {
		return nil, errors.New("client: Config.TLS is nil, say whom to trust")
	}
	out := &Client{token: c.Token, agent: cmp.Or(c.UserAgent, "berth"), patience: cmp.Or(c.Patience, DefaultPatience)}
	for _, s := range c.Servers {
		u, err := parseServer(s)
		if err != nil {
			return nil, err
		}
		out.servers = append(out.servers, u)
	}
	transport := &http.Transport{
		TLSClientConfig:       c.TLS.Clone(),
		DialContext:           (&net.Dialer{Timeout: 5 * time.Second, KeepAlive: 15 * time.Second}).DialContext,
		TLSHandshakeTimeout:   5 * time.Second,
		IdleConnTimeout:       90 * time.Second,
		MaxIdleConnsPerHost:   16,
		ForceAttemptHTTP2:     true,
		ExpectContinueTimeout: time.Second,
		// Streams and polls may be silent for long: pings tell whether the server is
		// still there.
		HTTP2: &http.HTTP2Config{SendPingTimeout: 15 * time.Second, PingTimeout: 10 * time.Second},
	}
	out.http = &http.Client{
		Transport: transport,
		// A token is for the servers that were named, and for no others.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return out, nil
}

// Close ends connections that are not in use.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// parseServer reads the address of a server.
func parseServer(s string) (*url.URL, error) {
	text := s
	if !strings.Contains(text, "://") {
		text = "https://" + text
	}
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Hostname() == "" || u.User != nil || strings.Trim(u.Path, "/") != "" || u.RawQuery != "":
		return nil, fmt.Errorf("%q is no address of a server, write host:port", s)
	case u.Scheme != "https":
		return nil, fmt.Errorf("%q is not https; servers speak nothing else", s)
	case u.Port() == "":
		u.Host = net.JoinHostPort(u.Hostname(), DefaultPort)
	}
	if _, err := strconv.ParseUint(u.Port(), 10, 16); err != nil {
		return nil, fmt.Errorf("%q has a port that there is not, they end at 65535", s)
	}
	u.Path = ""
	return u, nil
}

// call is one request, whichever server it goes to.
type call struct {
	method, path string
	query        url.Values
	// body is what is sent as JSON, nil for none.
	body any
	// stream, where not nil, is sent instead, once.
	stream io.Reader
	// safe: it does no harm to send it twice.
	safe bool
}

// get is the call that asks for something.
func get(path string, query url.Values) call {
	return call{method: http.MethodGet, path: path, query: query, safe: true}
}

// post is a call that may be repeated.
func post(path string, body any) call {
	return call{method: http.MethodPost, path: path, body: body, safe: true}
}

// once is a call that must not be carried out twice.
func once(path string, body any) call { return call{method: http.MethodPost, path: path, body: body} }

// remove is the call that removes something.
func remove(path string) call { return call{method: http.MethodDelete, path: path, safe: true} }

// encode is the body as JSON.
func (k *call) encode() ([]byte, error) {
	if k.body == nil {
		return nil, nil
	}
	var b bytes.Buffer
	to := json.NewEncoder(&b)
	to.SetEscapeHTML(false)
	if err := to.Encode(k.body); err != nil {
		return nil, fmt.Errorf("writing the request: %w", err)
	}
	return b.Bytes(), nil
}
