package config

import (
	"reflect"
	"strings"

	configv1 "k8s.io/kube-scheduler/config/v1"

	"github.com/berth-project/berth/extpoints"
)

// multiPoint is the set whose plugins serve every point that they can.
const multiPoint = "multiPoint"

// point is a set of plugins in a file.
type point struct {
	name   string          // as in the file
	engine extpoints.Point // empty for MultiPoint
	field  int             // of configv1.Plugins
}

// points are MultiPoint and those of the engine's points that a file can configure,
// in the engine's order. PlacementFeasible is asked of every plugin that serves it.
var points = func() []point {
	var list []point
	for _, p := range append([]extpoints.Point{""}, extpoints.Points()...) {
		name := map[extpoints.Point]string{"": "MultiPoint", "GroupPostFilter": "PodGroupPostFilter"}[p]
		if name == "" {
			name = string(p)
		}
		if field, ok := reflect.TypeFor[configv1.Plugins]().FieldByName(name); ok {
			list = append(list, point{strings.ToLower(name[:1]) + name[1:], p, field.Index[0]})
		}
	}
	return list
}()

// in is the point's set.
func (p *point) in(sets *configv1.Plugins) *configv1.PluginSet {
	return reflect.ValueOf(sets).Elem().Field(p.field).Addr().Interface().(*configv1.PluginSet)
}

// weighs reports whether the weights of the point's plugins mean something.
func (p *point) weighs() bool {
	return p.name == multiPoint || p.engine == "Score" || p.engine == "PlacementScore"
}

// enabled are the names of all plugins that are enabled at some point.
func enabled(p *configv1.Plugins) map[string]bool {
	names := map[string]bool{}
	for i := range points {
		for _, plugin := range points[i].in(p).Enabled {
			names[plugin.Name] = true
		}
	}
	return names
}
