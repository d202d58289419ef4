// Backfill runs logs of batch jobs through the engine and says how long jobs wait when
// others may start before them where there is room, and when they may not.
//
// Without a file it shows a small log that it makes up, and under each way of
// backfilling which job has which processors when:
//
//	backfill
//	backfill -swf KTH-SP2.swf.gz -procs 100 -backfill easy -estimates perfect
//	backfill -swf KTH-SP2.swf.gz -backfill k=4 -format json -out waits.jsonl
//	backfill -swf lublin.swf -priority sjf -backfill easy -window 1024 -starts 1981,2756
//
// Files are in the Standard Workload Format of the Parallel Workloads Archive, plain or
// compressed with gzip. It prints a table with a row for each way, or, with -format
// json, one line for each job in file order and one for the summary. It exits with
// 1 where something went wrong and with 2 where it was called wrongly.
//
// With -priority the program itself orders the jobs, by a published function, and asks
// the engine only what fits; -backfill is then none or easy. A job of easy starts early
// there only if it ends before the first job of the order is expected to start. Windows
// are runs of their own over that many jobs, from these indexes of the log's jobs on.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
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
	err := run(ctx, args, out)
	var usage *usageError
	switch {
	case err == nil || errors.Is(err, flag.ErrHelp):
		return 0
	case errors.As(err, &usage):
		fmt.Fprintln(errOut, err)
		return 2
	default:
		fmt.Fprintln(errOut, "backfill:", err)
		return 1
	}
}

// run is the program: arguments in, answer out.
func run(ctx context.Context, args []string, out io.Writer) error {
	o, err := parseOptions(args, out)
	if err != nil {
		return err
	}
	log, err := o.load()
	if err != nil {
		return err
	}
	results, err := o.simulate(ctx, log)
	if err != nil {
		return err
	}
	if o.format == formatJSON {
		return writeJSON(out, o.out, &results[0])
	}
	if o.demo() {
		for i := range results {
			if err := writeChart(out, &results[i]); err != nil {
				return err
			}
		}
	}
	return writeTable(out, results)
}
