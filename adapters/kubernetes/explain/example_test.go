package explain_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"

	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/berth-project/berth/adapters/inproc"
	"github.com/berth-project/berth/adapters/kubernetes/explain"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/plugins"
)

// Serve explanations beside an engine. Mount the handler behind authentication.
func Example() {
	profile := plugins.DefaultProfile()
	eng, err := engine.New(engine.Config{Profiles: []extpoints.Profile{profile}, Orchestrator: inproc.New(inproc.Options{})})
	if err != nil {
		fmt.Println(err)
		return
	}
	pods := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{}) // of an informer
	handler := explain.NewHandler(eng, explain.Options{Profiles: []string{profile.Name}, Pods: corelisters.NewPodLister(pods)})

	answer := httptest.NewRecorder()
	handler.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, explain.Path+"pods/default/web-1", nil))
	fmt.Println(answer.Code)
	// Output: 404
}
