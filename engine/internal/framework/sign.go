package framework

import (
	"fmt"
	"sort"
	"strings"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// Signature joins what the verdicts of all plugins on a node depend on. Two
// workloads with the same signature are interchangeable for the profile. It is
// empty where some plugin of PreFilter, Filter, PreScore or Score does not
// sign, or refuses to, and where there are extenders: what they go by nobody
// knows. (kube-scheduler framework/runtime/batch.go, 1.37.1.)
func (f *Framework) Signature(w *model.Workload) string {
	if len(f.env.Extenders) > 0 || !f.signsAll() {
		return ""
	}
	parts := []string{"profile=" + f.name}
	for _, p := range f.sign {
		var fragments []extpoints.SignFragment
		st := guard("Sign", p.Name(), func() (st *extpoints.Status) {
			fragments, st = p.Sign(w)
			return st
		})
		if !st.IsSuccess() {
			return ""
		}
		for _, fragment := range fragments {
			parts = append(parts, fmt.Sprintf("%s=%q", fragment.Key, fragment.Value))
		}
	}
	sort.Strings(parts)
	return strings.Join(parts, ";")
}

func (f *Framework) signsAll() bool {
	for _, p := range f.plugins {
		for _, point := range []extpoints.Point{"PreFilter", "Filter", "PreScore", "Score"} {
			if _, signs := extpoints.As[extpoints.SignPlugin](p); point.Serves(p) && !signs {
				return false
			}
		}
	}
	return true
}
