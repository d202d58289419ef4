// Gpupacking repeats the GPU packing experiment of "Beware of Fragmentation"
// (USENIX ATC'23) with the engine: pods that ask for shares of a GPU, or for
// several, arrive at a cluster until their demand is 130 % of it, and policies
// compete in how much of the cluster they fill: the six of the publication, and
// Rollout, which looks further ahead, told the mix of pods or learning it.
//
// Without files it runs on a small trace that it makes up:
//
//	gpupacking
//	gpupacking -nodes nodes.csv -pods pods.csv -policy fgd -seeds 42,43 -format json
//	gpupacking -nodes nodes.csv -pods pods.csv -policy fgd,rollout,learned -bound -svg curves.svg
//
// It prints a table of the allocation at 100 % arrived demand, or with -format
// json one line for each policy and seed with all columns from 0 to 130 %. With -bound it
// says beside it how much of the cluster no policy can fill; that takes some seconds
// for each seed. It exits with 1 where something went wrong and with 2 where it was called
// wrongly.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"strings"

	"github.com/berth-project/berth/examples/gpupacking/internal/bound"
	"github.com/berth-project/berth/examples/gpupacking/internal/simulation"
	"github.com/berth-project/berth/examples/gpupacking/trace"
)

// The trace of a run without files.
const (
	generatedSeed  = 1
	generatedNodes = 100
	generatedPods  = 500
)

// gcPercent trades memory, of which a run needs little, for time.
const gcPercent = 400

func main() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	os.Exit(command(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// command is the program with its exit code.
func command(ctx context.Context, args []string, out, errOut io.Writer) int {
	err := run(ctx, args, out, withEngine)
	var usage *usageError
	switch {
	case err == nil || errors.Is(err, flag.ErrHelp):
		return 0
	case errors.As(err, &usage):
		fmt.Fprintln(errOut, err)
		return 2
	default:
		fmt.Fprintln(errOut, "gpupacking:", err)
		return 1
	}
}

func withEngine(ctx context.Context, t *trace.Trace, policy trace.Policy, seed int64, workers int) (trace.Run, error) {
	result, err := simulation.Run(ctx, t, policy, seed, workers)
	return result.Run, err
}

// run is the program: arguments in, answer out.
func run(ctx context.Context, args []string, out io.Writer, simulate simulator) error {
	o, err := parseOptions(args, out)
	if err != nil {
		return err
	}
	name, t, err := o.load()
	if err != nil {
		return err
	}
	bounds, err := o.bounds(ctx, t)
	if err != nil {
		return err
	}
	var runs []trace.Run
	err = runAll(ctx, t, o.jobs(), simulate, func(r trace.Run) error {
		r.Bound = bounds[r.Seed]
		runs = append(runs, r)
		if o.format == formatJSON {
			return trace.WriteJSON(out, r)
		}
		return nil
	})
	if err == nil && o.svg != "" {
		err = draw(o.svg, name, runs)
	}
	if err != nil || o.format == formatJSON {
		return err
	}
	return trace.WriteTable(out, name, runs)
}

// draw draws the runs into a file.
func draw(file, name string, runs []trace.Run) error {
	var b bytes.Buffer
	if err := trace.WriteSVG(&b, name, runs); err != nil {
		return err
	}
	return os.WriteFile(file, b.Bytes(), 0o644)
}

// boundSteps makes bounds that more steps improve by less than 0.01 points.
const boundSteps = 20_000

// bounds are, by seed, how much of the cluster no policy can fill beyond; see package
// bound. They are none where they are not asked for. The error is the context's.
func (o *options) bounds(ctx context.Context, t *trace.Trace) (map[int64]float64, error) {
	if !o.bound {
		return nil, nil
	}
	bounds := map[int64]float64{}
	for _, seed := range o.seeds {
		if err := context.Cause(ctx); err != nil {
			return nil, err
		}
		bounds[seed] = bound.Percent(t, bound.Arrived(t, seed), boundSteps)
	}
	return bounds, nil
}

// jobs lists what is to be run, in the order of the output.
func (o *options) jobs() []job {
	var jobs []job
	for _, policy := range o.policies {
		for _, seed := range o.seeds {
			jobs = append(jobs, job{policy, seed})
		}
	}
	return jobs
}

// load returns the trace and what to call it in the table: the pods' file
// without its endings.
func (o *options) load() (string, *trace.Trace, error) {
	if o.pods == "" {
		return "generated", trace.Generate(generatedSeed, generatedNodes, generatedPods), nil
	}
	t, err := trace.Load(o.nodes, o.pods)
	name := strings.TrimSuffix(filepath.Base(o.pods), ".gz")
	return strings.TrimSuffix(name, ".csv"), t, err
}
