package explain_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/berth-project/berth/adapters/kubernetes/explain"
)

// A short text may stand for very many objects: they are counted before they are made.
func TestALongListIsTurnedDownBeforeItIsDecoded(t *testing.T) {
	w := newWorld(t, explain.Options{})
	many := strings.Repeat("{},", 300_000)
	for contentType, body := range map[string]string{
		"application/json": `{"apiVersion":"v1","kind":"PodList","items":[` + many + `{}]}`,
		"application/yaml": "apiVersion: v1\nkind: PodList\nitems: [" + many + "{}]\n",
	} {
		r := httptest.NewRequest(http.MethodPost, "/explain/simulate", strings.NewReader(body))
		r.Header.Set("Content-Type", contentType)
		answer := httptest.NewRecorder()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		w.handler.ServeHTTP(answer, r)
		runtime.ReadMemStats(&after)
		if answer.Code != http.StatusRequestEntityTooLarge {
			t.Errorf("%s: %d: %s", contentType, answer.Code, answer.Body)
		}
		// A pod takes some thousand bytes.
		if took := (after.TotalAlloc - before.TotalAlloc) >> 20; took > 300 {
			t.Errorf("%s: it took %d MiB", contentType, took)
		} else {
			t.Logf("%s: it took %d MiB", contentType, took)
		}
	}
}

// What is made of templates is bounded with all that is in it, and names that nothing can have are
// refused before they are in a thousand pods.
func TestWhatIsMadeOfTemplatesIsBounded(t *testing.T) {
	w := newWorld(t, explain.Options{})
	long, list := strings.Repeat("x", 96<<10), strings.Repeat("k, ", 10<<10)
	claims := ""
	for i := range 100 {
		claims += fmt.Sprintf("{metadata: {name: c%d}}, ", i)
	}
	for name, c := range map[string]struct{ body, says string }{
		"name":      {owner("apps/v1", "Deployment", long, "replicas: 1000; "+selects, ""), "objects[0]: metadata.name: must be no more than 253"},
		"namespace": {inNamespace(long, owner("apps/v1", "Deployment", "web", "replicas: 300; "+selects, "")), "objects[0]: metadata.namespace: must be no more than 63"},
		"beginning": {strings.ReplaceAll(strings.Repeat(yamlPod("x", "1", ""), 990), "name: \"x", "generateName: \"x") + yamlPod("-", "1m", ""), "pod/-: metadata.name: "},
		"templates": {owner("apps/v1", "StatefulSet", "db", "replicas: 200; "+selects+"; volumeClaimTemplates: ["+strings.Repeat("{}, ", 3000)+"]", ""), "volumeClaimTemplates: has 3000: a simulation takes at most 100 of a set"},
		"claims":    {owner("apps/v1", "StatefulSet", "db", "replicas: 200; "+selects+"; volumeClaimTemplates: ["+claims+"]", ""), "makes it 200 pods of "},
		"selector": {owner("apps/v1", "Deployment", "web", "replicas: 1000; selector: {matchExpressions: [{key: a, operator: NotIn, values: ["+list+"]}]}", ""),
			"makes it 1000 pods of "},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		w.refuses(http.MethodPost, "/explain/simulate", "application/yaml", c.body, http.StatusUnprocessableEntity, c.says)
		runtime.ReadMemStats(&after)
		if took := (after.TotalAlloc - before.TotalAlloc) >> 20; took > 300 {
			t.Errorf("%s: it took %d MiB", name, took)
		} else {
			t.Logf("%s: it took %d MiB", name, took)
		}
	}
}

// A client that sends slowly keeps no other waiting, and too many at once are rejected.
func TestSlowSenders(t *testing.T) {
	w := newWorld(t, explain.Options{})
	server := httptest.NewServer(w.handler)
	defer server.Close() // which waits for those who send
	var senders []io.Closer
	defer func() {
		for _, s := range senders {
			_ = s.Close()
		}
	}()
	var rejected atomic.Int32 // of those who send
	send := func() {
		body, sender := io.Pipe()
		r, err := http.NewRequest(http.MethodPost, server.URL+"/explain/simulate", body)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		go func() {
			if answer, err := server.Client().Do(r); err == nil {
				if answer.StatusCode == http.StatusTooManyRequests {
					rejected.Add(1)
				}
				_ = answer.Body.Close()
			}
		}()
		senders = append(senders, sender)
		if _, err := sender.Write([]byte("{")); err != nil {
			t.Fatal(err)
		}
	}
	ask := func() int {
		answer, err := server.Client().Get(server.URL + "/explain/queue")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = answer.Body.Close() }()
		return answer.StatusCode
	}
	for range 3 {
		send()
	}
	if code := ask(); code != http.StatusOK {
		t.Errorf("%d while others send", code)
	}
	for range 29 {
		send()
	}
	replaced := int32(0)
	for deadline := time.Now().Add(10 * time.Second); ask() != http.StatusTooManyRequests; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("nobody is turned down")
		}
		// A question that was being answered may have had the place of one who sends.
		for ; replaced < rejected.Load(); replaced++ {
			send()
		}
	}
}

// A question that is refused is answered before the end of its body.
func TestRefusedBeforeTheEnd(t *testing.T) {
	w := newWorld(t, explain.Options{})
	server := httptest.NewServer(w.handler)
	defer server.Close()
	for path, want := range map[string]int{
		"/explain/queue":              http.StatusMethodNotAllowed,
		"/explain/simulate?nobody=is": http.StatusBadRequest,
	} {
		body, sender := io.Pipe()
		r, err := http.NewRequest(http.MethodPost, server.URL+path, body)
		if err != nil {
			t.Fatal(err)
		}
		end := time.AfterFunc(10*time.Second, func() { _ = sender.Close() })
		answer, err := server.Client().Do(r)
		if !end.Stop() {
			t.Errorf("%s: it is answered when the body has ended", path)
		}
		_ = sender.Close()
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		if answer.StatusCode != want {
			t.Errorf("%s: %d, want %d", path, answer.StatusCode, want)
		}
		_ = answer.Body.Close()
	}
}
