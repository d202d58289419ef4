package engine_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// noText is no UTF-8, and readable is what is recorded for it.
const noText, readable = "b\xffd", "b\uFFFDd"

// mumbler is a plugin that answers in texts that are none.
type mumbler struct{ handle extpoints.Handle }

func (*mumbler) Name() string { return "Mumbler" }

func (*mumbler) PreEnqueue(w *model.Workload) *extpoints.Status {
	if w.ID == "gated" {
		return extpoints.NewStatus(extpoints.Unschedulable, noText)
	}
	return nil
}

func (*mumbler) EventsToRegister() ([]extpoints.EventHint, error) { return nil, nil }

func (*mumbler) Permit(s *extpoints.CycleState, w *extpoints.WorkloadInfo, _ *model.Binding) (*extpoints.Status, time.Duration) {
	switch w.ID {
	case "refused":
		return extpoints.NewStatus(extpoints.Unschedulable, noText), 0
	case "broken":
		return extpoints.AsStatus(errors.New(noText)), 0
	case "waits", "calledOff":
		return extpoints.NewStatus(extpoints.Wait), time.Minute
	case "asks":
		s.Activate(noText)
	}
	return nil, 0
}

func (*mumbler) PostBind(context.Context, *extpoints.CycleState, *extpoints.WorkloadInfo, *model.Binding) {
	panic(noText)
}

// What plugins and orchestrators say is made text where it comes in, so that an engine and its
// replay go on from the same.
func TestReplayOfTextsThatAreNone(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	mumble := &mumbler{}
	failure := fmt.Errorf("%w: %s", extpoints.ErrNotThere, noText)
	var failed []string
	cfg := config(&world{onBind: func(_ context.Context, id string) error {
		if id == "unbound" {
			return failure
		}
		return nil
	}})
	extpoints.Use(&cfg.Profiles[0], func(_ extpoints.NoArgs, h extpoints.Handle) (*mumbler, error) {
		mumble.handle = h
		return mumble, nil
	}, extpoints.NoArgs{})
	cfg.Listener.Failed = func(e engine.FailedEvent) { failed = append(failed, e.Err.Error()) }
	again := cfg
	cfg.Recorder = engine.NewRecorder(&log)
	r, err := engine.NewRaw(cfg)
	require.NoError(t, err)
	require.NoError(t, r.Apply(epoch, node("n", 1000)))
	for _, id := range []string{"gated", "refused", "broken", "waits", "calledOff", "unbound", "asks"} {
		require.NoError(t, r.Apply(epoch, task(id, 1)))
		settle(r, epoch)
	}
	mumble.handle.Waiting().Get("waits").Reject("Mumbler", noText)
	mumble.handle.Activate(noText, "gated")
	r.Settle(epoch)
	r.CallOff(epoch, errors.New(noText))
	require.NotEmpty(t, failed)

	replayed, err := engine.Replay(again, strings.NewReader(log.String()))
	require.NoError(t, err)
	told := failed[:len(failed)/2]
	require.Equal(t, told, failed[len(told):], "the replay fails in the same words")
	for _, id := range []string{"gated", "refused", "broken", "waits", "calledOff", "unbound"} {
		want, err := r.Explain(epoch, id, engine.ExplainOptions{})
		require.NoError(t, err)
		got, err := replayed.Explain(epoch, id, engine.ExplainOptions{})
		require.NoError(t, err)
		text := want.String()
		require.Contains(t, text, readable, id)
		require.NotContains(t, text, noText, id)
		require.Equal(t, text, got.String(), id)
	}
}
