//go:build patched

package main

import (
	"os"

	"github.com/berth-project/berth/adapters/kubernetes/parity/internal/decisionlevel"
	"github.com/berth-project/berth/adapters/kubernetes/parity/internal/differences"
	"github.com/berth-project/berth/adapters/kubernetes/parity/internal/pluginlevel"
)

func init() {
	linked["patchedplugins"] = func(o *options, number uint64, report *differences.Report) error {
		return pluginlevel.RunPatched(o.seed, number, report, pluginlevel.Mutation{})
	}
	linked["patcheddecision"] = func(o *options, number uint64, report *differences.Report) error {
		d := pluginlevel.PatchedDecisions()
		if o.tell {
			d.Tell = os.Stdout
		}
		return decisionlevel.Run(o.seed, number, report, d)
	}
}
