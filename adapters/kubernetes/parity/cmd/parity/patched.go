//go:build patched

package main

import (
	"github.com/berth-project/berth/adapters/kubernetes/parity/internal/differences"
	"github.com/berth-project/berth/adapters/kubernetes/parity/internal/pluginlevel"
)

func init() {
	linked["patchedplugins"] = func(o *options, number uint64, report *differences.Report) error {
		return pluginlevel.RunPatched(o.seed, number, report, pluginlevel.Mutation{})
	}
}
