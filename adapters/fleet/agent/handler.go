package agent

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Handler serves tasks' logs, metrics and health:
//
//	GET /v1/tasks/{task}/logs/{stdout|stderr}?offset=&limit=&follow=
//	GET /metrics
//	GET /healthz   200 while the agent works
//	GET /readyz    200 while the servers' answers come
//
// It knows no users: who calls puts authentication around it. It may be served from
// before Run until after it.
func (a *Agent) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/tasks/{task}/logs/{stream}", a.serveLog)
	mux.Handle("GET /metrics", promhttp.HandlerFor(a.metrics.registry, promhttp.HandlerOpts{}))
	mux.HandleFunc("GET /healthz", a.serveHealth)
	mux.HandleFunc("GET /readyz", a.serveReady)
	return mux
}

// healthLimit is how long the owner of the table may take to answer.
const healthLimit = 5 * time.Second

func (a *Agent) serveHealth(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), healthLimit)
	defer cancel()
	if !a.do(ctx, func(*table) {}) {
		http.Error(w, "the agent does not work", http.StatusServiceUnavailable)
		return
	}
	fmt.Fprintln(w, "ok")
}

func (a *Agent) serveReady(w http.ResponseWriter, _ *http.Request) {
	if time.Now().UnixNano() > a.poller.goodUntil.Load() {
		http.Error(w, "no server has answered for three heartbeats", http.StatusServiceUnavailable)
		return
	}
	fmt.Fprintln(w, "ok")
}
