package engine_test

import (
	"bytes"
	"errors"
	"io"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// fullDisk takes so many writes, and then none.
type fullDisk struct{ room int }

var errDiskFull = errors.New("no space left on device")

func (d *fullDisk) Write(p []byte) (int, error) {
	if d.room--; d.room < 0 {
		return 0, errDiskFull
	}
	return len(p), nil
}

// A recording that has failed is told of once, and can be asked about beside an engine
// that goes on.
func TestRecordingFails(t *testing.T) {
	t.Parallel()
	var told []error
	cfg := config(&world{})
	cfg.Recorder = engine.NewRecorder(&fullDisk{room: 2})
	cfg.Listener.Failed = func(e engine.FailedEvent) { told = append(told, e.Err) }
	e, err := engine.New(cfg)
	require.NoError(t, err)
	var asked sync.WaitGroup
	asked.Go(func() {
		for cfg.Recorder.Err() == nil {
		}
	})
	for _, change := range tasks(10, 100) {
		require.NoError(t, e.Apply(change))
	}
	asked.Wait()
	require.ErrorIs(t, cfg.Recorder.Err(), errDiskFull)
	require.Len(t, told, 1)
	require.ErrorIs(t, told[0], errDiskFull)
	require.ErrorContains(t, told[0], "nothing more is recorded")
	require.Equal(t, 10, e.QueueCounts().Active)
}

func TestARecorderBelongsToOneEngine(t *testing.T) {
	t.Parallel()
	cfg := config(&world{})
	cfg.Recorder = engine.NewRecorder(&bytes.Buffer{})
	_, err := engine.NewRaw(cfg)
	require.NoError(t, err)
	_, err = engine.NewRaw(cfg)
	require.ErrorIs(t, err, engine.ErrRecorderTaken)
	_, err = engine.Replay(cfg, &bytes.Buffer{})
	require.ErrorIs(t, err, engine.ErrRecorderTaken)
}

// secretArgs are arguments that are not for a log.
type secretArgs struct{}

func (secretArgs) MarshalJSON() ([]byte, error) { panic("not for you") }

// Arguments of plugins whose form as JSON cannot be had do not keep an engine from recording.
func TestArgumentsThatCannotBeWritten(t *testing.T) {
	cfg := config(&world{})
	extpoints.Use(&cfg.Profiles[0], func(secretArgs, extpoints.Handle) (friend, error) { return friend{}, nil }, secretArgs{})
	var log bytes.Buffer
	cfg.Recorder = engine.NewRecorder(&log)
	r, err := engine.NewRaw(cfg)
	require.NoError(t, err)
	require.NoError(t, r.StartRecording(epoch, engine.NewRecorder(&log)))
	require.Contains(t, log.String(), `"engine_test.secretArgs"`)
}

// What is wrong with a configuration, its profiles and its recorder is told at once; the
// recorder of a configuration that was refused is free.
func TestProblemsOfAConfigurationAreToldAtOnce(t *testing.T) {
	cfg := config(&world{})
	cfg.Workers = -1
	cfg.Profiles[0].Plugins = append(cfg.Profiles[0].Plugins, extpoints.Entry{Name: "Ghost"})
	cfg.Recorder = engine.NewRecorder(io.Discard)
	other := config(&world{})
	other.Recorder = cfg.Recorder
	_, err := engine.NewRaw(cfg)
	require.Error(t, err)
	_, err = engine.NewRaw(other)
	require.NoError(t, err)

	_, err = engine.NewRaw(cfg)
	require.ErrorContains(t, err, "config: Workers: -1 is negative")
	require.ErrorContains(t, err, `plugin "Ghost": has no function that makes it`)
	require.ErrorIs(t, err, engine.ErrRecorderTaken)
}

// A recording that begins in the middle makes the order by queues anew. What is asked before anything else
// is told goes by the definitions all the same.
func TestLimitsHoldRightAfterARecordingHasBegun(t *testing.T) {
	cfg := config(&world{})
	cfg.Order = engine.OrderByQueues
	r, err := engine.NewRaw(cfg)
	require.NoError(t, err)
	limit := &model.Limit{Name: "few", Queue: "lab", Scope: model.LimitSubtree, Measure: model.LimitCount, Amount: 1, Breach: model.LimitRefuse}
	queued := func(id string) engine.Change { return engine.Submit(&model.Workload{ID: id, Queue: "lab"}) }
	require.NoError(t, r.Apply(epoch, engine.PutObject(&model.Queue{Name: "lab"}), engine.PutObject(limit), queued("a")))
	queues := r.Queues()
	require.NoError(t, r.StartRecording(epoch, engine.NewRecorder(&bytes.Buffer{})))
	require.Equal(t, queues, r.Queues())
	require.ErrorContains(t, r.Apply(epoch, queued("b")), `limit "few": it would be 2, of at most 1`)
}
