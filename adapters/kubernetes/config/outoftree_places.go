package config

import (
	"errors"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-project/berth/plugins/helper"
	"github.com/berth-project/berth/plugins/networkoverhead"
	"github.com/berth-project/berth/plugins/noderesourcetopologymatch"
	"github.com/berth-project/berth/plugins/topologicalsort"
)

// topologyMatchArgs are NodeResourceTopologyMatchArgs of scheduler-plugins, apis/config/v1,
// commit 903da7df. What says how the cache there works is taken and does nothing here, and room
// that preemption makes in zones counts in either mode.
type topologyMatchArgs struct {
	metav1.TypeMeta `json:",inline"`
	ScoringStrategy struct {
		Type      string `json:"type"`
		Resources []struct {
			Name   string `json:"name"`
			Weight int64  `json:"weight"`
		} `json:"resources"`
	} `json:"scoringStrategy"`
	CacheResyncPeriodSeconds *int64 `json:"cacheResyncPeriodSeconds"`
	DiscardReservedNodes     bool   `json:"discardReservedNodes"`
	Cache                    struct {
		ForeignPodsDetect string `json:"foreignPodsDetect"`
		ResyncMethod      string `json:"resyncMethod"`
		InformerMode      string `json:"informerMode"`
		ResyncScope       string `json:"resyncScope"`
	} `json:"cache"`
	PreemptionMode string `json:"preemptionMode"`
}

func (a topologyMatchArgs) translate() (noderesourcetopologymatch.Args, error) {
	args := noderesourcetopologymatch.Args{Strategy: noderesourcetopologymatch.Strategy(a.ScoringStrategy.Type)}
	for _, r := range a.ScoringStrategy.Resources {
		args.Resources = append(args.Resources, noderesourcetopologymatch.ResourceWeight{Name: r.Name, Weight: max(r.Weight, 0)})
	}
	switch {
	case a.DiscardReservedNodes:
		args.Book = noderesourcetopologymatch.Wait
	case a.CacheResyncPeriodSeconds != nil && *a.CacheResyncPeriodSeconds > 0:
		args.Book = noderesourcetopologymatch.OverReserve
	}
	var problems []error
	for _, f := range []struct {
		field, value string
		allowed      []string
	}{
		{"cache.foreignPodsDetect", a.Cache.ForeignPodsDetect, []string{"All", "None", "OnlyExclusiveResources"}},
		{"cache.resyncMethod", a.Cache.ResyncMethod, []string{"Autodetect", "All", "OnlyExclusiveResources"}},
		{"cache.informerMode", a.Cache.InformerMode, []string{"Dedicated", "Shared"}},
		{"cache.resyncScope", a.Cache.ResyncScope, []string{"All", "OnlyResources"}},
		{"preemptionMode", a.PreemptionMode, []string{"Disabled", "Enabled"}},
	} {
		if f.value != "" && !slices.Contains(f.allowed, f.value) {
			problems = append(problems, fmt.Errorf("%s: %q is not one of %q", f.field, f.value, f.allowed))
		}
	}
	return args, errors.Join(problems...)
}

// appLabels are those of scheduler-plugins' applications, which are looked up in the namespaces.
func appLabels(namespaces []string) helper.AppLabels {
	if len(namespaces) == 0 {
		namespaces = []string{metav1.NamespaceDefault}
	}
	return helper.AppLabels{Graph: "appgroup.diktyo.x-k8s.io", Component: "appgroup.diktyo.x-k8s.io.workload", Namespaces: namespaces}
}

// networkOverheadArgs are NetworkOverheadArgs of scheduler-plugins, apis/config/v1, commit
// 903da7df.
type networkOverheadArgs struct {
	metav1.TypeMeta     `json:",inline"`
	Namespaces          []string `json:"namespaces"`
	WeightsName         string   `json:"weightsName"`
	NetworkTopologyName string   `json:"networkTopologyName"`
}

func (a networkOverheadArgs) translate() (networkoverhead.Args, error) {
	if a.WeightsName == "" {
		a.WeightsName = "UserDefined"
	}
	if a.NetworkTopologyName == "" {
		a.NetworkTopologyName = "nt-default"
	}
	return networkoverhead.Args{Labels: appLabels(a.Namespaces), Costs: a.NetworkTopologyName + "/" + a.WeightsName}, nil
}

// topologicalSortArgs are TopologicalSortArgs of scheduler-plugins, apis/config/v1, commit
// 903da7df.
type topologicalSortArgs struct {
	metav1.TypeMeta `json:",inline"`
	Namespaces      []string `json:"namespaces"`
}

func (a topologicalSortArgs) translate() (topologicalsort.Args, error) {
	return topologicalsort.Args{Labels: appLabels(a.Namespaces)}, nil
}
