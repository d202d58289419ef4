package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
)

// Log reads what a task has written. Where it breaks off, since a server, the agent or a
// connection ends, or because it was not read for a while, it is taken up at the next byte
// that is still kept.
type Log struct {
	client *Client
	ctx    context.Context // of all requests; a Read has none
	id     job.ID
	query  api.LogQuery // for the next request, once begun
	body   io.ReadCloser
	// known: the answers say where they begin.
	known bool
	// tail is how many bytes before the end were asked for, first where that begins.
	tail, first int64
	ended       bool // it was read to its end
	skipped     int64
}

// Dropped is how many bytes are missing from what has been read so far, because they were
// not kept: nodes keep the end of what a task writes.
func (r *Log) Dropped() int64 {
	if !r.known || r.tail == 0 || !r.ended {
		return r.skipped
	}
	// Where the log ended is known only now.
	return r.skipped + max(0, min(r.first, r.tail-(r.query.Offset-r.first)))
}

// open makes the request.
func (r *Log) open() error {
	q := &r.query
	//nolint:bodyclose // Close of the reader closes it.
	response, err := r.client.send(r.ctx, get(jobPath(r.id)+"/logs", values("element", number(q.Element),
		"attempt", number(q.Attempt), "rank", number(q.Rank), "stream", string(q.Stream), "offset", number(q.Offset),
		"follow", yes(q.Follow))))
	if err != nil {
		return err
	}
	r.body = response.Body
	offset, err := strconv.ParseInt(response.Header.Get(api.OffsetHeader), 10, 64)
	attempt, err2 := strconv.ParseInt(response.Header.Get(api.AttemptHeader), 10, 32)
	if r.known = err == nil && err2 == nil; r.known {
		if q.Offset < 0 {
			r.tail, r.first = -q.Offset, offset
		} else {
			r.skipped += max(0, offset-q.Offset)
		}
		q.Offset, q.Attempt = offset, int32(attempt)
	}
	return nil
}

// Read implements io.Reader.
func (r *Log) Read(p []byte) (int, error) {
	var since time.Time // when it broke off, with no byte since
	for {
		n, err := r.body.Read(p)
		r.query.Offset += int64(n)
		if n > 0 && err != nil && !errors.Is(err, io.EOF) {
			err = nil // the next call gets it again
		}
		r.ended = errors.Is(err, io.EOF)
		if n > 0 || err == nil || r.ended {
			return n, err
		}
		if since.IsZero() {
			since = time.Now()
		}
		if err := r.takeUp(since, err); err != nil {
			return 0, err
		}
	}
}

// takeUp goes on after an answer that broke off. It tries for as long as the client's
// patience lasts, while servers or agents say that they cannot by now.
func (r *Log) takeUp(since time.Time, broken error) error {
	r.body.Close()
	for {
		switch {
		case r.ctx.Err() != nil:
			return context.Cause(r.ctx)
		case !r.known || time.Since(since) > r.client.patience:
			return fmt.Errorf("reading the log of job %s, after byte %d: %w", r.id, r.query.Offset, broken)
		}
		if err := sleep(r.ctx, reconnect); err != nil {
			return err
		}
		if broken = r.open(); broken == nil {
			return nil
		}
		var answered *api.Error
		if errors.As(broken, &answered) && answered.Status < http.StatusInternalServerError {
			return broken
		}
	}
}

// Close implements io.Closer.
func (r *Log) Close() error { return r.body.Close() }
