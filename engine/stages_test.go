package engine_test

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/model"
)

// stagesOf is a listener that notes the stages of one workload from Reserved on, and when
// it is in the queue again.
func stagesOf(id string, said *[]string) engine.Listener {
	note := func(w *model.Workload, stage, node string) {
		if w.ID == id {
			*said = append(*said, strings.TrimSpace(stage+" "+node))
		}
	}
	placed := func(e engine.PlacedEvent) { note(e.Workload, e.Stage, e.Binding.Node) }
	leaves := func(e engine.LeavingEvent) { note(e.Workload, e.Stage, e.Node) }
	return engine.Listener{
		Reserved: placed, Permitted: placed, Bound: placed, Confirmed: placed,
		Waiting:     func(e engine.WaitingEvent) { placed(e.PlacedEvent) },
		Rejected:    func(e engine.RejectedEvent) { note(e.Workload, "Rejected", "") },
		Terminating: leaves, Finished: leaves, Requeued: leaves, Removed: leaves,
	}
}

// What is reported while a workload is being bound is told of in order, and Bound never
// comes late.
func TestStagesWhileBeingBound(t *testing.T) {
	seen := engine.Confirm(model.Binding{Workload: "u", Node: "b"})
	elsewhere := engine.Confirm(model.Binding{Workload: "u", Node: "c"})
	for _, c := range []struct {
		name    string
		permit  bool              // it waits on Permit besides
		changes [][]engine.Change // each list is one Apply
		fails   bool              // Bind returns an error
		want    string
	}{
		{name: "nothing", want: "Permitted b, Bound b"},
		{name: "confirmed", changes: [][]engine.Change{{seen}}, want: "Permitted b, Bound b, Confirmed b"},
		{name: "confirmed, and the answer is lost", changes: [][]engine.Change{{seen}}, fails: true, want: "Permitted b, Bound b, Confirmed b"},
		{name: "confirmed elsewhere", changes: [][]engine.Change{{elsewhere}}, want: "Permitted b, Confirmed c"},
		{name: "confirmed on permit", permit: true, changes: [][]engine.Change{{seen}}, want: "Waiting b, Confirmed b"},
		{name: "confirmed and finished", changes: [][]engine.Change{{seen}, {engine.Finish("u")}}, want: "Permitted b, Bound b, Confirmed b, Finished b"},
		{name: "finished", changes: [][]engine.Change{{engine.Finish("u")}, {engine.Remove("u")}}, want: "Permitted b, Finished b, Removed"},
		{name: "terminated and finished", changes: [][]engine.Change{{engine.Terminate("u")}, {engine.Finish("u")}}, want: "Permitted b, Terminating b, Finished b"},
		{name: "removed", changes: [][]engine.Change{{engine.Remove("u")}}, want: "Permitted b, Removed b"},
		{name: "requeued", changes: [][]engine.Change{{engine.Requeue("u")}}, want: "Permitted b, Requeued b"},
		{name: "requeued on permit", permit: true, changes: [][]engine.Change{{engine.Requeue("u")}}, want: "Waiting b, Requeued b"},
		{name: "its node is lost", changes: [][]engine.Change{{engine.LoseNode("b")}}, want: "Permitted b, Requeued b"},
		{name: "it fails", fails: true, want: "Permitted b, Rejected"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var said []string
			cfg := config(&world{})
			cfg.Listener = stagesOf("u", &said)
			if c.permit {
				use(&cfg, &doorkeeper{time.Minute})
			}
			r, err := engine.NewRaw(cfg)
			require.NoError(t, err)
			apply(t, r, epoch, node("b", 1000), task("u", 100))
			require.True(t, r.Schedule(epoch))
			bind := r.NextTask()
			for _, changes := range c.changes {
				require.NoError(t, r.Apply(epoch, changes...))
			}
			if bind != nil {
				if c.fails {
					bind.Settle(errors.New("no answer"))
				}
				bind.Run(t.Context())
				r.Finish(epoch, bind)
			}
			require.Equal(t, "Reserved b, "+c.want, strings.Join(said, ", "))
		})
	}
}

// A batch tells of all that its workloads have come to.
func TestStagesOfABatch(t *testing.T) {
	found := running("u", "b", 100)
	moved := engine.Confirm(model.Binding{Workload: "u", Node: "c"})
	for _, c := range []struct {
		name    string
		changes [][]engine.Change
		want    string
	}{
		{"adopted", [][]engine.Change{{found}}, "Confirmed b"},
		{"adopted and told to go", [][]engine.Change{{found, engine.Terminate("u")}}, "Confirmed b, Terminating b"},
		{"adopted and ended", [][]engine.Change{{found, engine.Finish("u")}}, "Finished"},
		{"updated when it has ended", [][]engine.Change{{found}, {engine.Finish("u")}, {engine.Update(spec(task("u", 5)))}}, "Confirmed b, Finished b"},
		{"moved to another node", [][]engine.Change{{found}, {engine.Requeue("u"), moved}}, "Confirmed b, Confirmed c"},
		{"requeued and told to go", [][]engine.Change{{found}, {engine.Requeue("u"), engine.Terminate("u")}}, "Confirmed b, Terminating b"},
		{"removed and found again", [][]engine.Change{{found}, {engine.Remove("u"), running("u", "c", 100)}}, "Confirmed b, Removed b, Confirmed c"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var said []string
			cfg := config(&world{})
			cfg.Listener = stagesOf("u", &said)
			r, err := engine.NewRaw(cfg)
			require.NoError(t, err)
			apply(t, r, epoch, node("b", 1000))
			for _, changes := range c.changes {
				require.NoError(t, r.Apply(epoch, changes...))
			}
			require.Equal(t, c.want, strings.Join(said, ", "))
		})
	}
}

// One that leaves its node for another, or for none, in one batch leaves its room to those
// that wait for it.
func TestRoomThatIsLeftInABatchIsTaken(t *testing.T) {
	for name, then := range map[string]engine.Change{
		"for another node": engine.Confirm(model.Binding{Workload: "u", Node: "c"}),
		"for none":         engine.Terminate("u"),
	} {
		t.Run(name, func(t *testing.T) {
			r := newRaw(t, &world{})
			apply(t, r, epoch, node("b", 100), running("u", "b", 100), task("waits", 100))
			settle(r, epoch)
			require.Equal(t, "Pending", phaseOf(r, "waits"))
			apply(t, r, epoch, engine.Requeue("u"), then)
			later := epoch.Add(2e9) // when its backoff is over
			r.Tick(later)
			settle(r, later)
			require.Equal(t, "Bound@b", phaseOf(r, "waits"))
		})
	}
}

// What an orchestrator says of a workload that is being bound cancels Bind. Only
// Terminate keeps the room, also where Bind fails.
func TestWhatCancelsABinding(t *testing.T) {
	for name, c := range map[string]struct {
		change engine.Change
		keeps  bool
	}{
		"remove":    {engine.Remove("u"), false},
		"finish":    {engine.Finish("u"), false},
		"requeue":   {engine.Requeue("u"), false},
		"terminate": {engine.Terminate("u"), true},
	} {
		t.Run(name, func(t *testing.T) {
			o := newCutOff("b")
			r := newRaw(t, o)
			apply(t, r, epoch, node("b", 100), task("u", 100))
			require.True(t, r.Schedule(epoch))
			bind := r.NextTask()
			var ran sync.WaitGroup
			ran.Go(func() { bind.Run(t.Context()) })
			apply(t, r, epoch, c.change)
			ran.Wait()
			takes := func() bool { // the room of u
				b := r.Branch()
				require.NoError(t, b.Apply(epoch, engine.Submit(spec(task("probe", 100)))))
				d, err := b.Schedule(epoch, "probe")
				require.NoError(t, err)
				return !d.Placed()
			}
			require.Equal(t, c.keeps, takes())
			r.Finish(epoch, bind)
			require.Equal(t, c.keeps, takes(), "when Bind has failed")
			if c.keeps {
				require.Equal(t, "Terminating@b", phaseOf(r, "u"))
				apply(t, r, epoch, engine.Finish("u"))
				require.False(t, takes())
			}
		})
	}
}
