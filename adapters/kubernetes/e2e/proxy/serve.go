package proxy

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/endpoints/request"
)

// ServeHTTP passes a request on, or does what the rules say.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	info, err := requests.NewRequestInfo(r)
	if err != nil || !info.IsResourceRequest {
		p.forward.ServeHTTP(w, r)
		return
	}
	if info.Verb == "watch" {
		var done func()
		r, done = p.watch(r)
		defer done()
	}
	for _, action := range p.choose(info) {
		switch action.kind {
		case delay:
			wait(r.Context(), action.time)
		case drop:
			panic(http.ErrAbortHandler)
		case lose:
			p.forward.ServeHTTP(httptest.NewRecorder(), r)
			panic(http.ErrAbortHandler)
		case duplicate:
			r = p.twice(r)
		case cut:
			var cancel context.CancelFunc
			r, cancel = withTimeout(r, action.time)
			defer cancel()
		case answer:
			refuse(w, info, action.status)
			return
		}
	}
	p.forward.ServeHTTP(w, r)
}

// watch lets the request be cut by CutWatches until done is called.
func (p *Proxy) watch(r *http.Request) (cuttable *http.Request, done func()) {
	ctx, cancel := context.WithCancel(r.Context())
	p.mu.Lock()
	p.watches[&cancel] = struct{}{}
	p.mu.Unlock()
	return r.WithContext(ctx), func() {
		p.mu.Lock()
		delete(p.watches, &cancel)
		p.mu.Unlock()
		cancel()
	}
}

func withTimeout(r *http.Request, d time.Duration) (*http.Request, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(r.Context(), d)
	return r.WithContext(ctx), cancel
}

// wait waits, unless the client goes.
func wait(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// twice passes the request on once, and returns it to be passed on again.
func (p *Proxy) twice(r *http.Request) *http.Request {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler) // the client has gone
	}
	first := r.Clone(r.Context())
	first.Body = io.NopCloser(bytes.NewReader(body))
	p.forward.ServeHTTP(httptest.NewRecorder(), first)
	r.Body = io.NopCloser(bytes.NewReader(body))
	return r
}

// reasons of the statuses that the API server gives of itself.
var reasons = map[int]metav1.StatusReason{
	http.StatusConflict:            metav1.StatusReasonConflict,
	http.StatusGone:                metav1.StatusReasonExpired,
	http.StatusTooManyRequests:     metav1.StatusReasonTooManyRequests,
	http.StatusInternalServerError: metav1.StatusReasonInternalError,
	http.StatusServiceUnavailable:  metav1.StatusReasonServiceUnavailable,
}

// refuse answers in the API server's way.
func refuse(w http.ResponseWriter, info *request.RequestInfo, status int) {
	body, err := json.Marshal(metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"},
		Status:   metav1.StatusFailure,
		Reason:   reasons[status],
		Message:  "the proxy refuses to " + info.Verb + " " + resource(info),
		Details:  &metav1.StatusDetails{Group: info.APIGroup, Kind: info.Resource, Name: info.Name},
		Code:     int32(status),
	})
	if err != nil {
		panic(err) // no such thing in a Status
	}
	w.Header().Set("Content-Type", "application/json")
	if status == http.StatusTooManyRequests {
		w.Header().Set("Retry-After", "1")
	}
	w.WriteHeader(status)
	_, _ = w.Write(body) // the client may have gone
}
