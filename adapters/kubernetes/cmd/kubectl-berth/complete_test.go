package main

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/berth-project/berth/adapters/kubernetes/explain/api"
)

func TestCompletionOfQueues(t *testing.T) {
	scheduler := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusOK, &api.QueueTree{Queues: []api.QueueUse{{Name: "all"}, {Name: "research"}, {Name: "rest"}, {}}})
	}))
	defer scheduler.Close()
	for begun, want := range map[string]string{"": "all\nresearch\nrest\n:4\n", "re": "research\nrest\n:4\n", "x": ":4\n"} {
		code, out, complaints := kubectlBerth(t, "", append([]string{"__complete"}, append(to(scheduler, "queues"), begun)...)...)
		if code != exitOK || out != want {
			t.Errorf("%q: exit code %d: %s%s", begun, code, out, complaints)
		}
	}
}
