// Command withplugins is berth-scheduler with plugins of kubernetes-sigs/scheduler-plugins, as
// they are: the program in the README of package bridge. It is a user's main function for
// kube-scheduler with one import changed.
package main

import (
	"os"

	"k8s.io/component-base/cli"

	_ "sigs.k8s.io/scheduler-plugins/apis/config/scheme" // the arguments of the plugins
	"sigs.k8s.io/scheduler-plugins/pkg/noderesources"
	"sigs.k8s.io/scheduler-plugins/pkg/podstate"

	"github.com/berth-project/berth/adapters/kubernetes/bridge/app"
)

func main() {
	command := app.NewSchedulerCommand(
		app.WithPlugin(noderesources.AllocatableName, noderesources.NewAllocatable),
		app.WithPlugin(podstate.Name, podstate.New),
	)
	os.Exit(cli.Run(command))
}
