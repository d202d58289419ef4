// Command berth runs batch jobs on a fleet of machines: it is the server, the agent,
// and the command line.
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/berth-project/berth/adapters/fleet/agent/shim"
	"github.com/berth-project/berth/adapters/fleet/cli"
	"github.com/berth-project/berth/adapters/fleet/daemon"
)

func main() {
	if len(os.Args) == 3 && os.Args[1] == "shim" {
		os.Exit(shim.Main(os.Args[2])) // before anything else takes memory
	}
	os.Exit(run())
}

func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	v := version()
	return cli.Execute(ctx, cli.NewCommand(v,
		daemon.ServerCommand(v), daemon.AgentCommand(v), daemon.DevCommand(v), daemon.CACommand()))
}

// version is that of the module, or of the commit that it was built from.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	return info.Main.Version
}
