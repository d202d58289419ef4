//go:build unix

// Orchestrator is an orchestrator with an engine in it that can be killed at any moment and goes
// on when it is started again. It is a model for a program of your own that keeps a record
// (memory.go), starts things outside (process.go), and links the engine
// (orchestrator.go). It runs jobs as processes of a Unix, and its nodes are names:
//
//	go run ./examples/orchestrator -dir /tmp/jobs -jobs 50
//
// Kill it with -9 and start it again: each job still runs exactly once.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
)

func main() {
	if len(os.Args) == 4 && os.Args[1] == jobVerb {
		if err := work(os.Args[2], os.Args[3]); err != nil {
			fmt.Fprintln(os.Stderr, "job:", err)
			os.Exit(1)
		}
		return
	}
	dir := flag.String("dir", "jobs", "the `folder` that is its memory")
	jobs := flag.Int("jobs", 20, "how many jobs there are to run")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *dir, *jobs); err != nil {
		fmt.Fprintln(os.Stderr, "orchestrator:", err)
		os.Exit(1)
	}
}

// run submits the jobs that are not known yet, and returns when all have ended, or ctx has.
func run(ctx context.Context, dir string, jobs int) error {
	o, err := Open(dir, map[string]int64{"ant": 4, "bee": 4, "cat": 2})
	if err != nil {
		return err
	}
	fmt.Printf("%d jobs are known, of which %d have ended\n", len(o.memory.Jobs), o.memory.Ended())
	for i := range jobs {
		if err := o.Submit(Job{ID: fmt.Sprintf("job-%03d", i), Cores: int64(1 + i%3), Millis: 10 + i*7%40}); err != nil {
			return err
		}
	}
	if err := o.Run(ctx); err != nil {
		return err
	}
	fmt.Printf("%d of %d jobs have ended\n", o.memory.Ended(), len(o.memory.Jobs))
	return nil
}
