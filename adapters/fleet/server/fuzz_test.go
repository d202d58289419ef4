package server

import (
	"errors"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
	"github.com/berth-project/berth/adapters/fleet/state"
)

// FuzzRequests: every body is read as what is sent to the routes, or refused with an
// error that says so; jobs that pass their checks are recorded.
func FuzzRequests(f *testing.F) {
	for _, text := range garbage() {
		if len(text) < 1<<10 {
			f.Add(text)
		}
	}
	f.Add(`{"jobs":[{"name":"x","command":["a"],"array":"0-9%2","after":[{"kind":"afterok","job":"@y"}]},{"name":"y","script":"#!/bin/sh"}],"key":"k"}`)
	f.Add(`{"node":"n1","tasks":[{"task":"1_0.1.0","state":"RUNNING","at":"2026-01-01T00:00:00Z","usage":{"cpuSeconds":1}}]}`)
	f.Add(`{"node":"n1","boot":"1","address":"a:1","machine":{"cpu":"4","memory":"1Gi","gpus":[{}],"labels":{"a":"b"}}}`)
	f.Add(`{"elements":"1-5","signal":"TERM"}`)
	f.Fuzz(func(t *testing.T, text string) {
		for _, into := range []any{
			&api.SubmitRequest{}, &api.Selection{}, &api.Drain{}, &api.Maintenance{}, &api.Labels{}, &api.Queue{},
			&api.TokenRequest{}, &api.JoinTokenRequest{}, &api.JoinRequest{}, &api.MemberRequest{},
			&api.Registration{}, &api.PollRequest{}, &api.ReportRequest{},
		} {
			r := &request{Request: httptest.NewRequest("POST", "/", strings.NewReader(text)), w: httptest.NewRecorder()}
			if err := r.decode(into, false); err != nil {
				var e *api.Error
				require.True(t, errors.As(err, &e))
				require.Contains(t, []int{400, 413}, e.Status)
				continue
			}
			switch in := into.(type) {
			case *api.SubmitRequest:
				record(t, in)
			case *api.ReportRequest:
				for i := range in.Tasks {
					if checkReport(&in.Tasks[i]) == nil {
						require.LessOrEqual(t, len(in.Tasks[i].Message), api.MaxMessage+3)
					}
				}
			}
		}
	})
}

// record has jobs recorded as submit does.
func record(t *testing.T, in *api.SubmitRequest) {
	specs := make([]job.Spec, len(in.Jobs))
	for i := range in.Jobs {
		specs[i] = in.Jobs[i].WithDefaults()
	}
	if job.Check(specs) != nil {
		return
	}
	text, err := (&state.Command{Submit: &state.Submit{Specs: specs, Owner: "alice", Key: in.Key}}).Encode()
	require.NoError(t, err)
	s := state.New(nil)
	r := s.Apply(1, 1, [][]byte{text})[0].(state.Result)
	if r.Err == nil {
		require.Len(t, r.Jobs, len(specs))
	}
}
