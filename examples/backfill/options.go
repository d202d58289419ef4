package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/berth-project/berth/examples/backfill/internal/simulation"
)

// The output formats, and what is told of run times before a job has ended.
const (
	formatText       = "text"
	formatJSON       = "json"
	estimatesUser    = "user"
	estimatesPerfect = "perfect"
)

// options are the flags; parseOptions says what each means.
type options struct {
	swf      string
	procs    int64
	perfect  bool
	backfill []simulation.Backfill
	priority simulation.Priority // empty: the order of submission, kept by the engine
	window   int
	starts   []int
	format   string
	out      string
}

// demo reports whether the program makes up the log.
func (o *options) demo() bool { return o.swf == "" }

// usageError is everything that is wrong with the arguments, so that it can be
// mended in one go.
type usageError struct{ problems []string }

// Error lists the problems, one a line.
func (e *usageError) Error() string {
	const hint = "\nSee backfill -help."
	if len(e.problems) == 1 {
		return "backfill: " + e.problems[0] + hint
	}
	return "backfill: wrong arguments\n  " + strings.Join(e.problems, "\n  ") + hint
}

func (e *usageError) addf(format string, args ...any) {
	e.problems = append(e.problems, fmt.Sprintf(format, args...))
}

// texts are the flags whose text is still to be understood.
type texts struct{ estimates, backfill, priority, starts string }

// parseOptions reads the flags. Help goes to out and is flag.ErrHelp; any other
// error is a *usageError.
func parseOptions(args []string, out io.Writer) (options, error) {
	var o options
	var t texts
	flags := flag.NewFlagSet("backfill", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // errors are returned
	flags.StringVar(&o.swf, "swf", "", "log `file` in the Standard Workload Format, plain or gzip (default: a generated log)")
	flags.Int64Var(&o.procs, "procs", 0, "processors of the machine (default: MaxProcs of the log's header, or MaxNodes)")
	flags.StringVar(&t.estimates, "estimates", estimatesUser, "what is known of run times: user, the requested time; or perfect, the run time")
	flags.StringVar(&t.backfill, "backfill", "", "`way`: none, easy, easy-sjf (shortest candidates first), conservative, or k=N for N reservations (default: several, compared)")
	flags.StringVar(&t.priority, "priority", "", "order jobs by this `function`: fcfs, sjf, f1, wfp3 or unicep (default: the engine has the order, first come first served)")
	flags.IntVar(&o.window, "window", 0, "`jobs` of a run, with -priority (default: all)")
	flags.StringVar(&t.starts, "starts", "0", "index of the first job of each window, from 0, separated by commas")
	flags.StringVar(&o.format, "format", formatText, "text, or json for a line for each job")
	flags.StringVar(&o.out, "out", "", "`file` for the lines of the jobs, with -format json (default: standard output)")
	var wrong usageError
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		flags.SetOutput(out)
		fmt.Fprintln(out, "Usage: backfill [-swf FILE] [flags]")
		flags.PrintDefaults()
		return o, err
	case err != nil:
		wrong.addf("%v", err) // the flags after it are not known
	case flags.NArg() > 0:
		wrong.addf("unexpected argument %q", flags.Arg(0))
	}
	flags.Visit(func(f *flag.Flag) {
		if f.Name == "procs" && (o.procs < 1 || o.procs > simulation.MaxProcs) {
			wrong.addf("-procs: %d is not in [1, %d]", o.procs, int64(simulation.MaxProcs))
		}
	})
	o.understand(t, &wrong)
	if len(wrong.problems) > 0 {
		return o, &wrong
	}
	return o, nil
}

// understand turns texts into values, and checks what goes together.
func (o *options) understand(t texts, wrong *usageError) {
	o.perfect = t.estimates == estimatesPerfect
	if !o.perfect && t.estimates != estimatesUser {
		wrong.addf("-estimates: %q is neither %s nor %s", t.estimates, estimatesUser, estimatesPerfect)
	}
	var err error
	if t.priority != "" {
		if o.priority, err = simulation.ParsePriority(t.priority); err != nil {
			wrong.addf("-priority: %v", err)
		}
	}
	o.understandBackfill(t, wrong)
	o.understandStarts(t.starts, wrong)
	if t.priority == "" && (o.window != 0 || t.starts != "0") {
		wrong.addf("-window and -starts need -priority")
	}
	switch {
	case o.format != formatText && o.format != formatJSON:
		wrong.addf("-format: %q is neither %s nor %s", o.format, formatText, formatJSON)
	case o.format == formatJSON && t.backfill == "":
		wrong.addf("-format json needs -backfill")
	case o.format != formatJSON && o.out != "":
		wrong.addf("-out needs -format json")
	}
}

// understandBackfill takes one way, or those that are compared.
func (o *options) understandBackfill(t texts, wrong *usageError) {
	ordered := []simulation.Backfill{simulation.None, simulation.EASY}
	switch b, err := simulation.ParseBackfill(t.backfill); {
	case t.backfill == "" && t.priority != "":
		o.backfill = ordered
	case t.backfill == "":
		o.backfill = []simulation.Backfill{simulation.None, simulation.EASY, simulation.Conservative}
	case err != nil:
		wrong.addf("-backfill: %v", err)
	case t.priority != "" && !slices.Contains(ordered, b):
		wrong.addf("-backfill: with -priority it is none or easy, not %s", b)
	default:
		o.backfill = []simulation.Backfill{b}
	}
}

func (o *options) understandStarts(text string, wrong *usageError) {
	if o.window < 0 {
		wrong.addf("-window: %d is negative", o.window)
	}
	for number := range strings.SplitSeq(text, ",") {
		start, err := strconv.Atoi(number)
		switch {
		case errors.Is(err, strconv.ErrRange):
			wrong.addf("-starts: %s is out of range", number)
		case err != nil:
			wrong.addf("-starts: %q is not a whole number", number)
		case start < 0:
			wrong.addf("-starts: %d is negative", start)
		default:
			o.starts = append(o.starts, start)
		}
	}
}
