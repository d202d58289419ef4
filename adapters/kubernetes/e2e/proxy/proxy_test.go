package proxy_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/berth-project/berth/adapters/kubernetes/e2e/proxy"
)

// backend stands for the API server: it remembers what it was asked, and answers
// with the body and how often it was asked. Watches get a line and then nothing.
type backend struct {
	*httptest.Server
	mu   sync.Mutex
	seen []string
}

func newBackend(t *testing.T) *backend {
	b := &backend{}
	b.Server = httptest.NewServer(b)
	t.Cleanup(b.Close)
	return b
}

func (b *backend) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	b.mu.Lock()
	b.seen = append(b.seen, strings.TrimSpace(r.Method+" "+r.URL.Path+" "+r.Header.Get("Authorization")+" "+string(body)))
	n := len(b.seen)
	b.mu.Unlock()
	w.Header().Set("Asked", string(rune('0'+n)))
	_, _ = io.WriteString(w, string(body)+"\n")
	if r.URL.Query().Get("watch") != "" {
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}
}

func (b *backend) requests() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.seen)
}

// setUp is a proxy before a backend, and a client of it that does not try again.
func setUp(t *testing.T, rules ...proxy.Rule) (*proxy.Proxy, *backend, *http.Client) {
	t.Helper()
	b := newBackend(t)
	p, err := proxy.Start(&rest.Config{Host: b.URL, BearerToken: "not this one"}, 1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	p.SetRules(rules...)
	file := filepath.Join(t.TempDir(), "ca.crt")
	if err := p.WriteCA(file); err != nil {
		t.Fatal(err)
	}
	ca, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(ca)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, ForceAttemptHTTP2: true}
	t.Cleanup(transport.CloseIdleConnections)
	return p, b, &http.Client{Transport: transport}
}

const (
	binding = "/api/v1/namespaces/default/pods/p/binding"
	watch   = "/api/v1/pods?watch=true"
)

func post(t *testing.T, c *http.Client, url, body string) (*http.Response, error) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer me")
	return c.Do(request)
}

func always(do proxy.Action) proxy.Rule { return proxy.Rule{Chance: 1, Do: do} }

func want(t *testing.T, what string, got, want any) {
	t.Helper()
	a, _ := json.Marshal(got)
	b, _ := json.Marshal(want)
	if string(a) != string(b) {
		t.Errorf("%s: %s, want %s", what, a, b)
	}
}

const sent = "POST " + binding + " Bearer me body"

func TestItPassesOn(t *testing.T) {
	p, b, c := setUp(t)
	response, err := post(t, c, p.URL()+binding, "body")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	want(t, "error", err, nil)
	want(t, "answer", string(content), "body\n")
	want(t, "protocol", response.Proto, "HTTP/2.0")
	want(t, "requests", b.requests(), []string{sent})
	want(t, "counts", p.Counts(), []proxy.Count{{Verb: "create", Resource: "pods/binding", Did: proxy.Passed, Times: 1}})
}

func TestActions(t *testing.T) {
	for name, test := range map[string]struct {
		do       proxy.Action
		requests []string // that the backend saw
		broken   bool     // the client got no answer
		asked    string   // the backend's own count in the answer
		status   int
		counted  string
	}{
		"drop":       {do: proxy.Drop(), broken: true, counted: "drop"},
		"lose":       {do: proxy.Lose(), requests: []string{sent}, broken: true, counted: "lose"},
		"duplicate":  {do: proxy.Duplicate(), requests: []string{sent, sent}, asked: "2", status: 200, counted: "duplicate"},
		"delay":      {do: proxy.Delay(time.Millisecond), requests: []string{sent}, asked: "1", status: 200, counted: "delay"},
		"answer 409": {do: proxy.Answer(409), status: 409, counted: "answer 409"},
		"answer 500": {do: proxy.Answer(500), status: 500, counted: "answer 500"},
	} {
		t.Run(name, func(t *testing.T) {
			p, b, c := setUp(t, always(test.do))
			response, err := post(t, c, p.URL()+binding, "body")
			if test.broken != (err != nil) {
				t.Fatalf("error %v, want one: %t", err, test.broken)
			}
			if err == nil {
				defer response.Body.Close()
				want(t, "status", response.StatusCode, test.status)
				want(t, "asked", response.Header.Get("Asked"), test.asked)
			}
			want(t, "requests", b.requests(), test.requests)
			want(t, "times", p.Times("create", "pods/binding", test.counted), 1)
		})
	}
}

func TestAnswersAreTheAPIServers(t *testing.T) {
	p, _, c := setUp(t, always(proxy.Answer(http.StatusTooManyRequests)))
	response, err := post(t, c, p.URL()+binding, "body")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var status metav1.Status
	if err := json.NewDecoder(response.Body).Decode(&status); err != nil {
		t.Fatal(err)
	}
	want(t, "Retry-After", response.Header.Get("Retry-After"), "1")
	want(t, "reason", status.Reason, metav1.StatusReasonTooManyRequests)
	want(t, "code", status.Code, 429)
}

func TestRulesChoose(t *testing.T) {
	for name, test := range map[string]struct {
		rules  []proxy.Rule
		status int
	}{
		"another verb":         {[]proxy.Rule{{Verbs: []string{"patch", "update"}, Chance: 1, Do: proxy.Answer(500)}}, 200},
		"the verb":             {[]proxy.Rule{{Verbs: []string{"patch", "create"}, Chance: 1, Do: proxy.Answer(500)}}, 500},
		"another resource":     {[]proxy.Rule{{Resources: []string{"pods"}, Chance: 1, Do: proxy.Answer(500)}}, 200},
		"the resource":         {[]proxy.Rule{{Resources: []string{"pods/binding"}, Chance: 1, Do: proxy.Answer(500)}}, 500},
		"no chance":            {[]proxy.Rule{{Chance: 0, Do: proxy.Answer(500)}}, 200},
		"the first that fits":  {[]proxy.Rule{{Verbs: []string{"get"}, Chance: 1, Do: proxy.Answer(500)}, always(proxy.Answer(409)), always(proxy.Answer(429))}, 409},
		"a delay and another":  {[]proxy.Rule{always(proxy.Delay(time.Millisecond)), always(proxy.Answer(409))}, 409},
		"nothing, for no rule": {nil, 200},
	} {
		t.Run(name, func(t *testing.T) {
			p, _, c := setUp(t, test.rules...)
			response, err := post(t, c, p.URL()+binding, "body")
			if err != nil {
				t.Fatal(err)
			}
			defer response.Body.Close()
			want(t, "status", response.StatusCode, test.status)
		})
	}
}

func TestTimesAndChance(t *testing.T) {
	statuses := func(rule proxy.Rule, n int) (out []int) {
		p, _, c := setUp(t, rule)
		for range n {
			response, err := post(t, c, p.URL()+binding, "body")
			if err != nil {
				t.Fatal(err)
			}
			_ = response.Body.Close()
			out = append(out, response.StatusCode)
		}
		return out
	}
	limited := always(proxy.Answer(500))
	limited.Times = 2
	want(t, "twice at most", statuses(limited, 4), []int{500, 500, 200, 200})

	half := proxy.Rule{Chance: 0.5, Do: proxy.Answer(500)}
	first := statuses(half, 40)
	want(t, "the same seed, the same draws", statuses(half, 40), first)
	if !slices.Contains(first, 500) || !slices.Contains(first, 200) {
		t.Errorf("with half a chance: %v, want some of both", first)
	}
}

func TestOtherRequestsAreLeftAlone(t *testing.T) {
	p, b, c := setUp(t, always(proxy.Drop()))
	for _, path := range []string{"/readyz", "/api", "/apis/apps/v1"} {
		response, err := post(t, c, p.URL()+path, "")
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		_ = response.Body.Close()
	}
	want(t, "requests", len(b.requests()), 3)
	want(t, "counts", p.Counts(), nil)
}

// openWatch opens a watch and reads its first line.
func openWatch(t *testing.T, p *proxy.Proxy, c *http.Client) io.ReadCloser {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, p.URL()+watch, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := c.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = response.Body.Close() })
	if _, err := response.Body.Read(make([]byte, 10)); err != nil {
		t.Fatal(err)
	}
	return response.Body
}

func TestWatchesAreCut(t *testing.T) {
	for name, test := range map[string]struct {
		rules []proxy.Rule
		cut   func(*proxy.Proxy)
	}{
		"all of them now": {nil, (*proxy.Proxy).CutWatches},
		"by a rule":       {[]proxy.Rule{{Verbs: []string{"watch"}, Chance: 1, Do: proxy.Cut(50 * time.Millisecond)}}, func(*proxy.Proxy) {}},
		"with all else":   {nil, (*proxy.Proxy).DropConnections},
	} {
		t.Run(name, func(t *testing.T) {
			p, _, c := setUp(t, test.rules...)
			body := openWatch(t, p, c)
			test.cut(p)
			if _, err := io.ReadAll(body); err == nil || strings.Contains(err.Error(), "deadline") {
				t.Errorf("error %v, want a stream that is broken off", err)
			}
		})
	}
}
