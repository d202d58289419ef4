// Command sidebyside measures kube-scheduler and berth-scheduler end to end, over
// real control planes on this machine, and prints both and the ratio. Each pair runs
// one after the other, in turns; figures of one run are only to be compared with each
// other.
//
//	go run ./cmd/sidebyside                                   # basic pods on 1,000 nodes, and the ceiling
//	go run ./cmd/sidebyside -workloads all -nodes 1000,5000
//	go run ./cmd/sidebyside -list -nodes 1000                 # what workloads there are, and how large they are
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"time"

	"github.com/berth-project/berth/adapters/kubernetes/e2e/controlplane"
	"github.com/berth-project/berth/adapters/kubernetes/e2e/sidebyside"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "sidebyside:", err)
		stop()
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("sidebyside", flag.ExitOnError)
	names := flags.String("workloads", "basic", "workloads, separated by commas, or all")
	sizes := flags.String("nodes", "1000", "numbers of nodes, separated by commas")
	kinds := flags.String("schedulers", "kube,berth", "schedulers, separated by commas")
	rounds := flags.Int("rounds", 1, "how often each is measured")
	list := flags.Bool("list", false, "print the workloads with the counts of upstream's scheduler_perf and those here, and measure nothing")
	ceiling := flags.Bool("ceiling", false, "measure too what the API server takes from clients that only bind")
	if err := flags.Parse(args); err != nil {
		return err
	}
	counts, err := numbers(*sizes)
	if err != nil {
		return fmt.Errorf("-nodes: %w", err)
	}
	if *list {
		return listWorkloads(os.Stdout, counts)
	}
	workloads := sidebyside.Workloads()
	if *names != "all" {
		if workloads, err = sidebyside.Find(strings.Split(*names, ",")); err != nil {
			return err
		}
	}
	if *ceiling {
		if err := ceilings(ctx); err != nil {
			return err
		}
	}
	fmt.Println("workload                 nodes   pods  scheduler   pods/s   took s   p50 ms   p99 ms    cpu s  rss MiB  server cpu s  events")
	for _, w := range workloads {
		for _, nodes := range counts {
			for range *rounds {
				if err := pair(ctx, w, nodes, strings.Split(*kinds, ",")); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// numbers reads numbers that are separated by commas.
func numbers(text string) ([]int, error) {
	var all []int
	for part := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(part)
		if err != nil {
			return nil, err
		}
		all = append(all, n)
	}
	return all, nil
}

func ceilings(ctx context.Context) error {
	for _, events := range []bool{false, true} {
		for _, clients := range []int{4, 16} {
			rate, err := sidebyside.Ceiling(ctx, clients, 5000, events)
			if err != nil {
				return err
			}
			what := "bindings alone"
			if events {
				what = "bindings with their events"
			}
			fmt.Printf("ceiling: %s, %d clients: %.0f pods/s\n", what, clients, rate)
		}
	}
	return nil
}

// pair measures the schedulers one after the other and prints each, and the ratio of
// the last to the first.
func pair(ctx context.Context, w sidebyside.Workload, nodes int, kinds []string) error {
	var results []*sidebyside.Result
	for _, kind := range kinds {
		r, err := sidebyside.Measure(ctx, controlplane.SchedulerKind(kind), w, nodes)
		if err != nil {
			return err
		}
		fmt.Printf("%-24s %5d  %5d  %-9s %8.0f %8.2f %8.2f %8.2f %8.1f %8d %13.1f %7d\n", r.Workload, r.Nodes, r.Measured, r.Scheduler,
			r.Rate, r.Took.Seconds(), milliseconds(r.P50), milliseconds(r.P99), r.CPU.Seconds(), r.PeakRSS>>20, r.ServerCPU.Seconds(), r.Events)
		results = append(results, r)
	}
	if len(results) == 2 {
		a, b := results[0], results[1]
		fmt.Printf("%-24s %5d         ratio     %7.2fx %7.2fx %7.2fx %7.2fx %7.2fx %7.2fx\n", w.Name, b.Nodes,
			b.Rate/a.Rate, ratio(b.Took, a.Took), ratio(b.P50, a.P50), ratio(b.P99, a.P99), ratio(b.CPU, a.CPU), float64(b.PeakRSS)/float64(a.PeakRSS))
	}
	return nil
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func ratio(a, b time.Duration) float64 { return float64(a) / float64(b) }
