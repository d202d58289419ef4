// Command pluginscheduler is what a user writes who wants Berth's scheduler with a
// plugin of her own.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/component-base/cli"

	"github.com/berth-project/berth/adapters/kubernetes/app"
	"github.com/berth-project/berth/extpoints"
)

func main() {
	os.Exit(cli.Run(app.NewSchedulerCommand(app.WithPlugin(name, newQuiet))))
}

const name = "Quiet"

// quiet keeps pods that are loud off nodes that are quiet, and likes nodes of a colour.
type quiet struct {
	// Colour is the value of the label "colour" of the nodes that it likes.
	Colour string `json:"colour"`
}

func newQuiet(args any, _ extpoints.Handle) (extpoints.Plugin, error) {
	unknown, ok := args.(*runtime.Unknown)
	if !ok {
		return nil, fmt.Errorf("%s: it wants a colour in its arguments", name)
	}
	q := &quiet{}
	return q, json.Unmarshal(unknown.Raw, q)
}

func (*quiet) Name() string { return name }

func (*quiet) Filter(_ *extpoints.CycleState, w *extpoints.WorkloadInfo, node *extpoints.NodeInfo) *extpoints.Status {
	if w.Labels["noise"] == "loud" && node.Node.Labels["noise"] == "none" {
		return extpoints.NewStatus(extpoints.Unschedulable, "node(s) were to be quiet")
	}
	return nil
}

func (q *quiet) Score(_ *extpoints.CycleState, _ *extpoints.WorkloadInfo, node *extpoints.NodeInfo) (int64, *extpoints.Status) {
	if node.Node.Labels["colour"] == q.Colour {
		return extpoints.MaxScore, nil
	}
	return extpoints.MinScore, nil
}
