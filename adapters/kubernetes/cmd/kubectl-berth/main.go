// Command kubectl-berth is a plugin for kubectl: where it is on the PATH, kubectl has
// the command "kubectl berth". It asks the scheduler why a pod is where it is, or
// nowhere, which pods wait, what queues allow, and where the pods in a file would go:
//
//	kubectl berth explain pod NAME
//	kubectl berth queue
//	kubectl berth queues
//	kubectl berth simulate -f pods.yaml
//
// It finds the leading scheduler by its lease and talks to it through the API server,
// or directly where --scheduler says where it is; see connect.go. It exits with 0, with
// 1 after an error, and simulate with 2 where some pod would not be placed by it.
//
// For kubectl to complete names there must be a program kubectl_complete-berth on the
// PATH as well, which runs: kubectl berth __complete "$@"
//
// What is where: command.go has the flags, explain.go, queue.go, queues.go and simulate.go
// the commands, and the files print*.go what they show; connect.go, leader.go, forward.go
// and client.go are the way to the scheduler.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"k8s.io/cli-runtime/pkg/genericiooptions"
)

func main() {
	os.Exit(run(genericiooptions.IOStreams{In: os.Stdin, Out: os.Stdout, ErrOut: os.Stderr}, os.Args[1:]))
}

// run runs the command and returns the exit code.
func run(streams genericiooptions.IOStreams, args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	cmd := newCommand(streams)
	cmd.SetArgs(args)
	err := cmd.ExecuteContext(ctx)
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, errUnplaced):
		return exitUnplaced
	}
	_, _ = fmt.Fprintln(streams.ErrOut, "error:", err)
	return exitError
}
