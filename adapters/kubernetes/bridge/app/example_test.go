package app_test

import (
	"context"
	"fmt"
	"os"

	"k8s.io/apimachinery/pkg/runtime"
	fwk "k8s.io/kube-scheduler/framework"

	"github.com/berth-project/berth/adapters/kubernetes/bridge/app"
)

// quiet is a plugin of kube-scheduler's kind.
type quiet struct{}

func (quiet) Name() string { return "Quiet" }

// A main function for kube-scheduler with plugins of its own needs one other import.
func Example() {
	command := app.NewSchedulerCommand(
		app.WithPlugin("Quiet", func(context.Context, runtime.Object, fwk.Handle) (fwk.Plugin, error) { return quiet{}, nil }),
	)
	if err := command.Execute(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
