// Quickstart schedules a made-up fleet with the engine and shows what came of
// it: 20,000 workloads with priorities, tolerations, node affinity, host ports
// and GPUs arrive at 1,000 nodes of several kinds, all at once.
//
//	quickstart
//	quickstart -nodes 200 -workloads 5000 -seed 7
//	quickstart -svg fleet.svg
//
// It prints how fast the decisions were made, how full the fleet is, what keeps
// the rest pending, the full explanation of two decisions, and a map of the fleet, which
// -svg writes as a picture too. It has colours on a terminal. Apart from the
// times it prints the same for the same flags: the engine's decisions do not
// depend on when bindings finish.
//
// schedule.go has all there is to embedding the engine; fleet.go and
// workloads.go make the input, and report.go, explain.go and fleetmap.go print.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"

	"github.com/hashicorp/go-hclog"
	"golang.org/x/term"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	os.Exit(command(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// errUsage is in every error of parseOptions.
var errUsage = errors.New("see quickstart -help")

// command is the program with its exit code: 1 where something went wrong, 2
// where it was called wrongly.
func command(ctx context.Context, args []string, out, errOut io.Writer) int {
	o, err := parseOptions(args, out)
	if err == nil {
		err = run(ctx, o, out, errOut)
	}
	switch {
	case err == nil || errors.Is(err, flag.ErrHelp):
		return 0
	case errors.Is(err, errUsage):
		fmt.Fprintln(errOut, "quickstart:", err)
		return 2
	default:
		fmt.Fprintln(errOut, "quickstart:", err)
		return 1
	}
}

// options are the flags; parseOptions says what each means.
type options struct {
	nodes, workloads int
	seed             uint64
	svg              string
	verbose          bool
}

// parseOptions reads the flags. The error lists everything that is wrong; help
// goes to out and is flag.ErrHelp.
func parseOptions(args []string, out io.Writer) (options, error) {
	var o options
	flags := flag.NewFlagSet("quickstart", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // errors are returned
	flags.IntVar(&o.nodes, "nodes", 1000, "how many nodes to make up")
	flags.IntVar(&o.workloads, "workloads", 20000, "how many workloads to make up")
	flags.Uint64Var(&o.seed, "seed", 1, "what the fleet and the workloads are drawn from")
	flags.StringVar(&o.svg, "svg", "", "also write the map of the fleet to this `file`, as a picture")
	flags.BoolVar(&o.verbose, "v", false, "log what happens to each workload, on the standard error")
	var problems []string
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		flags.SetOutput(out)
		fmt.Fprintln(out, "Usage: quickstart [-nodes N] [-workloads N] [-seed N] [-svg FILE] [-v]")
		flags.PrintDefaults()
		return o, err
	case err != nil:
		problems = append(problems, err.Error())
	case flags.NArg() > 0:
		problems = append(problems, fmt.Sprintf("unexpected argument %q", flags.Arg(0)))
	}
	if o.nodes < 1 {
		problems = append(problems, fmt.Sprintf("-nodes is %d: at least one is needed", o.nodes))
	}
	if o.workloads < 1 {
		problems = append(problems, fmt.Sprintf("-workloads is %d: at least one is needed", o.workloads))
	}
	if len(problems) > 0 {
		return o, fmt.Errorf("%s; %w", strings.Join(problems, "; "), errUsage)
	}
	return o, nil
}

// run is the program: make the input, schedule it, print what came of it.
func run(ctx context.Context, o options, out, errOut io.Writer) error {
	log := hclog.NewNullLogger()
	if o.verbose {
		log = hclog.New(&hclog.LoggerOptions{Name: "berth", Level: hclog.Debug, Output: errOut})
	}
	nodes := makeFleet(o.seed, o.nodes)
	workloads := makeWorkloads(o.seed, o.workloads)
	p := &printer{out: out, colours: isTerminal(out) && os.Getenv("NO_COLOR") == ""}
	p.header(o, nodes)

	result, err := schedule(ctx, nodes, workloads, log, newProgress(out, len(workloads), !o.verbose))
	if err != nil {
		return err
	}
	p.summary(result)
	p.utilisation(result)
	p.obstacles(result)
	if err := p.explanations(result); err != nil {
		return err
	}
	rows := fleetMap(result)
	p.fleet(rows)
	if o.svg != "" && p.err == nil {
		if err := os.WriteFile(o.svg, picture(rows), 0o600); err != nil {
			return fmt.Errorf("the picture: %w", err)
		}
		p.printf("  as a picture: %s\n", o.svg)
	}
	return p.err
}

// isTerminal reports whether somebody watches.
func isTerminal(out io.Writer) bool {
	f, ok := out.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
