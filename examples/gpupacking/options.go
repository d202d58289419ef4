package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/berth-project/berth/examples/gpupacking/trace"
)

// The output formats.
const (
	formatTable = "table"
	formatJSON  = "json"
)

// The seeds of the published runs, which are the default.
const publishedSeeds = "42,43,44,45,46,47,48,49,50,51"

// options are the flags; parseOptions says what each means.
type options struct {
	nodes, pods string
	policies    []trace.Policy
	seeds       []int64
	format      string
	bound       bool
	svg         string // file; empty: none
}

// usageError is everything that is wrong with the arguments, so that it can be
// mended in one go.
type usageError struct{ problems []string }

// Error lists the problems, one a line.
func (e *usageError) Error() string {
	const hint = "\nSee gpupacking -help."
	if len(e.problems) == 1 {
		return "gpupacking: " + e.problems[0] + hint
	}
	return "gpupacking: wrong arguments\n  " + strings.Join(e.problems, "\n  ") + hint
}

func (e *usageError) addf(format string, args ...any) {
	e.problems = append(e.problems, fmt.Sprintf(format, args...))
}

// parseOptions reads the flags. Help goes to out and is flag.ErrHelp; any other
// error is a *usageError.
func parseOptions(args []string, out io.Writer) (options, error) {
	var o options
	var policies, seeds string
	flags := flag.NewFlagSet("gpupacking", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // errors are returned
	flags.StringVar(&o.nodes, "nodes", "", "CSV `file` of nodes, plain or gzip; with -pods (default: a generated trace)")
	flags.StringVar(&o.pods, "pods", "", "CSV `file` of pods, plain or gzip; with -nodes")
	flags.StringVar(&policies, "policy", list(trace.Policies(), ","), "what to run: one policy, or several separated by commas")
	flags.StringVar(&seeds, "seeds", publishedSeeds, "what the order of pods and nodes is drawn from, separated by commas")
	flags.StringVar(&o.format, "format", formatTable, "table, or json for a line with all columns for each policy and seed")
	flags.BoolVar(&o.bound, "bound", false, "also print how much any policy that places all pods without GPUs could allocate at most")
	flags.StringVar(&o.svg, "svg", "", "`file` to draw allocation and fragmentation against arrived demand into")
	var wrong usageError
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		flags.SetOutput(out)
		fmt.Fprintln(out, "Usage: gpupacking [-nodes FILE -pods FILE] [-policy LIST] [-seeds LIST] [-format table|json] [-svg FILE] [-bound]")
		flags.PrintDefaults()
		return o, err
	case err != nil:
		wrong.addf("%v", err) // the flags after it are not known
	case flags.NArg() > 0:
		wrong.addf("unexpected argument %q", flags.Arg(0))
	}
	if (o.nodes == "") != (o.pods == "") {
		wrong.addf("-nodes and -pods go together: only one of them is given")
	}
	if o.format != formatTable && o.format != formatJSON {
		wrong.addf("-format: %q is neither %s nor %s", o.format, formatTable, formatJSON)
	}
	o.policies = parsePolicies(policies, &wrong)
	o.seeds = parseSeeds(seeds, &wrong)
	if len(wrong.problems) > 0 {
		return o, &wrong
	}
	return o, nil
}

func parsePolicies(text string, wrong *usageError) []trace.Policy {
	var policies []trace.Policy
	for name := range strings.SplitSeq(text, ",") {
		policy, err := trace.ParsePolicy(name)
		switch {
		case err != nil:
			wrong.addf("-policy: %q is none of %s", name, list(trace.Policies(), ", "))
		case slices.Contains(policies, policy):
			wrong.addf("-policy: %s is listed twice", policy)
		default:
			policies = append(policies, policy)
		}
	}
	return policies
}

func parseSeeds(text string, wrong *usageError) []int64 {
	var seeds []int64
	for number := range strings.SplitSeq(text, ",") {
		seed, err := strconv.ParseInt(number, 10, 64)
		switch {
		case errors.Is(err, strconv.ErrRange):
			wrong.addf("-seeds: %s is out of range", number)
		case err != nil:
			wrong.addf("-seeds: %q is not a whole number", number)
		case slices.Contains(seeds, seed):
			wrong.addf("-seeds: %d is listed twice", seed)
		default:
			seeds = append(seeds, seed)
		}
	}
	return seeds
}

// list joins the policies' names.
func list(policies []trace.Policy, separator string) string {
	names := make([]string, len(policies))
	for i, p := range policies {
		names[i] = string(p)
	}
	return strings.Join(names, separator)
}
