package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
)

// options are the sizes.
type options struct {
	dir                      string
	only                     string
	servers, agents, clients int
	jobs, elements, queued   int
	heartbeats, seconds      int
}

// part is one thing that is measured.
type part struct {
	name string
	run  func(context.Context, *options) error
}

var parts = []part{
	{"fsync", fsync}, {"throughput", throughput}, {"array", array}, {"queue", queue}, {"heartbeats", heartbeats},
}

func main() {
	var o options
	flag.StringVar(&o.dir, "dir", "", "folder for the servers' data, on the disk that is meant (default: a temporary one)")
	flag.StringVar(&o.only, "only", "", "parts to run, with commas")
	flag.IntVar(&o.servers, "servers", 1, "how many servers")
	flag.IntVar(&o.agents, "agents", 100, "how many simulated agents run tasks")
	flag.IntVar(&o.clients, "clients", 64, "how many clients submit at once")
	flag.IntVar(&o.jobs, "jobs", 20_000, "how many jobs are submitted one by one")
	flag.IntVar(&o.elements, "elements", 1_000_000, "how many elements the array has")
	flag.IntVar(&o.queued, "queued", 100_000, "how many jobs wait")
	flag.IntVar(&o.heartbeats, "heartbeats", 5_000, "how many agents only beat")
	flag.IntVar(&o.seconds, "seconds", 60, "how long agents beat")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, &o); err != nil {
		fmt.Fprintln(os.Stderr, "load:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o *options) error {
	if o.dir == "" {
		dir, err := os.MkdirTemp("", "berth-load-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		o.dir = dir
	}
	wanted := strings.FieldsFunc(o.only, func(r rune) bool { return r == ',' })
	for _, p := range parts {
		if len(wanted) > 0 && !slices.Contains(wanted, p.name) {
			continue
		}
		fmt.Printf("== %s\n", p.name)
		if err := p.run(ctx, o); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		if ctx.Err() != nil {
			return errors.New("interrupted")
		}
	}
	return nil
}
