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
	"time"
)

// options are the sizes.
type options struct {
	dir                      string
	only                     string
	load                     string
	servers, agents, clients int
	jobs, elements, queued   int
	heartbeats, seconds      int
	ordered, places, mixed   int
	waiting                  int
	reservations             int
	unit                     time.Duration
}

// settings are the text of the servers' file of settings.
func (o *options) settings() string {
	text := ""
	if o.load != "" {
		text += "load: {policy: " + o.load + "}\n"
	}
	if o.reservations > 0 {
		text += fmt.Sprintf("reservations: %d\n", o.reservations)
	}
	return text
}

// part is one thing that is measured.
type part struct {
	name string
	run  func(context.Context, *options) error
}

var parts = []part{
	{"fsync", fsync}, {"throughput", throughput}, {"array", array}, {"queue", queue}, {"order", order}, {"fair", fair}, {"waiting", waiting}, {"mixed", mixed}, {"heartbeats", heartbeats},
}

func main() {
	var o options
	flag.StringVar(&o.dir, "dir", "", "folder for the servers' data, on the disk that is meant (default: a temporary one)")
	flag.StringVar(&o.only, "only", "", "parts to run, with commas")
	flag.StringVar(&o.load, "load", "", "policy by which measured load counts (the setting load.policy); agents report loads that differ each time")
	flag.IntVar(&o.reservations, "reservations", 0, "how many waiting jobs have a reservation (the setting reservations; 0: its default)")
	flag.IntVar(&o.servers, "servers", 1, "how many servers")
	flag.IntVar(&o.agents, "agents", 100, "how many simulated agents run tasks")
	flag.IntVar(&o.clients, "clients", 64, "how many clients submit at once")
	flag.IntVar(&o.jobs, "jobs", 20_000, "how many jobs are submitted one by one")
	flag.IntVar(&o.elements, "elements", 1_000_000, "how many elements the array has")
	flag.IntVar(&o.queued, "queued", 100_000, "how many jobs wait")
	flag.IntVar(&o.heartbeats, "heartbeats", 5_000, "how many agents only beat")
	flag.IntVar(&o.ordered, "ordered", 20_000, "how many jobs wait for few places")
	flag.IntVar(&o.places, "places", 50, "how many nodes of eight places they wait for")
	flag.IntVar(&o.waiting, "waiting", 20_000, "how many jobs wait for the places at all times, where many do")
	flag.IntVar(&o.mixed, "mixed", 450, "how many jobs of different sizes the mixture has")
	flag.DurationVar(&o.unit, "unit", time.Second, "what stands for a second in the mixture")
	flag.IntVar(&o.seconds, "seconds", 60, "how long agents beat, and after which time shares are looked at")
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
