package explain_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	v1 "k8s.io/api/core/v1"

	"github.com/berth-project/berth/adapters/kubernetes/explain"
	"github.com/berth-project/berth/adapters/kubernetes/explain/api"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/model"
)

// Questions are answered while the engine schedules, several at once, and it schedules
// what it has to all the same.
func TestQuestionsWhileTheEngineSchedules(t *testing.T) {
	for name, order := range map[string]engine.Order{"by priority": engine.OrderBySort, "by queues": engine.OrderByQueues} {
		t.Run(name, func(t *testing.T) {
			askWhileScheduling(newWorld(t, explain.Options{}, func(c *engine.Config) { c.Order = order }))
		})
	}
}

func askWhileScheduling(w *world) {
	const pods, askers = 200, 4
	t := w.t
	w.apply(engine.PutObject(&model.Queue{Name: "all"}), engine.PutObject(&model.Queue{Name: "some", Parent: "all", Weight: 1}))
	for i := range 8 {
		w.node(fmt.Sprintf("n%d", i), "100")
	}
	server := httptest.NewServer(w.handler)
	ctx, cancel := context.WithCancel(t.Context())
	var all, asking sync.WaitGroup
	all.Go(func() {
		if err := w.engine.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	submitted := make(chan struct{})
	for a := range askers {
		asking.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-submitted:
					return
				default:
					w.askLoudly(server.URL, a+i)
				}
			}
		})
	}
	for i := range pods {
		p := pod(fmt.Sprintf("p%d", i), "10m", priority(int32(i%3)))
		if i%20 == 0 {
			p = pod(p.Name, "1k")
		}
		w.submit(p, func(m *model.Workload) { m.Queue = []string{"", "all", "some"}[i%3] })
		if i > 10 && i%20 != 10 && i%7 == 0 {
			w.apply(engine.Remove(fmt.Sprintf("uid-p%d", i-10)))
		}
	}
	w.awaitPlaced()
	close(submitted)
	asking.Wait()
	server.Close()
	cancel()
	all.Wait()
}

// awaitPlaced waits until all pods have a node that fit somewhere.
func (w *world) awaitPlaced() {
	w.t.Helper()
	for view := w.engine.View(); ; {
		left := 0
		for p := range view.WorkloadsIn(model.Pending) {
			if p.Requests.CPU < 1000 {
				left++
			}
		}
		if left == 0 {
			return
		}
		var err error
		if view, err = view.Wait(w.t.Context(), engine.QueryPhase(model.Pending)); err != nil {
			w.t.Fatal(err)
		}
	}
}

// askLoudly asks one of several questions. It is an error where the answer is not one
// that could be.
func (w *world) askLoudly(url string, i int) {
	var answer *http.Response
	var err error
	switch path := url + fmt.Sprintf("/explain/pods/default/p%d", i%200); i % 5 {
	case 0:
		answer, err = http.Get(url + "/explain/queue?limit=20")
	case 1:
		answer, err = http.Post(url+"/explain/simulate", "application/yaml",
			strings.NewReader(yamlPod("x", "1", "  priority: 5")+yamlPod("y", "200", "  priority: 5")))
	case 2:
		answer, err = http.Get(url + "/explain/queues")
	default:
		answer, err = http.Get(path)
	}
	if err != nil {
		w.t.Error(err)
		return
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK && answer.StatusCode != http.StatusNotFound {
		w.t.Errorf("%v, %d: %s", err, answer.StatusCode, text)
	}
}

// Few questions are answered at once. A further one waits, and its client may give up.
func TestQuestionsThatWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hold := make(chan struct{})
		w := newWorld(t, explain.Options{OwnerSelector: func(*v1.Pod) *model.Selector {
			<-hold
			return nil
		}})
		w.node("a", "1")
		ask := func(ctx context.Context, answer *httptest.ResponseRecorder) func() {
			r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/explain/simulate", strings.NewReader(yamlPod("x", "1", "")))
			r.Header.Set("Content-Type", "application/yaml")
			return func() { w.handler.ServeHTTP(answer, r) }
		}
		var patient, impatient sync.WaitGroup
		var answers [3]*httptest.ResponseRecorder
		for i := range answers {
			answers[i] = httptest.NewRecorder()
			patient.Go(ask(t.Context(), answers[i]))
		}
		synctest.Wait()
		ctx, giveUp := context.WithCancel(t.Context())
		given := httptest.NewRecorder()
		impatient.Go(ask(ctx, given))
		synctest.Wait()
		giveUp()
		impatient.Wait()
		if given.Body.Len() > 0 {
			t.Errorf("who has given up gets %s", given.Body)
		}
		close(hold)
		patient.Wait()
		for _, answer := range answers {
			read[api.Simulation](w, answer)
		}
	})
}
