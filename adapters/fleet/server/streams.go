package server

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
	"github.com/berth-project/berth/adapters/fleet/state"
)

// openStream counts a stream, and refuses one too many. The request ends when what it
// shows is good no longer.
func (s *Server) openStream(r *request) (done func(), err error) {
	counted, ok := s.limits.openStream(r.who)
	if !ok {
		return nil, fail(http.StatusTooManyRequests, api.CodeRate, "too many streams are open; try again in a moment")
	}
	watched, err := s.watch(r)
	if err != nil {
		counted()
		return nil, err
	}
	return func() { watched(); counted() }, nil
}

// events answers GET /v1/events: a line for each event.
func (s *Server) events(r *request) (any, error) {
	done, err := s.openStream(r)
	if err != nil {
		return nil, err
	}
	defer done()
	q := r.URL.Query()
	wanted, err := eventFilter(r, q)
	if err != nil {
		return nil, err
	}
	after := q.Get("after")
	if after != "" && !state.IsEvent(after) {
		return nil, invalid("after", "%q is no ID of an event", after)
	}
	r.w.Header().Set("Content-Type", "application/x-ndjson")
	enc := json.NewEncoder(r.w)
	flush := http.NewResponseController(r.w)
	for {
		events, missed, more := s.state.Events().After(after)
		if missed && after != "" {
			if enc.Encode(api.Event{ID: after, At: time.Now().UTC(), Kind: api.EventMissed, Message: "events are missing here"}) != nil {
				return answered, nil
			}
		}
		for i := range events {
			after = events[i].ID
			if wanted(&events[i]) && enc.Encode(&events[i]) != nil {
				return answered, nil
			}
		}
		if flush.Flush() != nil || !r.flag("follow") {
			return answered, nil
		}
		select {
		case <-more:
		case <-r.lead.done: // the next leader's stream goes on after the last ID
			return answered, nil
		case <-r.Context().Done():
			return answered, nil
		}
	}
}

// eventFilter says which events a caller wants, and may see.
func eventFilter(r *request, q url.Values) (func(*api.Event) bool, error) {
	var id job.ID
	if text := q.Get("job"); text != "" {
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			return nil, invalid("job", "%q is no number of a job", text)
		}
		id = job.ID(n)
	}
	node := q.Get("node")
	return func(e *api.Event) bool {
		return (e.Job == 0 || r.mayHave(e.Owner)) && (id == 0 || e.Job == id) && (node == "" || e.Node == node)
	}, nil
}

// logs answers GET /v1/jobs/{id}/logs: what the agent of the task's node has.
func (s *Server) logs(r *request) (any, error) {
	done, err := s.openStream(r)
	if err != nil {
		return nil, err
	}
	defer done()
	v := s.state.View()
	j, err := r.job(v)
	if err != nil {
		return nil, err
	}
	task, node, err := r.task(v, j)
	if err != nil {
		return nil, err
	}
	stream := r.URL.Query().Get("stream")
	switch stream {
	case "":
		stream = "stdout"
	case "stdout", "stderr":
	default:
		return nil, invalid("stream", "it is stdout or stderr")
	}
	return s.copyLog(r, node, task, stream)
}

// task finds the task that the query names, and its node: of the last attempt, where
// none is named.
func (r *request) task(v state.View, j *state.Job) (job.TaskID, *state.Node, error) {
	id := job.TaskID{Job: j.ID}
	index, err := r.element(j)
	if err != nil {
		return id, nil, err
	}
	attempt, err := r.number("attempt", 0, 1<<30)
	if err != nil {
		return id, nil, err
	}
	rank, err := r.number("rank", 0, int(j.Spec.Tasks)-1)
	if err != nil {
		return id, nil, err
	}
	id.Element, id.Attempt, id.Rank = index, int32(attempt), int32(rank)
	nodes := []string(nil)
	if e := v.Element(j.ID, index); e != nil && e.Placed == j.Spec.Tasks && (attempt == 0 || e.Attempt == id.Attempt) {
		id.Attempt, nodes = e.Attempt, e.Nodes
	} else {
		for rec := range v.RecordsOfElement(j.ID, index) {
			if attempt == 0 || rec.Attempt == int32(attempt) {
				id.Attempt, nodes = rec.Attempt, rec.Nodes
			}
		}
	}
	if nodes == nil || nodes[rank] == "" {
		return id, nil, fail(http.StatusNotFound, api.CodeNotFound, "job %d has not run yet, or not as asked for", j.ID)
	}
	n := v.Node(nodes[rank])
	if n == nil {
		return id, nil, fail(http.StatusNotFound, api.CodeNotFound, "it ran on node %s, which is not there any more", nodes[rank])
	}
	return id, n, nil
}

// copyLog passes on what an agent has of a task. Where either side goes before the end
// the answer is cut off, so that it is not taken for all.
func (s *Server) copyLog(r *request, n *state.Node, task job.TaskID, stream string) (any, error) {
	q := url.Values{}
	for _, name := range []string{"offset", "limit", "follow"} {
		if text := r.URL.Query().Get(name); text != "" {
			q.Set(name, text)
		}
	}
	path := fmt.Sprintf("/v1/tasks/%s/logs/%s", task, stream)
	u := &url.URL{Scheme: "https", Host: n.Address, Path: path, RawQuery: q.Encode()}
	ask, err := http.NewRequestWithContext(r.Context(), http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, err
	}
	got, err := s.proxy.agentClient(n.Node).Do(ask)
	if err != nil {
		return nil, fail(http.StatusBadGateway, api.CodeInternal, "the agent of node %s does not answer; it has the log", n.Node)
	}
	defer got.Body.Close()
	if got.StatusCode != http.StatusOK {
		body, _ := io.ReadAll(io.LimitReader(got.Body, 1024))
		text := strings.TrimSpace(string(body))
		switch got.StatusCode {
		case http.StatusBadRequest:
			return nil, fail(http.StatusBadRequest, api.CodeInvalid, "node %s: %s", n.Node, text)
		case http.StatusNotFound:
			return nil, fail(http.StatusNotFound, api.CodeNotFound, "node %s: %s", n.Node, text)
		}
		return nil, fail(http.StatusBadGateway, api.CodeInternal, "the agent of node %s failed: %s", n.Node, got.Status)
	}
	for name, value := range map[string]string{
		"Content-Type": "application/octet-stream", "X-Content-Type-Options": "nosniff", "Cache-Control": "no-store",
		api.OffsetHeader: got.Header.Get(api.OffsetHeader), api.AttemptHeader: strconv.Itoa(int(task.Attempt)),
	} {
		r.w.Header().Set(name, value)
	}
	if _, err := io.Copy(&flushed{w: r.w, c: http.NewResponseController(r.w)}, got.Body); err != nil {
		panic(http.ErrAbortHandler)
	}
	return answered, nil
}

// flushed sends what is written at once.
type flushed struct {
	w io.Writer
	c *http.ResponseController
}

// Write implements io.Writer.
func (f *flushed) Write(p []byte) (int, error) {
	n, err := f.w.Write(p)
	if err == nil {
		err = f.c.Flush()
	}
	return n, err
}
