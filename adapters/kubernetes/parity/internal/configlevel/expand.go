package configlevel

import (
	"strings"

	"github.com/berth-project/berth/extpoints"
)

// inFile is the point's name in a file; empty where a file cannot configure it.
func inFile(p extpoints.Point) string {
	switch p {
	case "PlacementFeasible":
		return ""
	case "GroupPostFilter":
		return "podGroupPostFilter"
	}
	return strings.ToLower(string(p[:1])) + string(p[1:])
}

// expand lists the plugins of every point, as the comment of [extpoints.Entry] says
// that the engine does.
func expand(p *extpoints.Profile, made map[string]extpoints.Plugin) map[string][]string {
	list := map[string][]string{}
	for _, point := range extpoints.Points() {
		name := inFile(point)
		for _, e := range p.At(point) {
			if name != "" && point.Serves(made[e.Name]) {
				list[name] = append(list[name], withWeight(name, e.Name, int64(max(e.Weight, 1))))
			}
		}
	}
	return list
}
