package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilproxy "k8s.io/apimachinery/pkg/util/proxy"
	"k8s.io/apiserver/pkg/util/proxy"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/streaming/pkg/httpstream"
	"k8s.io/streaming/pkg/httpstream/spdy"
	"k8s.io/streaming/pkg/httpstream/wsstream"

	"github.com/berth-project/berth/adapters/kubernetes/convert"
	"github.com/berth-project/berth/adapters/kubernetes/explain"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins"
)

const token = "the-token"

// authorized lets only those through who have the token, as the real servers do.
func authorized(handler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+token {
			status(w, http.StatusUnauthorized, "Unauthorized")
			return
		}
		handler.ServeHTTP(w, r)
	})
}

func status(w http.ResponseWriter, code int, message string) {
	answer(w, code, &metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusFailure, Code: int32(code), Message: message,
		Reason: map[int]metav1.StatusReason{http.StatusNotFound: metav1.StatusReasonNotFound}[code],
	})
}

func answer(w http.ResponseWriter, code int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(v)
}

type obliging struct{}

func (obliging) Bind(context.Context, *model.Workload, model.Binding) error { return nil }
func (obliging) Evict(context.Context, *model.Workload, string) error       { return nil }

// newScheduler serves what a real engine has to say: pod default/web is on node a,
// which has 2 processors, one of them taken, and pod shop/big waits.
func newScheduler(t *testing.T) *httptest.Server {
	t.Helper()
	e, err := engine.New(engine.Config{
		Profiles: []extpoints.Profile{plugins.DefaultProfile()}, Orchestrator: obliging{},
	})
	if err != nil {
		t.Fatal(err)
	}
	pods := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	web := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web", UID: "uid-web"}}
	big := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "big", UID: "uid-big"}}
	var workloads []*model.Workload
	for _, p := range []*v1.Pod{web, big} {
		p.Spec.SchedulerName = v1.DefaultSchedulerName
		w, err := convert.Pod(p)
		if err != nil {
			t.Fatal(err)
		}
		workloads = append(workloads, w)
		if err := pods.Add(p); err != nil {
			t.Fatal(err)
		}
	}
	workloads[0].Requests.CPU, workloads[1].Requests.CPU = 1000, 64000
	err = e.Apply(
		engine.PutNode(&model.Node{Name: "a", Allocatable: model.Resources{CPU: 2000, Memory: 1 << 40}}),
		engine.Adopt(workloads[0], model.Binding{Node: "a"}),
		engine.Submit(workloads[1]))
	if err != nil {
		t.Fatal(err)
	}
	handler := explain.NewHandler(e, explain.Options{Profiles: []string{v1.DefaultSchedulerName}, Pods: corelisters.NewPodLister(pods)})
	server := httptest.NewTLSServer(authorized(handler))
	t.Cleanup(server.Close)
	return server
}

// cluster is an API server as far as the plugin needs one.
type cluster struct {
	objects map[string]any // by path
	sockets bool           // forwards by websockets, and not by SPDY alone
	forward bool           // forwards at all

	mu      sync.Mutex
	dialed  []string // the protocols of forwards
	kubelet *url.URL
}

func (c *cluster) start(t *testing.T) *httptest.Server {
	t.Helper()
	c.startKubelet(t)
	server := httptest.NewTLSServer(authorized(c))
	t.Cleanup(server.Close)
	return server
}

func (c *cluster) startKubelet(t *testing.T) {
	t.Helper()
	kubelet := httptest.NewServer(http.HandlerFunc(forwardStreams))
	t.Cleanup(kubelet.Close)
	var err error
	if c.kubelet, err = url.Parse(kubelet.URL); err != nil {
		t.Fatal(err)
	}
}

func (c *cluster) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	object, known := c.objects[r.URL.Path]
	switch {
	case strings.HasSuffix(r.URL.Path, "/portforward") && c.forward:
		c.forwards(w, r)
	case known && r.Method == http.MethodGet:
		answer(w, http.StatusOK, object)
	default:
		status(w, http.StatusNotFound, r.URL.Path+" not found")
	}
}

// forwards hands the connection on to the kubelet, as the API server does.
func (c *cluster) forwards(w http.ResponseWriter, r *http.Request) {
	protocol, handler := "spdy", http.Handler(utilproxy.NewUpgradeAwareHandler(c.kubelet, nil, false, true, responder{}))
	if wsstream.IsWebSocketRequest(r) {
		if !c.sockets {
			status(w, http.StatusBadRequest, "there are no websockets here")
			return
		}
		protocol, handler = "websocket", proxy.NewTunnelingHandler(handler)
	}
	c.mu.Lock()
	c.dialed = append(c.dialed, protocol)
	c.mu.Unlock()
	handler.ServeHTTP(w, r)
}

type responder struct{}

func (responder) Error(w http.ResponseWriter, _ *http.Request, err error) {
	status(w, http.StatusInternalServerError, err.Error())
}

// forwardStreams is the kubelet: it connects every stream for data with the local port that it names.
func forwardStreams(w http.ResponseWriter, r *http.Request) {
	if _, err := httpstream.Handshake(r, w, []string{"portforward.k8s.io"}); err != nil {
		return
	}
	var streams sync.WaitGroup
	failures := make(chan httpstream.Stream, 1)
	connection := spdy.NewResponseUpgrader().UpgradeResponse(w, r, func(s httpstream.Stream, replied <-chan struct{}) error {
		if s.Headers().Get(v1.StreamType) != v1.StreamTypeData {
			failures <- s
			return nil
		}
		streams.Go(func() {
			<-replied
			failure := <-failures // the one for failures comes first
			defer func() { _, _ = failure.Close(), s.Close() }()
			to, err := net.Dial("tcp", "127.0.0.1:"+s.Headers().Get(v1.PortHeader))
			if err != nil {
				_, _ = io.WriteString(failure, err.Error())
				return
			}
			streams.Go(func() { _, _ = io.Copy(to, s); _ = to.Close() })
			_, _ = io.Copy(s, to)
		})
		return nil
	})
	if connection == nil {
		return
	}
	<-connection.CloseChan()
	_ = connection.Close()
	streams.Wait()
}

// kubectlBerth runs the plugin. No kubeconfig of the machine's counts.
func kubectlBerth(t *testing.T, in string, args ...string) (code int, out, complaints string) {
	t.Helper()
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none"))
	var stdout, stderr bytes.Buffer
	code = run(genericiooptions.IOStreams{In: strings.NewReader(in), Out: &stdout, ErrOut: &stderr}, args)
	return code, stdout.String(), stderr.String()
}

// port is the port of the server.
func port(t *testing.T, server *httptest.Server) string {
	t.Helper()
	u, err := url.Parse(server.URL)
	if err == nil && u.Port() == "" {
		err = errors.New("no port")
	}
	if err != nil {
		t.Fatal(err)
	}
	return u.Port()
}
