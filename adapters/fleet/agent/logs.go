package agent

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/berth-project/berth/adapters/fleet/agent/internal/tasklog"
	"github.com/berth-project/berth/adapters/fleet/agent/shim"
	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
)

// logQuery is what is asked of a log.
type logQuery struct {
	offset int64 // negative: so many bytes before the end
	limit  int64
	follow bool
}

func parseLogQuery(v url.Values) (logQuery, error) {
	q := logQuery{limit: math.MaxInt64}
	var problems []error
	number := func(name string, field *int64) {
		if text := v.Get(name); text != "" {
			n, err := strconv.ParseInt(text, 10, 64)
			if err != nil {
				problems = append(problems, fmt.Errorf("%s: %q is not a number of bytes", name, text))
				return
			}
			*field = n
		}
	}
	number("offset", &q.offset)
	number("limit", &q.limit)
	if q.limit < 0 {
		problems = append(problems, fmt.Errorf("limit: %d is negative", q.limit))
	}
	if text := v.Get("follow"); text != "" {
		follow, err := strconv.ParseBool(text)
		if err != nil {
			problems = append(problems, fmt.Errorf("follow: %q is neither true nor false", text))
		}
		q.follow = follow
	}
	return q, errors.Join(problems...)
}

// serveLog streams a kept log.
func (a *Agent) serveLog(w http.ResponseWriter, r *http.Request) {
	id, err := job.ParseTaskID(r.PathValue("task"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	stream := r.PathValue("stream")
	if stream != tasklog.Stdout && stream != tasklog.Stderr {
		http.Error(w, fmt.Sprintf("%q is neither stdout nor stderr", stream), http.StatusBadRequest)
		return
	}
	q, err := parseLogQuery(r.URL.Query())
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	// The paths come from the checked ID, in its one way to be written.
	folder := filepath.Join(a.cfg.DataDir, "tasks", id.String())
	if status, text := whyNoLog(folder, id, stream); status != 0 {
		http.Error(w, text, status)
		return
	}
	log, err := tasklog.Open(folder, stream, q.offset)
	if err != nil {
		a.log.Error("a log cannot be read", "task", id, "error", err)
		http.Error(w, "the log cannot be read", http.StatusInternalServerError)
		return
	}
	defer log.Close()
	// What tasks write must not be taken for a page by a browser.
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set(api.OffsetHeader, strconv.FormatInt(log.Offset(), 10))
	w.WriteHeader(http.StatusOK)
	if !copyLog(r.Context(), w, log, q, folder) {
		panic(http.ErrAbortHandler) // what is written already is not all of it
	}
}

// whyNoLog says why there is none to serve; status 0: there is.
func whyNoLog(folder string, id job.TaskID, stream string) (status int, text string) {
	if _, err := os.Lstat(folder); err != nil {
		return http.StatusNotFound, fmt.Sprintf("nothing is kept here of a task %s", id)
	}
	t, err := shim.ReadTask(folder)
	if err != nil {
		return 0, ""
	}
	path := map[string]string{tasklog.Stdout: t.Stdout, tasklog.Stderr: t.Stderr}[stream]
	// The file of a task that never started is not looked for: its user may have no
	// right to know of it.
	s, err := shim.ReadStatus(folder)
	started := err == nil && !s.Started.IsZero()
	switch {
	case !started && hasEnded(folder):
		return http.StatusNotFound, fmt.Sprintf("task %s never started, so it has written nothing; \"berth job %s\" says why", id, id.Job)
	case path == "":
		return 0, ""
	case !started:
		return http.StatusNotFound, fmt.Sprintf("task %s has not started, so there is no %s", id, stream)
	}
	if _, err := os.Lstat(path); err != nil {
		return http.StatusNotFound, fmt.Sprintf("%s of task %s was written to %s, which is no longer on the node", stream, id, path)
	}
	return http.StatusNotFound, fmt.Sprintf("the job writes its %s to the file %s on the node", stream, path)
}

// followEvery is how often it is looked whether a log has grown.
const followEvery = 100 * time.Millisecond

// copyLog copies what is there, and with follow what comes until the task has ended. It
// reports false where that is not all: the reader went away or was too slow for what is
// kept, the disk failed, or the agent ends. A client that asks again, from where it broke
// off, is told by OffsetHeader what is missing.
func copyLog(ctx context.Context, w http.ResponseWriter, log *tasklog.Reader, q logQuery, folder string) bool {
	out := http.NewResponseController(w)
	rest := &io.LimitedReader{R: log, N: q.limit}
	for {
		// Ended before it was read to its end: then nothing more can come.
		ended := hasEnded(folder)
		_, err := io.Copy(w, rest)
		if errors.Is(err, tasklog.ErrDropped) {
			out.Flush() // what there is before the gap
		}
		if err != nil || rest.N == 0 || ended || !q.follow {
			return err == nil
		}
		if err := out.Flush(); err != nil || !pause(ctx, followEvery) {
			return false
		}
	}
}

func hasEnded(folder string) bool {
	if _, err := os.Lstat(filepath.Join(folder, "report.json")); err == nil {
		return true
	}
	s, err := shim.ReadStatus(folder)
	return err == nil && s.HasEnded()
}
