// Command berth-scheduler runs in the place of kube-scheduler 1.37.1, with the same
// flags and the same configuration file. See package app for a scheduler with plugins
// of one's own.
package main

import (
	"os"

	"k8s.io/component-base/cli"

	"github.com/berth-project/berth/adapters/kubernetes/app"
)

func main() { os.Exit(cli.Run(app.NewSchedulerCommand())) }
