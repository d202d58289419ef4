// Fairshare shows how three departments share a cluster by queues: who borrows what the
// others leave, how they get back what is theirs, and what each has had in the end.
//
//	fairshare
//	fairshare -reclaim never
//	fairshare -order usage
//	fairshare -order arrival -hours 10
//	fairshare -svg shares.svg
//
// Physics has half of the cluster guaranteed, biology and chemistry a quarter each. Physics
// has work all day, and a lot of it; biology from three o'clock on, chemistry from five to
// eight. Each row of the output is a quarter of an hour, and its bar the cluster: a
// letter for each fiftieth of it. What nobody has guaranteed goes to those who use least of it now, or by
// usage to those who have used least, where the older counts less: then biology catches up on physics. The simulation runs through the engine, with a clock of its own, and
// is the same for the same seed. The exit code is 1 where something went wrong and 2 where
// it was called wrongly.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	os.Exit(command(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// command is the program with its exit code.
func command(ctx context.Context, args []string, out, errOut io.Writer) int {
	err := run(ctx, args, out)
	var usage *usageError
	switch {
	case err == nil || errors.Is(err, flag.ErrHelp):
		return 0
	case errors.As(err, &usage):
		fmt.Fprintln(errOut, err)
		return 2
	default:
		fmt.Fprintln(errOut, "fairshare:", err)
		return 1
	}
}

// run is the program: arguments in, answer out.
func run(ctx context.Context, args []string, out io.Writer) error {
	o, err := parseOptions(args, out)
	if err != nil {
		return err
	}
	r, err := simulate(ctx, o)
	if err != nil {
		return err
	}
	if o.svg != "" {
		if err := os.WriteFile(o.svg, drawing(r), 0o644); err != nil {
			return err
		}
	}
	return write(out, r)
}
