package app

import (
	"errors"
	"fmt"
	"net/http"
	goruntime "runtime"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	genericapifilters "k8s.io/apiserver/pkg/endpoints/filters"
	apirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/server"
	genericfilters "k8s.io/apiserver/pkg/server/filters"
	"k8s.io/apiserver/pkg/server/flagz"
	"k8s.io/apiserver/pkg/server/healthz"
	"k8s.io/apiserver/pkg/server/mux"
	"k8s.io/apiserver/pkg/server/routes"
	"k8s.io/apiserver/pkg/server/statusz"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	cliflag "k8s.io/component-base/cli/flag"
	"k8s.io/component-base/configz"
	"k8s.io/component-base/logs"
	basemetrics "k8s.io/component-base/metrics"
	"k8s.io/component-base/metrics/legacyregistry"
	"k8s.io/component-base/metrics/prometheus/slis"
	zpagesfeatures "k8s.io/component-base/zpages/features"
	"k8s.io/klog/v2"
)

// endpoints are what is served.
type endpoints struct {
	// live and ready are the checks of /healthz and of /readyz; /livez has none.
	live, ready []healthz.HealthChecker
	// metrics are those of the scheduler; those of the process are served with them.
	metrics basemetrics.Gatherer
	// resources serves /metrics/resources while leading says so.
	resources http.Handler
	leading   func() bool
	// profiling is for /debug/pprof and /debug/flags/v; contention also profiles
	// where goroutines wait for each other, in the whole process.
	profiling, contention bool
	gates                 *gates
	flags                 cliflag.NamedFlagSets
	mounted               []mounted
}

// mounted is a handler of someone else's. A path that ends with a slash is for all
// paths that begin with it.
type mounted struct {
	path    string
	handler http.Handler
}

// handler serves the paths that kube-scheduler serves, and what is mounted.
//
// Rules: cmd/kube-scheduler/app/server.go newEndpointsHandler, 1.37.1.
func (e *endpoints) handler() http.Handler {
	paths := mux.NewPathRecorderMux(component)
	healthz.InstallHandler(paths, e.live...)
	healthz.InstallLivezHandler(paths)
	healthz.InstallReadyzHandler(paths, e.ready...)
	configz.InstallHandler(paths)
	paths.Handle("/metrics", metricsHandler(e.metrics))
	paths.HandleFunc("/metrics/resources", func(w http.ResponseWriter, r *http.Request) {
		if e.leading() { // one of several replicas is enough
			e.resources.ServeHTTP(w, r)
		}
	})
	slis.SLIMetricsWithReset{}.Install(paths)
	if e.profiling {
		routes.Profiling{}.Install(paths)
		if e.contention {
			goruntime.SetBlockProfileRate(1)
		}
		routes.DebugFlags{}.Install(paths, "v", routes.StringFlagPutHandler(logs.GlogSetter))
	}
	for _, m := range e.mounted {
		if strings.HasSuffix(m.path, "/") {
			paths.HandlePrefix(m.path, m.handler)
		} else {
			paths.Handle(m.path, m.handler)
		}
	}
	if e.gates.gate.Enabled(zpagesfeatures.ComponentFlagz) {
		flagz.Install(paths, component, flagz.NamedFlagSetsReader{FlagSets: e.flags})
	}
	if e.gates.gate.Enabled(zpagesfeatures.ComponentStatusz) {
		statusz.Install(paths, component, statusz.NewRegistry(e.gates.version, statusz.WithListedPaths(paths.ListedPaths())))
	}
	return paths
}

// metricsHandler serves the metrics together with those of the process. DELETE clears
// those of the process alone.
func metricsHandler(own basemetrics.Gatherer) http.Handler {
	process := legacyregistry.HandlerWithReset()
	all := basemetrics.HandlerFor(prometheus.Gatherers{legacyregistry.DefaultGatherer, own}, basemetrics.HandlerOpts{})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodDelete {
			process.ServeHTTP(w, r)
			return
		}
		all.ServeHTTP(w, r)
	})
}

// chained lets only those through to the handler who may, logs requests, and recovers
// panics.
//
// Rules: cmd/kube-scheduler/app/server.go buildHandlerChain, 1.37.1.
func chained(handler http.Handler, authn authenticator.Request, authz authorizer.UnconditionalAuthorizer) http.Handler {
	info := &apirequest.RequestInfoFactory{}
	handler = genericapifilters.WithAuthorization(handler, authz, clientscheme.Codecs)
	handler = genericapifilters.WithAuthentication(handler, authn, genericapifilters.Unauthorized(clientscheme.Codecs), nil, nil)
	handler = genericapifilters.WithRequestInfo(handler, info)
	handler = genericapifilters.WithCacheControl(handler)
	handler = genericfilters.WithHTTPLogging(handler)
	return genericfilters.WithPanicRecovery(handler, info)
}

// shutdownPatience is how long requests may take that are under way when serving
// ends (cmd/kube-scheduler/app/server.go Run, 1.37.1).
const shutdownPatience = 5 * time.Second

// serve serves the handler, and returns how to stop it: the function returns when
// nothing is served any more. Nothing is served where there is no port.
func serve(secure *server.SecureServingInfo, handler http.Handler) (stop func(), err error) {
	if secure == nil {
		return func() {}, nil
	}
	asked := make(chan struct{})
	stopped, closed, err := secure.Serve(handler, shutdownPatience, asked)
	if err != nil {
		close(asked)
		return nil, fmt.Errorf("start the secure server: %w", err)
	}
	return func() {
		close(asked)
		<-closed
		klog.Background().Info("[graceful-termination] secure server has stopped listening")
		<-stopped
		klog.Background().Info("[graceful-termination] secure server is exiting")
	}, nil
}

// syncedCheck is ready when the engine has been told of all that there was.
func syncedCheck(synced <-chan struct{}) healthz.HealthChecker {
	return healthz.NamedCheck("sched-handler-sync", func(*http.Request) error {
		select {
		case <-synced:
			return nil
		default:
			return errors.New("handlers are not fully synchronized")
		}
	})
}
