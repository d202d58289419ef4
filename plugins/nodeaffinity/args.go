package nodeaffinity

import (
	"errors"
	"strings"

	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins/helper"
)

// Name is the plugin's name.
const Name = "NodeAffinity"

// Args are the plugin's arguments.
type Args struct {
	// AddedAffinity holds for every workload of the profile besides its own
	// node affinity: the required parts must both match, the weights of the
	// preferred ones add up. Default nil: nothing is added.
	AddedAffinity *model.NodeAffinity
}

// Validate lists everything that is wrong with the arguments in one
// [*model.ValidationError]. The added affinity must be one that a workload
// could have. That is a little more than kube-scheduler asks for (apis/config/
// validation/validation_pluginargs.go ValidateNodeAffinityArgs, 1.37.1), which
// takes weights outside of 1 to 100 and a required part without terms.
func (a Args) Validate() error {
	carrier := model.Workload{ID: Name, NodeAffinity: a.AddedAffinity}
	var invalid *model.ValidationError
	if !errors.As(carrier.Validate(), &invalid) {
		return nil
	}
	var p helper.Problems
	for _, problem := range invalid.Problems {
		p.Addf("addedAffinity"+strings.TrimPrefix(problem.Field, "nodeAffinity"), "%s", problem.Message)
	}
	return p.Err(Name)
}
