package explain_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
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

// Who sends slowly keeps nobody waiting, and too many at once are turned down.
func TestSlowSenders(t *testing.T) {
	w := newWorld(t, explain.Options{})
	server := httptest.NewServer(w.handler)
	defer server.Close()
	send := func() io.Closer {
		body, sender := io.Pipe()
		r, err := http.NewRequest(http.MethodPost, server.URL+"/explain/simulate", body)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		go func() {
			if answer, err := server.Client().Do(r); err == nil {
				_ = answer.Body.Close()
			}
		}()
		if _, err := sender.Write([]byte("{")); err != nil {
			t.Fatal(err)
		}
		return sender
	}
	ask := func() int {
		answer, err := server.Client().Get(server.URL + "/explain/queue")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = answer.Body.Close() }()
		return answer.StatusCode
	}
	var senders []io.Closer
	for range 3 {
		senders = append(senders, send())
	}
	if code := ask(); code != http.StatusOK {
		t.Errorf("%d while others send", code)
	}
	for range 29 {
		senders = append(senders, send())
	}
	for deadline := time.Now().Add(10 * time.Second); ask() != http.StatusTooManyRequests; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("nobody is turned down")
		}
	}
	for _, s := range senders {
		_ = s.Close()
	}
}
