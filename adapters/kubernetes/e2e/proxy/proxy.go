package proxy

import (
	"cmp"
	"context"
	"encoding/pem"
	"io"
	"log"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/client-go/rest"
)

// Proxy is a running proxy. Its methods may be called from any goroutine.
type Proxy struct {
	server  *httptest.Server
	forward *httputil.ReverseProxy

	mu      sync.Mutex // guards what follows
	rules   []rule
	random  *rand.Rand
	counts  map[counted]int
	watches map[*context.CancelFunc]struct{} // that are open
}

// rule is a Rule and how often it was done.
type rule struct {
	Rule
	done int
}

// counted is a Count without the number.
type counted struct{ verb, resource, did string }

// Start starts a proxy, without rules, for the API server that the configuration
// leads to. It serves HTTPS, with HTTP/2, on loopback. With the same seed and the
// same requests in the same order the same things happen.
func Start(config *rest.Config, seed uint64) (*Proxy, error) {
	target, err := url.Parse(config.Host)
	if err != nil {
		return nil, err
	}
	// Not the configuration's own user: clients bring theirs.
	transport, err := rest.TransportFor(rest.AnonymousClientConfig(config))
	if err != nil {
		return nil, err
	}
	p := &Proxy{
		random:  rand.New(rand.NewPCG(seed, 0)),
		counts:  map[counted]int{},
		watches: map[*context.CancelFunc]struct{}{},
	}
	p.forward = &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(target) },
		Transport:     transport,
		FlushInterval: -1, // watches
		ErrorLog:      log.New(io.Discard, "", 0),
		ErrorHandler:  func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
	}
	p.server = httptest.NewUnstartedServer(p)
	p.server.EnableHTTP2 = true
	p.server.Config.ErrorLog = log.New(io.Discard, "", 0)
	p.server.StartTLS()
	return p, nil
}

// Close cuts everything that is open, and ends the proxy.
func (p *Proxy) Close() {
	p.CutWatches()
	p.server.CloseClientConnections()
	p.server.Close()
}

// URL is the address of the proxy.
func (p *Proxy) URL() string { return p.server.URL }

// WriteCA writes the certificate that clients verify the proxy by.
func (p *Proxy) WriteCA(path string) error {
	block := &pem.Block{Type: "CERTIFICATE", Bytes: p.server.Certificate().Raw}
	return os.WriteFile(path, pem.EncodeToMemory(block), 0o600)
}

// SetRules replaces the rules, for requests from now on. A rule that comes first is
// asked first; but for delays, one thing is done to a request.
func (p *Proxy) SetRules(rules ...Rule) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rules = make([]rule, len(rules))
	for i, r := range rules {
		p.rules[i] = rule{Rule: r}
	}
}

// CutWatches breaks off all watches that are open now.
func (p *Proxy) CutWatches() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for cancel := range p.watches {
		(*cancel)()
	}
}

// DropConnections closes the connections of all clients, with whatever is under way.
func (p *Proxy) DropConnections() { p.server.CloseClientConnections() }

// Counts is what was done since the start, sorted.
func (p *Proxy) Counts() []Count {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []Count
	for c, n := range p.counts {
		out = append(out, Count{Verb: c.verb, Resource: c.resource, Did: c.did, Times: n})
	}
	slices.SortFunc(out, func(a, b Count) int {
		return cmp.Or(cmp.Compare(a.Resource, b.Resource), cmp.Compare(a.Verb, b.Verb), cmp.Compare(a.Did, b.Did))
	})
	return out
}

// Times is how often something was done, to requests of any verb or resource where
// they are empty.
func (p *Proxy) Times(verb, resource, did string) int {
	n := 0
	for _, c := range p.Counts() {
		if (verb == "" || c.Verb == verb) && (resource == "" || c.Resource == resource) && c.Did == did {
			n += c.Times
		}
	}
	return n
}

// requests tells what a request is about, as the API server does.
var requests = &request.RequestInfoFactory{
	APIPrefixes:          sets.NewString("api", "apis"),
	GrouplessAPIPrefixes: sets.NewString("api"),
}

// choose draws what is done to a request, and counts it.
func (p *Proxy) choose(info *request.RequestInfo) []Action {
	p.mu.Lock()
	defer p.mu.Unlock()
	var chosen []Action
	for i := range p.rules {
		r := &p.rules[i]
		if !r.fits(info) || r.Times > 0 && r.done == r.Times || p.random.Float64() >= r.Chance {
			continue
		}
		r.done++
		chosen = append(chosen, r.Do)
		p.counts[counted{info.Verb, resource(info), r.Do.String()}]++
		if r.Do.kind != delay {
			return chosen
		}
	}
	if len(chosen) == 0 {
		p.counts[counted{info.Verb, resource(info), Passed}]++
	}
	return chosen
}
