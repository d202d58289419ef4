package pluginlevel

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"

	"github.com/berth-project/berth/adapters/kubernetes/cel"
	"github.com/berth-project/berth/adapters/kubernetes/parity/generate"
	"github.com/berth-project/berth/plugins"
	"github.com/berth-project/berth/plugins/dynamicresources"
	"github.com/berth-project/berth/plugins/helper"
	"github.com/berth-project/berth/plugins/volumebinding"
)

// ofStorage are the plugins that are about volumes.
func ofStorage(s *generate.Source) []variant {
	least := []config.UtilizationShapePoint{{Utilization: 0, Score: 10}, {Utilization: 100, Score: 0}}
	return []variant{
		{plugin: plugins.VolumeRestrictions},
		{plugin: plugins.VolumeRestrictions, name: allHints},
		{plugin: plugins.NodeVolumeLimits},
		{plugin: plugins.NodeVolumeLimits, name: allHints},
		{plugin: plugins.VolumeZone},
		binding("", least),
		binding("other shape", shape(s)),
		{plugins.VolumeBinding, allHints, &config.VolumeBindingArgs{BindTimeoutSeconds: 600, Shape: least}, nil},
	}
}

func binding(name string, shape []config.UtilizationShapePoint) variant {
	sub := volumebinding.Args{}
	for _, p := range shape {
		sub.Shape = append(sub.Shape, helper.ShapePoint{Utilization: int64(p.Utilization), Score: int64(p.Score)})
	}
	return variant{plugins.VolumeBinding, name, &config.VolumeBindingArgs{BindTimeoutSeconds: 600, Shape: shape}, sub}
}

// ofDevices are the plugins that are about devices.
func ofDevices() []variant {
	two := []config.ResourceSpec{{Name: "cpu", Weight: 1}, {Name: "memory", Weight: 1}}
	return []variant{
		{plugin: plugins.DynamicResources, reference: &config.DynamicResourcesArgs{FilterTimeout: &metav1.Duration{Duration: 10 * time.Second}},
			subject: dynamicresources.Args{Evaluator: cel.New()}},
		fit("", config.NodeResourcesFitArgs{ScoringStrategy: &config.ScoringStrategy{Type: config.LeastAllocated, Resources: two}}),
	}
}
