package app_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/berth-project/berth/adapters/kubernetes/app"
	"github.com/berth-project/berth/extpoints"
)

// quiet keeps pods away from nodes that have too many already.
type quiet struct{ most int }

func newQuiet(any, extpoints.Handle) (extpoints.Plugin, error) { return quiet{most: 3}, nil }

func (quiet) Name() string { return "Quiet" }

func (q quiet) Filter(_ *extpoints.CycleState, _ *extpoints.WorkloadInfo, node *extpoints.NodeInfo) *extpoints.Status {
	if len(node.Workloads) > q.most {
		return extpoints.NewStatus(extpoints.Unschedulable, "node(s) were too busy")
	}
	return nil
}

const file = `
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: default-scheduler
  plugins:
    filter:
      enabled: [{name: Quiet}]
`

// A main function makes a scheduler with a plugin of one's own. Here it is only asked
// what it would do; without --write-config-to it would run.
func Example() {
	dir, err := os.MkdirTemp("", "berth-scheduler")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(dir) }()
	config, effective := filepath.Join(dir, "config.yaml"), filepath.Join(dir, "effective.yaml")
	if err := os.WriteFile(config, []byte(file), 0o600); err != nil {
		fmt.Println(err)
		return
	}

	command := app.NewSchedulerCommand(app.WithPlugin("Quiet", newQuiet))
	command.SetArgs([]string{"--config", config, "--master", "http://localhost:8080", "--write-config-to", effective})
	if err := command.Execute(); err != nil { // in a main function: os.Exit(cli.Run(command))
		fmt.Println(err)
		return
	}

	text, err := os.ReadFile(effective)
	if err != nil {
		fmt.Println(err)
		return
	}
	_, filters, _ := strings.Cut(string(text), "    filter:\n")
	filters, _, _ = strings.Cut(filters, "    multiPoint:")
	fmt.Println(strings.Join(strings.Fields(filters), " "))
	// Output: enabled: - name: Quiet weight: 0
}
