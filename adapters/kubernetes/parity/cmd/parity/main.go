// Command parity compares Berth with the real kube-scheduler, with random input.
//
//	go run ./cmd/parity -level plugin|groupplugin|schedulerplugins|decision|storage|devices|group|schedulerpluginsdecision|queue -n 200 -seed 1
//	go run ./cmd/parity -level decision -seed 1 -case 12 -v
//	go run ./cmd/parity -record ../../../engine/testdata/parity
//
// With the packages of the folder patches there are also the levels patchedplugins and patcheddecision.
//
// It prints what was compared how often and what differed. The exit code is 1
// where a difference is not explained, and 2 where it could not be run. The
// README of the module says how to read a difference.
package main

import (
	"flag"
	"fmt"
	"os"

	"github.com/berth-project/berth/adapters/kubernetes/parity/internal/decisionlevel"
	"github.com/berth-project/berth/adapters/kubernetes/parity/internal/differences"
	"github.com/berth-project/berth/adapters/kubernetes/parity/internal/pluginlevel"
	"github.com/berth-project/berth/adapters/kubernetes/parity/internal/queuelevel"
)

// options are the flags.
type options struct {
	level   string
	n, seed uint64
	only    int64
	tell    bool
	record  string
}

func main() {
	var o options
	flag.StringVar(&o.level, "level", "plugin", "what to compare: plugin, groupplugin (those about groups), schedulerplugins (those of kubernetes-sigs/scheduler-plugins), queue, or decisions: decision, storage, devices, group or schedulerpluginsdecision")
	flag.Uint64Var(&o.n, "n", 200, "how many cases")
	flag.Uint64Var(&o.seed, "seed", 1, "where the cases come from")
	flag.Int64Var(&o.only, "case", -1, "run only the case of this number")
	flag.BoolVar(&o.tell, "v", false, "tell everything that happens, except at the plugin level")
	flag.StringVar(&o.record, "record", "", "write a selection of decisions, of the level decision (the default), storage or group, into this directory, and compare nothing")
	flag.Parse()
	unexplained, err := run(&o)
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, "parity:", err)
		os.Exit(2)
	case unexplained > 0:
		os.Exit(1)
	}
}

func run(o *options) (unexplained int, err error) {
	if o.record != "" {
		about := decisionlevel.Pods
		if o.level != "plugin" { // the default
			about = decisionlevel.About(o.level)
		}
		files, err := decisionlevel.Record(o.record, about, o.seed)
		fmt.Println("recorded", files, "cases")
		return 0, err
	}
	report, err := differences.New()
	if err != nil {
		return 0, err
	}
	first, n := uint64(0), o.n
	if o.only >= 0 {
		first, n = uint64(o.only), 1
	}
	for number := first; number < first+n; number++ {
		again := fmt.Sprintf("go run ./cmd/parity -level %s -seed %d -case %d", o.level, o.seed, number)
		if err := report.Run(again, func(r *differences.Report) error { return runCase(o, number, r) }); err != nil {
			return 0, fmt.Errorf("case %d: %w", number, err)
		}
	}
	report.Print(os.Stdout)
	return report.Unexplained(), nil
}

// linked are the levels that are there only where their plugins are linked, with patches.
var linked = map[string]func(o *options, number uint64, report *differences.Report) error{}

func runCase(o *options, number uint64, report *differences.Report) error {
	switch o.level {
	case "plugin":
		return pluginlevel.Run(o.seed, number, report, pluginlevel.Mutation{})
	case "decision", "storage", "devices", "group":
		d := decisionlevel.Options{About: decisionlevel.About(o.level)}
		if o.tell {
			d.Tell = os.Stdout
		}
		return decisionlevel.Run(o.seed, number, report, d)
	case "groupplugin":
		return pluginlevel.RunGroups(o.seed, number, report, pluginlevel.Mutation{})
	case "schedulerplugins":
		return pluginlevel.RunSchedulerPlugins(o.seed, number, report, pluginlevel.Mutation{})
	case "schedulerpluginsdecision":
		d := pluginlevel.SchedulerPluginsDecisions(number)
		if o.tell {
			d.Tell = os.Stdout
		}
		return decisionlevel.Run(o.seed, number, report, d)
	case "queue":
		var q queuelevel.Options
		if o.tell {
			q.Tell = os.Stdout
		}
		return queuelevel.Run(o.seed, number, report, q)
	}
	if run := linked[o.level]; run != nil {
		return run(o, number, report)
	}
	return fmt.Errorf("there is no level %q: want plugin, groupplugin, schedulerplugins, queue, decision, storage, devices, group or schedulerpluginsdecision", o.level)
}
