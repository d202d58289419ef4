// Command parity compares Berth with the real kube-scheduler, with random input.
//
//	go run ./cmd/parity -level decision -n 200 -seed 1
//	go run ./cmd/parity -level decision -seed 1 -case 12 -v
//	go run ./cmd/parity -record ../../../engine/testdata/parity
//
// What can be compared: plugin (single plugins), groupplugin (those about groups),
// schedulerplugins (those of kubernetes-sigs/scheduler-plugins), queue, and whole decisions:
// decision (about pods), storage, devices, group and schedulerpluginsdecision. With the packages
// of the folder patches also patchedplugins and patcheddecision.
//
// It prints what was compared how often and what differed. The exit code is 1
// where a difference is not explained, and 2 where it could not be run. The
// README of the module says how to read a difference.
package main

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

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
	flag.StringVar(&o.level, "level", "plugin", "what to compare, single plugins or whole decisions: "+names())
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
	compare := levels[o.level]
	if compare == nil {
		return 0, fmt.Errorf("there is no level %q: want one of %s", o.level, names())
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
		if err := report.Run(again, func(r *differences.Report) error { return compare(o, number, r) }); err != nil {
			return 0, fmt.Errorf("case %d: %w", number, err)
		}
	}
	report.Print(os.Stdout)
	return report.Unexplained(), nil
}

// level compares with the case of that number.
type level func(o *options, number uint64, report *differences.Report) error

// levels are what can be compared. Those whose plugins want a patch are here where they are linked.
var levels = map[string]level{
	"plugin":           plugins(pluginlevel.Run),
	"groupplugin":      plugins(pluginlevel.RunGroups),
	"schedulerplugins": plugins(pluginlevel.RunSchedulerPlugins),
	"decision":         decisions(about("decision")),
	"storage":          decisions(about("storage")),
	"devices":          decisions(about("devices")),
	"group":            decisions(about("group")),
	"queue": func(o *options, number uint64, report *differences.Report) error {
		var q queuelevel.Options
		if o.tell {
			q.Tell = os.Stdout
		}
		return queuelevel.Run(o.seed, number, report, q)
	},
	"schedulerpluginsdecision": decisions(pluginlevel.SchedulerPluginsDecisions),
}

// plugins compares plugins, as they are: nothing is changed in them.
func plugins(run func(seed, number uint64, report *differences.Report, m pluginlevel.Mutation) error) level {
	return func(o *options, number uint64, report *differences.Report) error {
		return run(o.seed, number, report, pluginlevel.Mutation{})
	}
}

// decisions compares decisions about what the options of the case say.
func decisions(of func(number uint64) decisionlevel.Options) level {
	return func(o *options, number uint64, report *differences.Report) error {
		d := of(number)
		if o.tell {
			d.Tell = os.Stdout
		}
		return decisionlevel.Run(o.seed, number, report, d)
	}
}

func about(what decisionlevel.About) func(number uint64) decisionlevel.Options {
	return func(uint64) decisionlevel.Options { return decisionlevel.Options{About: what} }
}

// names are the levels there are, in order.
func names() string { return strings.Join(slices.Sorted(maps.Keys(levels)), ", ") }
