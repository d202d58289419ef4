package extender_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/extender"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins"
)

// The server chooses where room is made; a replay makes it there too, with no
// server to ask.
func TestPreemption(t *testing.T) {
	for _, test := range []struct {
		name, answer string
		want         string // who is evicted
	}{
		{"the one node", `{"NodeNameToMetaVictims":{"n2":{"Pods":[{"UID":"b"}]}}}`, "b"},
		{"the other node", `{"NodeNameToMetaVictims":{"n1":{"Pods":[{"UID":"a"}]}}}`, "a"},
		{"nowhere", `{}`, ""},
		{"a node without victims", `{"NodeNameToMetaVictims":{"n1":{}}}`, ""},
		{"a victim that is elsewhere", `{"NodeNameToMetaVictims":{"n1":{"Pods":[{"UID":"b"}]}}}`, ""},
		{"nonsense", `?`, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newServer(t, map[string]string{"/preempt": test.answer})
			var log bytes.Buffer
			var evicted []string
			cfg := engine.Config{
				Profiles: []extpoints.Profile{plugins.DefaultProfile()}, Orchestrator: &bench{},
				Extenders: []extpoints.Extender{newExtender(t, s.URL, func(c *extender.Config) {
					c.FilterVerb, c.PrioritizeVerb, c.BindVerb = "", "", ""
				}).Extender},
				Listener: engine.Listener{Evicting: func(e engine.EvictingEvent) { evicted = append(evicted, e.Workload.ID) }},
				Recorder: engine.NewRecorder(&log),
			}
			r, err := engine.NewRaw(cfg)
			require.NoError(t, err)
			room := model.Resources{CPU: 1000}
			full := func(node, id string) []engine.Change {
				return []engine.Change{
					engine.PutNode(&model.Node{Name: node, Allocatable: room}),
					engine.Adopt(&model.Workload{ID: id, Requests: room}, model.Binding{Node: node, Since: epoch}),
				}
			}
			require.NoError(t, r.Apply(epoch, append(full("n1", "a"), full("n2", "b")...)...))
			require.NoError(t, r.Apply(epoch, engine.Submit(&model.Workload{ID: "w", Priority: 10, Requests: room})))
			require.True(t, r.Schedule(epoch))
			if test.want == "" {
				require.Empty(t, evicted)
			} else {
				require.Equal(t, []string{test.want}, evicted)
			}
			require.Len(t, s.take(), 1)

			s.Close()
			done := evicted
			evicted, cfg.Recorder = nil, nil
			_, err = engine.Replay(cfg, bytes.NewReader(log.Bytes()))
			require.NoError(t, err)
			require.Equal(t, done, evicted)
		})
	}
}

// Of several things that are wrong with an answer it is always the same that is
// reported.
func TestPreemptionReportsTheSameError(t *testing.T) {
	s := newServer(t, map[string]string{"/preempt": `{"NodeNameToMetaVictims":{"b":{},"c":{},"a":{},"d":{}}}`})
	x := newExtender(t, s.URL, nil)
	w := &extpoints.WorkloadInfo{Workload: &model.Workload{ID: "w"}}
	for range 20 {
		_, err := x.Preempt(t.Context(), w, nil, noNodes{})
		require.EqualError(t, err, `the extender claims to preempt on node "a", which does not exist`)
	}
}

// noNodes has no node.
type noNodes struct{ extpoints.Nodes }

func (noNodes) Get(string) *extpoints.NodeInfo { return nil }
