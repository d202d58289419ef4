package volumebinding

import (
	"fmt"
	"slices"
	"time"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/plugins/helper"
)

// DefaultBindTimeout is that of kube-scheduler, apis/config/v1/defaults.go,
// 1.37.1.
const DefaultBindTimeout = 600 * time.Second

// maxShapeScore is the largest Score of a point of a Shape; scores are scaled
// from it to extpoints.MaxScore.
const maxShapeScore = 10

// Name is the plugin's name.
const Name = "VolumeBinding"

// Args are the plugin's arguments.
type Args struct {
	// BindTimeout is how long the orchestrator may take to bind the claims of
	// a workload before the binding fails. Default: 0 means
	// [DefaultBindTimeout].
	BindTimeout time.Duration
	// Shape is the curve of the score of a storage class on a node: score 0 to
	// 10 by utilization 0 to 100 percent, in ascending order of utilization.
	// Utilization is how much the claims ask for of what they are given: of the
	// volumes chosen for them or, if none of them is given a volume that is
	// there, of the room for new ones. Default: 10 at 0 percent down to 0 at
	// 100, which prefers nodes with much room.
	Shape []helper.ShapePoint
}

// WithDefaults returns the arguments with the defaults of kube-scheduler,
// apis/config/v1/defaults.go, 1.37.1, in place of what is not set.
func (a Args) WithDefaults() Args {
	if a.BindTimeout == 0 {
		a.BindTimeout = DefaultBindTimeout
	}
	if len(a.Shape) == 0 {
		a.Shape = []helper.ShapePoint{{Utilization: 0, Score: maxShapeScore}, {Utilization: 100, Score: 0}}
	}
	return a
}

// Validate lists everything that is wrong with the arguments in one
// [*model.ValidationError].
//
// Rules: kube-scheduler apis/config/validation/validation_pluginargs.go
// ValidateVolumeBindingArgs, 1.37.1.
func (a Args) Validate() error {
	var p helper.Problems
	if a.BindTimeout < 0 {
		p.Addf("bindTimeout", "%v is less than 0", a.BindTimeout)
	}
	for i, point := range a.Shape {
		field := fmt.Sprintf("shape[%d]", i)
		if point.Utilization < 0 || point.Utilization > 100 {
			p.Addf(field+".utilization", "%d is not in [0, 100]", point.Utilization)
		}
		if i > 0 && point.Utilization <= a.Shape[i-1].Utilization {
			p.Addf(field+".utilization", "%d is not above the one before it", point.Utilization)
		}
		if point.Score < 0 || point.Score > maxShapeScore {
			p.Addf(field+".score", "%d is not in [0, %d]", point.Score, maxShapeScore)
		}
	}
	return p.Err(Name)
}

// curve is the function of the shape, in scores of the framework.
func curve(shape []helper.ShapePoint) func(utilization int64) int64 {
	shape = slices.Clone(shape)
	for i := range shape {
		shape[i].Score *= extpoints.MaxScore / maxShapeScore
	}
	return helper.BrokenLinear(shape)
}
