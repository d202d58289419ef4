package app

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/server/healthz"
	basemetrics "k8s.io/component-base/metrics"
)

// everything is what a scheduler serves, with a metric and handlers of its own.
func everything(t *testing.T) *endpoints {
	t.Helper()
	registry := basemetrics.NewKubeRegistry()
	own := basemetrics.NewCounter(&basemetrics.CounterOpts{Name: "scheduler_test_total"})
	registry.MustRegister(own)
	own.Inc()
	says := func(text string) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, text) })
	}
	return &endpoints{
		live:      []healthz.HealthChecker{healthz.NamedCheck("leaderElection", func(*http.Request) error { return nil })},
		metrics:   registry,
		resources: says("of pods"),
		leading:   func() bool { return true },
		profiling: true,
		gates:     newGates(),
		flags:     newOptions().flags,
		mounted: []mounted{
			{"/one", says("of one")},
			{"/all/", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, "of "+r.URL.Path) })},
			{"/panic", http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("on purpose") })},
		},
	}
}

func ask(h http.Handler, method, path, body, who string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.Header.Set("User", who)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestEndpoints(t *testing.T) {
	h := everything(t).handler()
	tests := []struct {
		method, path, body string
		code               int
		says               string
	}{
		{"GET", "/healthz", "", 200, "ok"},
		{"GET", "/healthz/leaderElection", "", 200, "ok"},
		{"GET", "/livez", "", 200, "ok"},
		{"GET", "/readyz", "", 200, "ok"},
		{"GET", "/metrics", "", 200, "scheduler_test_total 1\n"},
		{"GET", "/metrics", "", 200, "go_goroutines "}, // of the process
		{"DELETE", "/metrics", "", 200, "metrics reset"},
		{"GET", "/metrics", "", 200, "scheduler_test_total 1\n"},
		{"GET", "/metrics/slis", "", 200, `kubernetes_healthcheck{name="leaderElection",type="healthz"}`},
		{"GET", "/metrics/resources", "", 200, "of pods"},
		{"GET", "/configz", "", 200, "{"},
		{"GET", "/debug/pprof/goroutine?debug=1", "", 200, "goroutine profile"},
		{"PUT", "/debug/flags/v", "0", 200, "successfully set"},
		{"GET", "/flagz", "", 200, "leader-elect"},
		{"GET", "/statusz", "", 200, "kube-scheduler statusz"},
		{"GET", "/one", "", 200, "of one"},
		{"GET", "/one/more", "", 404, ""},
		{"GET", "/all/of/it", "", 200, "of /all/of/it"},
		{"GET", "/nothing", "", 404, ""},
	}
	for _, tt := range tests {
		w := ask(h, tt.method, tt.path, tt.body, "")
		if w.Code != tt.code || !strings.Contains(w.Body.String(), tt.says) {
			t.Errorf("%s %s: %d %.200q, want %d %q", tt.method, tt.path, w.Code, w.Body, tt.code, tt.says)
		}
	}
}

// What is off is not served.
func TestEndpointsThatAreOff(t *testing.T) {
	e := everything(t)
	e.profiling = false
	e.leading = func() bool { return false }
	e.gates = parsed(t, "--feature-gates=ComponentFlagz=false,ComponentStatusz=false").gates
	h := e.handler()
	for _, path := range []string{"/debug/pprof/", "/debug/flags/v", "/flagz", "/statusz"} {
		if w := ask(h, "GET", path, "", ""); w.Code != http.StatusNotFound {
			t.Errorf("%s: %d", path, w.Code)
		}
	}
	if w := ask(h, "GET", "/metrics/resources", "", ""); w.Code != 200 || w.Body.Len() > 0 {
		t.Errorf("resources by who does not lead: %d %q", w.Code, w.Body)
	}
}

func TestChecks(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	synced := make(chan struct{})
	healthy := error(nil)
	e := everything(t)
	e.live = []healthz.HealthChecker{healthz.NamedCheck("leaderElection", func(*http.Request) error { return healthy })}
	e.ready = append(e.live, healthz.NewShutdownHealthz(ctx.Done()), syncedCheck(synced))
	h := e.handler()
	check := func(when string, want map[string]int) {
		t.Helper()
		for path, code := range want {
			if w := ask(h, "GET", path, "", ""); w.Code != code {
				t.Errorf("%s: %s: %d, want %d: %s", when, path, w.Code, code, w.Body)
			}
		}
	}
	check("before all is known", map[string]int{"/healthz": 200, "/livez": 200, "/readyz": 500, "/readyz/sched-handler-sync": 500, "/readyz/shutdown": 200})
	close(synced)
	check("ready", map[string]int{"/healthz": 200, "/livez": 200, "/readyz": 200, "/readyz/sched-handler-sync": 200})
	healthy = errors.New("the lease ran out")
	check("stuck", map[string]int{"/healthz": 500, "/livez": 200, "/readyz": 500, "/readyz/leaderElection": 500})
	healthy = nil
	stop()
	check("asked to end", map[string]int{"/healthz": 200, "/livez": 200, "/readyz": 500, "/readyz/shutdown": 500})
}

// Only who is known and may gets through, also to what is mounted, and a panic ends
// the request alone.
func TestChained(t *testing.T) {
	authn := authenticator.RequestFunc(func(r *http.Request) (*authenticator.Response, bool, error) {
		name := r.Header.Get("User")
		return &authenticator.Response{User: &user.DefaultInfo{Name: name}}, name != "", nil
	})
	authz := authorizer.AuthorizerFunc(func(_ context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
		if a.IsResourceRequest() || a.GetVerb() != "get" && a.GetVerb() != "post" {
			t.Errorf("asked about %+v", a)
		}
		if a.GetUser().GetName() == "admin" || a.GetPath() == "/healthz" {
			return authorizer.DecisionAllow, "", nil
		}
		return authorizer.DecisionNoOpinion, "", nil
	})
	h := chained(everything(t).handler(), authn, authz)
	for _, tt := range []struct {
		who, path string
		code      int
	}{
		{"", "/healthz", 401}, {"", "/metrics", 401}, {"", "/all/x", 401},
		{"viewer", "/healthz", 200}, {"viewer", "/metrics", 403}, {"viewer", "/all/x", 403}, {"viewer", "/debug/pprof/", 403},
		{"admin", "/healthz", 200}, {"admin", "/metrics", 200}, {"admin", "/all/x", 200},
	} {
		w := ask(h, "GET", tt.path, "", tt.who)
		if w.Code != tt.code {
			t.Errorf("%q asks for %s: %d, want %d", tt.who, tt.path, w.Code, tt.code)
		}
		if w.Header().Get("Cache-Control") == "" {
			t.Errorf("%q asks for %s: nothing is said of caches", tt.who, tt.path)
		}
	}
}

// A handler that panics ends its own request and nothing else.
func TestPanicOfHandler(t *testing.T) {
	anybody := authenticator.RequestFunc(func(*http.Request) (*authenticator.Response, bool, error) {
		return &authenticator.Response{User: &user.DefaultInfo{}}, true, nil
	})
	server := httptest.NewServer(chained(everything(t).handler(), anybody, authorizer.AuthorizerFunc(
		func(context.Context, authorizer.Attributes) (authorizer.Decision, string, error) {
			return authorizer.DecisionAllow, "", nil
		})))
	defer server.Close()
	if r, err := http.Get(server.URL + "/panic"); err == nil {
		_ = r.Body.Close()
		if r.StatusCode != http.StatusInternalServerError {
			t.Errorf("the request that panics: %s", r.Status)
		}
	}
	r, err := http.Get(server.URL + "/one")
	if err != nil || r.StatusCode != http.StatusOK {
		t.Fatalf("the next one: %v, %v", r, err)
	}
	_ = r.Body.Close()
}
