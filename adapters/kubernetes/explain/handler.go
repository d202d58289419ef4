package explain

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	corelisters "k8s.io/client-go/listers/core/v1"
	schedulinglisters "k8s.io/client-go/listers/scheduling/v1"
	groupslisters "k8s.io/client-go/listers/scheduling/v1beta1"
	storagelisters "k8s.io/client-go/listers/storage/v1"
	"k8s.io/klog/v2"

	"github.com/berth-project/berth/adapters/kubernetes/convert"
	"github.com/berth-project/berth/adapters/kubernetes/queueing"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/model"
)

// Path is where the handler must be mounted: it serves all paths that begin with it.
const Path = "/explain/"

// Decisions is how many decisions the engine had better remember, for
// engine.Config.RememberDecisions; the package comment says what they take.
const Decisions = 1024

// maxAtOnce is how many questions that take work are answered at once: they must not
// take the processors away from scheduling. Others wait.
const maxAtOnce = 2

// maxPending is how many questions may be under way, those that wait and those that
// are being sent among them; more are rejected.
const maxPending = 32

// maxSending is how long a question may take to come in.
const maxSending = 30 * time.Second

// Options say what a handler looks things up in. It only reads; all must be fit for
// several goroutines at once.
type Options struct {
	// Profiles are the names of the engine's profiles. Required.
	Profiles []string
	// Pods are those that the engine is told of. Required.
	Pods corelisters.PodLister
	// Gates say what pods and pod groups mean, as the engine is told of them. Default:
	// kube-scheduler's defaults.
	Gates convert.Gates
	// OwnerSelector selects the pods that a pod is a replica among, as the engine is
	// told of pods that wait; see convert.OwnerSelector. Default: nothing.
	OwnerSelector func(*v1.Pod) *model.Selector
	// Translated is told of which pod of a simulation each workload was made; see
	// kubernetes.Options.Translated. It is called on the goroutines of requests. Default:
	// nobody is told.
	Translated func(made, object any)
	// Groups are the pod groups; they say which claims their members share. Default:
	// only those of the request.
	Groups groupslisters.PodGroupLister
	// PriorityClasses give pods in simulations their priority. Default: only those of
	// the request, where kubectl-berth puts what it finds in the cluster:
	// kube-scheduler may not read them.
	PriorityClasses schedulinglisters.PriorityClassLister
	// StorageClasses give the claims that StatefulSets of a simulation would have their class,
	// where a template names none. Default: such claims have none.
	StorageClasses storagelisters.StorageClassLister
	// Queueing is the second document of the configuration; see kubernetes.Options.Queueing. It
	// says which queue pods of a simulation are in. Default: none.
	Queueing *queueing.Configuration
	// Ready is closed when the engine knows the cluster; questions before that are
	// rejected. Default: it always does.
	Ready <-chan struct{}
	// Leads reports whether this scheduler is the one that places pods, of several with one
	// lease. It is called on the goroutines of requests. Default: it always is.
	Leads func() bool
}

// handler serves [Path].
type handler struct {
	engine *engine.Engine
	o      Options
	queue  chan struct{} // one for each question that is under way
	slots  chan struct{} // one for each that is being answered
}

// NewHandler returns a handler for [Path] and all below it. It starts nothing, and
// never changes what the engine does. The engine's lock it holds only to look things
// up: what takes longer is done on a copy.
func NewHandler(e *engine.Engine, o Options) http.Handler {
	h := &handler{engine: e, o: o, queue: make(chan struct{}, maxPending), slots: make(chan struct{}, maxAtOnce)}
	if h.o.OwnerSelector == nil {
		h.o.OwnerSelector = noOwners
	}
	mux := http.NewServeMux()
	mux.HandleFunc(Path+"pods/{namespace}/{name}", h.serve(http.MethodGet, h.explainPod, "uid"))
	mux.HandleFunc(Path+"queue", h.serve(http.MethodGet, h.listQueue, "namespace", "limit"))
	mux.HandleFunc(Path+"queues", h.serve(http.MethodGet, h.listQueues, "queue"))
	mux.HandleFunc(Path+"simulate", h.serve(http.MethodPost, h.simulate, "namespace"))
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		writeError(w, r, notFound("there is nothing at %s: it is %spods/{namespace}/{name}, %squeue, %squeues or %ssimulate", r.URL.Path, Path, Path, Path, Path))
	})
	return mux
}

func noOwners(*v1.Pod) *model.Selector { return nil }

// serve makes a handler of a function that answers requests of the method with the
// parameters.
func (h *handler) serve(method string, answer func(*http.Request) (any, error), parameters ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Method != method {
			w.Header().Set("Allow", method)
			writeError(w, r, refuse(w, r, wrongMethod(r.Method, method)))
			return
		}
		result, err := h.answer(w, r, answer, parameters)
		if err != nil {
			writeError(w, r, err)
			return
		}
		writeJSON(w, r, http.StatusOK, result)
	}
}

func (h *handler) answer(w http.ResponseWriter, r *http.Request, answer func(*http.Request) (any, error), parameters []string) (any, error) {
	if err := checkParameters(r, parameters); err != nil {
		return nil, refuse(w, r, err)
	}
	if h.o.Ready != nil {
		select {
		case <-h.o.Ready:
		default:
			return nil, refuse(w, r, apierrors.NewServiceUnavailable("the scheduler does not know the cluster yet: ask again in a few seconds"))
		}
	}
	select {
	case h.queue <- struct{}{}:
		defer func() { <-h.queue }()
	default:
		return nil, refuse(w, r, apierrors.NewTooManyRequests("there are too many questions at once", 1))
	}
	if r.Method == http.MethodPost {
		if err := receive(w, r); err != nil {
			return nil, refuse(w, r, err)
		}
	}
	select {
	case h.slots <- struct{}{}:
		defer func() { <-h.slots }()
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
	return answer(r)
}

// receive reads the whole body, before the question takes up a slot: who sends slowly
// keeps nobody waiting.
func receive(w http.ResponseWriter, r *http.Request) error {
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(maxSending)) // not known to all servers
	body, err := readBody(r)
	r.Body = io.NopCloser(bytes.NewReader(body))
	return err
}

// refuse gives up the rest of a body that is not read, and returns the error: the server would
// wait for the rest before it answers, and a client that sends slowly would have the connection
// for as long as it likes.
func refuse(w http.ResponseWriter, r *http.Request, err error) error {
	if r.ContentLength != 0 {
		_ = http.NewResponseController(w).SetReadDeadline(time.Now()) // not known to all servers
	}
	return err
}

// checkParameters refuses parameters that are not known, or there twice.
func checkParameters(r *http.Request, known []string) error {
	for name, values := range r.URL.Query() {
		switch {
		case !slices.Contains(known, name):
			return apierrors.NewBadRequest(fmt.Sprintf("there is no parameter %q: known are %s", name, strings.Join(known, ", ")))
		case len(values) > 1:
			return apierrors.NewBadRequest(fmt.Sprintf("parameter %q is there %d times", name, len(values)))
		}
	}
	return nil
}

func writeJSON(w http.ResponseWriter, r *http.Request, code int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(code)
	if err := json.NewEncoder(w).Encode(v); err != nil { // who asked has gone
		klog.FromContext(r.Context()).V(4).Info("An explanation was not sent", "path", r.URL.Path, "err", err)
	}
}
