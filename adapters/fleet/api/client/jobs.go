package client

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strconv"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
)

// segment is a part of a path. It may have any characters.
func segment(s string) string { return url.PathEscape(s) }

// unescaped is the path that an escaped one stands for.
func unescaped(path string) string {
	p, err := url.PathUnescape(path)
	if err != nil {
		return path // it was escaped by segment, so there is no error
	}
	return p
}

func jobPath(id job.ID) string { return "/v1/jobs/" + id.String() }

// values are the query's parameters that are not empty: names and values in turn.
func values(pairs ...string) url.Values {
	v := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			v.Set(pairs[i], pairs[i+1])
		}
	}
	return v
}

// number is n as a parameter, empty where it is 0.
func number[T int | int32 | int64](n T) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatInt(int64(n), 10)
}

// yes is a bool as a parameter.
func yes(b bool) string {
	if b {
		return "true"
	}
	return ""
}

// Submit submits jobs. A request without a key gets one, so that it is safe to
// repeat.
func (c *Client) Submit(ctx context.Context, r api.SubmitRequest) (api.SubmitResponse, error) {
	if r.Key == "" {
		r.Key = rand.Text()
	}
	return ask[api.SubmitResponse](ctx, c, post("/v1/jobs", r))
}

// JobFilter says which jobs a list has. What is empty does not matter.
type JobFilter struct {
	Owner, Queue, Name string // of the job
	// State may be several, with commas.
	State string
	Limit int    // how many on the page; 0: the default of the server
	After string // After of the page before; empty: the first page
}

// Jobs lists jobs, the newest first: one page of them.
func (c *Client) Jobs(ctx context.Context, f JobFilter) (api.JobList, error) {
	return ask[api.JobList](ctx, c, get("/v1/jobs", values("owner", f.Owner, "queue", f.Queue, "name", f.Name,
		"state", f.State, "limit", number(f.Limit), "after", f.After)))
}

// Job is one job.
func (c *Client) Job(ctx context.Context, id job.ID) (api.JobDetail, error) {
	return ask[api.JobDetail](ctx, c, get(jobPath(id), nil))
}

// JobElement is one job, with one of its elements, whatever state that is in, and the
// attempts of that one.
func (c *Client) JobElement(ctx context.Context, id job.ID, element int32) (api.JobDetail, error) {
	q := values("element", strconv.Itoa(int(element))) // also 0
	return ask[api.JobDetail](ctx, c, get(jobPath(id), q))
}

// Explain says why an element waits, or why it is where it is.
func (c *Client) Explain(ctx context.Context, id job.ID, element int32) (api.Explanation, error) {
	return ask[api.Explanation](ctx, c, get(jobPath(id)+"/explain", values("element", number(element))))
}

// Cancel ends elements.
func (c *Client) Cancel(ctx context.Context, id job.ID, s api.Selection) (api.Affected, error) {
	return ask[api.Affected](ctx, c, post(jobPath(id)+"/cancel", s))
}

// Hold keeps elements that wait from being started.
func (c *Client) Hold(ctx context.Context, id job.ID, s api.Selection) (api.Affected, error) {
	return ask[api.Affected](ctx, c, post(jobPath(id)+"/hold", s))
}

// Release undoes Hold.
func (c *Client) Release(ctx context.Context, id job.ID, s api.Selection) (api.Affected, error) {
	return ask[api.Affected](ctx, c, post(jobPath(id)+"/release", s))
}

// Requeue ends elements and has them tried again. It is not repeated where it may
// have been carried out.
func (c *Client) Requeue(ctx context.Context, id job.ID, s api.Selection) (api.Affected, error) {
	return ask[api.Affected](ctx, c, once(jobPath(id)+"/requeue", s))
}

// Logs is what a task has written. The caller closes it.
func (c *Client) Logs(ctx context.Context, id job.ID, q api.LogQuery) (*Log, error) {
	r := &Log{client: c, ctx: ctx, id: id, query: q}
	if err := r.open(); err != nil {
		return nil, err
	}
	return r, nil
}

// EventFilter says which events are wanted. What is zero does not matter.
type EventFilter struct {
	// After is the ID of the last event that is known.
	After string
	Job   job.ID // 0: of all jobs
	Node  string // empty: of all nodes
	// Follow: the stream goes on as things happen.
	Follow bool
}

// Events calls f with events in their order until f fails, the context ends, or,
// unless they are followed, there are no more. A stream that breaks off is taken
// up after its last event.
func (c *Client) Events(ctx context.Context, filter EventFilter, f func(api.Event) error) error {
	for {
		err := c.events(ctx, &filter, f)
		var broken *brokenStream
		if !errors.As(err, &broken) || ctx.Err() != nil {
			return err
		}
		if !filter.Follow {
			return fmt.Errorf("reading events: %w", broken.err)
		}
	}
}

// brokenStream is the error of a stream that ended before its time.
type brokenStream struct{ err error }

func (b *brokenStream) Error() string { return b.err.Error() }

// events reads one stream, and moves the filter's After along.
func (c *Client) events(ctx context.Context, filter *EventFilter, f func(api.Event) error) error {
	id := ""
	if filter.Job != 0 {
		id = filter.Job.String()
	}
	response, err := c.send(ctx, get("/v1/events", values("after", filter.After, "job", id, "node", filter.Node, "follow", yes(filter.Follow))))
	if err != nil {
		return err
	}
	defer response.Body.Close()
	for from := json.NewDecoder(response.Body); ; {
		var e api.Event
		err := from.Decode(&e)
		switch {
		case errors.Is(err, io.EOF) && !filter.Follow:
			return nil
		case err != nil && ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil:
			if pause := sleep(ctx, reconnect); pause != nil {
				return pause
			}
			return &brokenStream{err}
		}
		filter.After = e.ID
		if err := f(e); err != nil {
			return err
		}
	}
}
