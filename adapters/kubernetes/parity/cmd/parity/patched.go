//go:build patched

package main

import (
	"github.com/berth-project/berth/adapters/kubernetes/parity/internal/decisionlevel"
	"github.com/berth-project/berth/adapters/kubernetes/parity/internal/pluginlevel"
)

func init() {
	levels["patchedplugins"] = plugins(pluginlevel.RunPatched)
	levels["patcheddecision"] = decisions(func(uint64) decisionlevel.Options { return pluginlevel.PatchedDecisions() })
}
