package engine_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/queue"
)

// A workload that waits, and then asks for something else, is tried again where
// that makes it fit.
func TestAChangeOfDemandsWakes(t *testing.T) {
	for _, test := range []struct {
		name          string
		node          func(*model.Node)
		before, after func(*model.Workload)
	}{
		{"tolerations, as many as before",
			func(n *model.Node) { n.Taints = []model.Taint{{Key: "b", Effect: model.NoSchedule}} },
			func(w *model.Workload) {
				w.Tolerations = []model.Toleration{{Key: "a", Operator: model.Exists}}
			},
			func(w *model.Workload) {
				w.Tolerations = []model.Toleration{{Key: "b", Operator: model.Exists}}
			}},
		{"models of a device",
			func(n *model.Node) { n.Devices = []model.Device{{Class: "gpu", Model: "B"}} },
			func(w *model.Workload) {
				w.Devices = []model.DeviceRequest{{Class: "gpu", Count: 1, Share: model.WholeDevice, Models: []string{"A"}}}
			},
			func(w *model.Workload) {
				w.Devices = []model.DeviceRequest{{Class: "gpu", Count: 1, Share: model.WholeDevice, Models: []string{"B"}}}
			}},
		{"features",
			func(n *model.Node) { n.Features = []string{"B"} },
			func(w *model.Workload) { w.Features = []string{"A"} },
			func(w *model.Workload) { w.Features = []string{"B"} }},
		{"node selector",
			func(*model.Node) {},
			func(w *model.Workload) { w.NodeSelector = map[string]string{"a": "b"} },
			func(w *model.Workload) { w.NodeSelector = nil }},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := newRaw(t, &world{})
			n, w := node("n1", 1000), task("w", 1)
			test.node(nodeOf(n))
			test.before(spec(w))
			require.NoError(t, r.Apply(epoch, n, w))
			require.True(t, r.Schedule(epoch))
			p, _ := r.Queue("w")
			require.Equal(t, queue.Unschedulable, p.Place)
			changed := *spec(w)
			test.after(&changed)
			require.NoError(t, r.Apply(epoch.Add(time.Minute), engine.Update(&changed)))
			p, _ = r.Queue("w")
			require.Equal(t, queue.Active, p.Place)
		})
	}
}
