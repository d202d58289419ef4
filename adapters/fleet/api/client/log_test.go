package client

import (
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/fleet/api"
)

// part answers with bytes of a log from a place on, and breaks off where it is not the
// end.
func part(w http.ResponseWriter, from int, text string, end bool) {
	w.Header().Set(api.OffsetHeader, fmt.Sprint(from))
	w.Header().Set(api.AttemptHeader, "2")
	_, _ = io.WriteString(w, text)
	_ = http.NewResponseController(w).Flush()
	if !end {
		panic(http.ErrAbortHandler)
	}
}

// A log that breaks off is taken up where it did, and from the same attempt, though
// there may be another one by now.
func TestLogIsTakenUp(t *testing.T) {
	f := newFleet(t, func(w http.ResponseWriter, _ *http.Request, n int) {
		switch n {
		case 0:
			part(w, 1000, "begin ", false)
		case 1:
			part(w, 1006, "", false)
		case 2: // the agent is started anew
			http.Error(w, `{"status":502,"code":"internal","message":"the agent does not answer"}`, http.StatusBadGateway)
		case 3:
			part(w, 1006, "middle ", false)
		default:
			part(w, 1013, "end", true)
		}
	})
	log, err := f.client(t, time.Minute).Logs(t.Context(), 17, api.LogQuery{Offset: -16})
	require.NoError(t, err)
	defer log.Close()
	text, err := io.ReadAll(log)
	require.NoError(t, err)
	require.Equal(t, "begin middle end", string(text))
	require.Equal(t, []string{
		"0 GET /v1/jobs/17/logs?offset=-16",
		"0 GET /v1/jobs/17/logs?attempt=2&offset=1006",
		"0 GET /v1/jobs/17/logs?attempt=2&offset=1006",
		"0 GET /v1/jobs/17/logs?attempt=2&offset=1006",
		"0 GET /v1/jobs/17/logs?attempt=2&offset=1013",
	}, f.asked)
}

// What is not kept any more is counted: at the beginning, where the log grew faster than it
// was read, and of what was to be the last bytes.
func TestDropped(t *testing.T) {
	for name, c := range map[string]struct {
		query   api.LogQuery
		answers []func(w http.ResponseWriter)
		dropped []int64 // before the first byte is read, and at the end
		text    string
	}{
		"nothing": {
			answers: []func(http.ResponseWriter){func(w http.ResponseWriter) { part(w, 0, "all", true) }},
			dropped: []int64{0, 0}, text: "all",
		},
		"the beginning": {
			query:   api.LogQuery{Offset: 10},
			answers: []func(http.ResponseWriter){func(w http.ResponseWriter) { part(w, 1000, "end", true) }},
			dropped: []int64{990, 990}, text: "end",
		},
		"while it was read": {
			answers: []func(http.ResponseWriter){
				func(w http.ResponseWriter) { part(w, 0, "begin ", false) },
				func(w http.ResponseWriter) { part(w, 20, "middle ", false) },
				func(w http.ResponseWriter) { part(w, 30, "end", true) },
			},
			dropped: []int64{0, 17}, text: "begin middle end",
		},
		"some of the last bytes": {
			query:   api.LogQuery{Offset: -10},
			answers: []func(http.ResponseWriter){func(w http.ResponseWriter) { part(w, 1000, "end", true) }},
			dropped: []int64{0, 7}, text: "end",
		},
		"all of the last bytes are there": {
			query:   api.LogQuery{Offset: -3},
			answers: []func(http.ResponseWriter){func(w http.ResponseWriter) { part(w, 1000, "end", true) }},
			dropped: []int64{0, 0}, text: "end",
		},
		"there were not as many": {
			query:   api.LogQuery{Offset: -10},
			answers: []func(http.ResponseWriter){func(w http.ResponseWriter) { part(w, 0, "all", true) }},
			dropped: []int64{0, 0}, text: "all",
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFleet(t, func(w http.ResponseWriter, _ *http.Request, n int) { c.answers[n](w) })
			log, err := f.client(t, time.Minute).Logs(t.Context(), 17, c.query)
			require.NoError(t, err)
			defer log.Close()
			require.Equal(t, c.dropped[0], log.Dropped())
			text, err := io.ReadAll(log)
			require.NoError(t, err)
			require.Equal(t, c.text, string(text))
			require.Equal(t, c.dropped[1], log.Dropped())
		})
	}
}

// What cannot be taken up ends with an error that says how far it got.
func TestLogThatIsLost(t *testing.T) {
	for name, c := range map[string]struct {
		then http.HandlerFunc
		want string
	}{
		"its node is gone": {func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, `{"status":404,"code":"not_found","message":"it ran on node n1"}`, http.StatusNotFound)
		}, "it ran on node n1"},
		"always again": {func(w http.ResponseWriter, _ *http.Request) { part(w, 6, "", false) }, "job 17, after byte 6"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFleet(t, func(w http.ResponseWriter, r *http.Request, n int) {
				if n == 0 {
					part(w, 0, "begin ", false)
				}
				c.then(w, r)
			})
			log, err := f.client(t, time.Second).Logs(t.Context(), 17, api.LogQuery{})
			require.NoError(t, err)
			defer log.Close()
			text, err := io.ReadAll(log)
			require.ErrorContains(t, err, c.want)
			require.Equal(t, "begin ", string(text))
		})
	}
}
