package config

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/berth-project/berth/adapters/kubernetes/internal/strict"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/plugins"
	"github.com/berth-project/berth/plugins/coscheduling"
	"github.com/berth-project/berth/plugins/defaultpreemption"
	"github.com/berth-project/berth/plugins/devicepacking"
	"github.com/berth-project/berth/plugins/loadawarescheduling"
	"github.com/berth-project/berth/plugins/loadvariationriskbalancing"
	"github.com/berth-project/berth/plugins/lowriskovercommitment"
	"github.com/berth-project/berth/plugins/networkoverhead"
	"github.com/berth-project/berth/plugins/nodemetadata"
	"github.com/berth-project/berth/plugins/noderesourcesallocatable"
	"github.com/berth-project/berth/plugins/noderesourcesfitplus"
	"github.com/berth-project/berth/plugins/noderesourcetopologymatch"
	"github.com/berth-project/berth/plugins/peaks"
	"github.com/berth-project/berth/plugins/podstate"
	"github.com/berth-project/berth/plugins/qossort"
	"github.com/berth-project/berth/plugins/scarceresourceavoidance"
	"github.com/berth-project/berth/plugins/sysched"
	"github.com/berth-project/berth/plugins/targetloadpacking"
	"github.com/berth-project/berth/plugins/topologicalsort"
)

// OutOfTree returns a new registry of the plugins that are not kube-scheduler's and that
// Berth has: those of kubernetes-sigs/scheduler-plugins under their names there, with their
// arguments as they stand in a file, three of Koordinator, and Berth's own DevicePacking, for the
// policy Rollout. None of them is in a profile unless the file enables
// it.
func OutOfTree() Registry {
	return Registry{
		plugins.NodeResourcesAllocatable: fromFile(allocatableArgs.translate, noderesourcesallocatable.New),
		plugins.PodState:                 fromFile(noArgs.translate, podstate.New),
		plugins.QOSSort:                  fromFile(noArgs.translate, qossort.New),
		plugins.PreemptionToleration:     fromFile(tolerationArgs.translate, defaultpreemption.NewPreemptionToleration),
		plugins.NodeMetadata:             fromFile(nodeMetadataArgs.translate, nodemetadata.New),
		plugins.Coscheduling:             fromFile(coschedulingArgs.translate, coscheduling.New),
		CapacityScheduling:               fromFile(noArgs.translate, newCapacityScheduling),
		plugins.SySched:                  fromFile(sySchedArgs.translate, sysched.New),

		plugins.TargetLoadPacking:          fromFile(targetLoadPackingArgs.translate, targetloadpacking.New),
		plugins.LoadVariationRiskBalancing: fromFile(loadVariationArgs.translate, loadvariationriskbalancing.New),
		plugins.LowRiskOverCommitment:      fromFile(lowRiskArgs.translate, lowriskovercommitment.New),
		plugins.Peaks:                      fromFile(peaksArgs.translate, peaks.New),
		plugins.LoadAwareScheduling:        fromFile(loadAwareArgs.translate, loadawarescheduling.New),

		plugins.NodeResourcesFitPlus:    fromFile(fitPlusArgs.translate, noderesourcesfitplus.New),
		plugins.ScarceResourceAvoidance: fromFile(scarceResourceArgs.translate, scarceresourceavoidance.New),

		plugins.DevicePacking:             fromFile(devicePackingArgs.translate, devicepacking.New),
		plugins.NodeResourceTopologyMatch: fromFile(topologyMatchArgs.translate, noderesourcetopologymatch.New),
		plugins.NetworkOverhead:           fromFile(networkOverheadArgs.translate, networkoverhead.New),
		plugins.TopologicalSort:           fromFile(topologicalSortArgs.translate, topologicalsort.New),
	}
}

// fromFile makes a plugin from the arguments of a file, which are of type F, and none where
// the file has none. Unknown fields and values of other types are refused, all at once.
func fromFile[F, A any, P extpoints.Plugin](translate func(F) (A, error), make func(A, extpoints.Handle) (P, error)) extpoints.Factory {
	return func(args any, h extpoints.Handle) (extpoints.Plugin, error) {
		var file F
		var p problems
		if raw, ok := args.(*runtime.Unknown); ok && raw != nil && len(raw.Raw) > 0 {
			unfit, err := strict.JSON(raw.Raw, &file)
			p.addEach("arguments", err)
			for _, problem := range unfit {
				p.add(fmt.Errorf("arguments: %w", problem))
			}
		}
		a, err := translate(file)
		p.addEach("arguments", err)
		if err := p.err(); err != nil {
			return nil, err
		}
		return make(a, h)
	}
}

// noArgs are those of a plugin that takes none.
type noArgs struct {
	metav1.TypeMeta `json:",inline"`
}

func (noArgs) translate() (extpoints.NoArgs, error) { return extpoints.NoArgs{}, nil }

// allocatableArgs are NodeResourcesAllocatableArgs of scheduler-plugins, apis/config/v1,
// commit 903da7df.
type allocatableArgs struct {
	metav1.TypeMeta `json:",inline"`
	Resources       []struct {
		Name   string `json:"name"`
		Weight int64  `json:"weight"`
	} `json:"resources"`
	Mode string `json:"mode"`
}

func (a allocatableArgs) translate() (noderesourcesallocatable.Args, error) {
	args := noderesourcesallocatable.Args{Mode: noderesourcesallocatable.Mode(a.Mode)}
	for _, r := range a.Resources {
		args.Resources = append(args.Resources, noderesourcesallocatable.ResourceWeight{Name: r.Name, Weight: r.Weight})
	}
	return args, nil
}

// nodeMetadataArgs are NodeMetadataArgs of scheduler-plugins, apis/config/v1, commit
// 903da7df.
type nodeMetadataArgs struct {
	metav1.TypeMeta `json:",inline"`
	MetadataKey     string `json:"metadataKey"`
	MetadataSource  string `json:"metadataSource"`
	MetadataType    string `json:"metadataType"`
	ScoringStrategy string `json:"scoringStrategy"`
	TimestampFormat string `json:"timestampFormat"`
}

func (a nodeMetadataArgs) translate() (nodemetadata.Args, error) {
	args := nodemetadata.Args{
		Label: a.MetadataKey, Type: nodemetadata.Type(a.MetadataType),
		Strategy: nodemetadata.Strategy(a.ScoringStrategy), Layout: a.TimestampFormat,
	}
	if a.MetadataSource != "" && a.MetadataSource != "Label" {
		return args, fmt.Errorf("metadataSource: %q: only \"Label\" is read here", a.MetadataSource)
	}
	return args, nil
}

// fitPlusArgs are NodeResourcesFitPlusArgs of Koordinator, pkg/scheduler/apis/config/v1, commit
// a7a1b76b.
type fitPlusArgs struct {
	metav1.TypeMeta `json:",inline"`
	Resources       map[string]struct {
		Type   string `json:"type"`
		Weight int64  `json:"weight"`
	} `json:"resources"`
}

func (a fitPlusArgs) translate() (args noderesourcesfitplus.Args, err error) {
	for _, name := range slices.Sorted(maps.Keys(a.Resources)) {
		r := a.Resources[name]
		args.Resources = append(args.Resources, noderesourcesfitplus.Resource{
			Name: name, Strategy: noderesourcesfitplus.Strategy(r.Type), Weight: r.Weight,
		})
	}
	return args, nil
}

// scarceResourceArgs are ScarceResourceAvoidanceArgs of Koordinator, pkg/scheduler/apis/config/v1,
// commit a7a1b76b.
type scarceResourceArgs struct {
	metav1.TypeMeta `json:",inline"`
	Resources       []string `json:"resources"`
}

func (a scarceResourceArgs) translate() (scarceresourceavoidance.Args, error) {
	return scarceresourceavoidance.Args{Resources: a.Resources}, nil
}

// tolerationArgs are PreemptionTolerationArgs of scheduler-plugins, apis/config/v1, commit
// 903da7df.
type tolerationArgs struct {
	metav1.TypeMeta             `json:",inline"`
	MinCandidateNodesPercentage *int32 `json:"minCandidateNodesPercentage"`
	MinCandidateNodesAbsolute   *int32 `json:"minCandidateNodesAbsolute"`
}

func (a tolerationArgs) translate() (defaultpreemption.Args, error) {
	return defaultpreemption.Args{
		MinCandidateNodesPercentage: a.MinCandidateNodesPercentage, MinCandidateNodesAbsolute: a.MinCandidateNodesAbsolute,
	}, nil
}

// devicePackingArgs are Berth's own: devices are an extended resource, of which unitsPerDevice
// are one device, and the label of nodes tells their model.
type devicePackingArgs struct {
	metav1.TypeMeta `json:",inline"`
	Resource        string           `json:"resource"`
	UnitsPerDevice  *int64           `json:"unitsPerDevice"`
	ModelLabel      string           `json:"modelLabel"`
	Relearn         *metav1.Duration `json:"relearn"`
}

func (a devicePackingArgs) translate() (devicepacking.Args, error) {
	args := devicepacking.Args{Policy: devicepacking.Rollout, Resource: a.Resource, ModelLabel: a.ModelLabel}
	var problems []error
	if a.Resource == "" {
		problems = append(problems, errors.New("resource: must be set, to the extended resource of the devices"))
	}
	if a.UnitsPerDevice != nil {
		if args.Units = *a.UnitsPerDevice; args.Units < 1 {
			problems = append(problems, fmt.Errorf("unitsPerDevice: %d is less than 1", args.Units))
		}
	}
	if a.Relearn != nil {
		if args.Relearn = a.Relearn.Duration; args.Relearn <= 0 {
			problems = append(problems, fmt.Errorf("relearn: %v is not above 0", args.Relearn))
		}
	}
	return args, errors.Join(problems...)
}
