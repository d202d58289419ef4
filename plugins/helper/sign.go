package helper

import (
	"slices"
	"strconv"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// Keys of the signature fragments. Plugins that depend on the same part of the
// workload use the same key, with the value that the function here makes.
// What is signed follows k8s.io/kube-scheduler framework/signers.go, 0.37.1;
// where that leaves out something that the verdict depends on (addresses and
// protocols of ports, how often an image is used) it is added here.
const (
	SignNodeName     = "NodeName"
	SignNodeAffinity = "NodeAffinity"
	SignNodeSelector = "NodeSelector"
	SignTolerations  = "Tolerations"
	SignHostPorts    = "HostPorts"
	SignRequests     = "Requests"
	SignEstimate     = "EstimatedLoad"
	SignFitLoad      = "FitLoad"
	SignUsageLimits  = "UsageLimits"
	SignParts        = "Parts"
	SignImages       = "Images"
	SignLabels       = "Labels"
	SignNamespace    = "Namespace"
)

// Canon builds the canonical form of a value: strings are quoted, lists are in
// brackets, so that different values never look the same.
type Canon []byte

// Str appends a string.
func (c Canon) Str(s string) Canon { return append(strconv.AppendQuote(c, s), ' ') }

// Int appends a number.
func (c Canon) Int(i int64) Canon { return append(strconv.AppendInt(c, i, 10), ' ') }

// Strs appends a list of strings in the given order.
func (c Canon) Strs(list []string) Canon {
	c = append(c, '[')
	for _, s := range list {
		c = c.Str(s)
	}
	return append(c, ']')
}

// Set appends a list of strings whose order has no meaning.
func (c Canon) Set(list []string) Canon {
	list = slices.Clone(list)
	slices.Sort(list)
	return c.Strs(list)
}

// LabelsFragment signs the workload's own labels, in any order.
func LabelsFragment(w *model.Workload) extpoints.SignFragment {
	list := make([]string, 0, len(w.Labels))
	for key, value := range w.Labels {
		list = append(list, string(Canon(nil).Str(key).Str(value)))
	}
	return extpoints.SignFragment{Key: SignLabels, Value: string(Canon(nil).Set(list))}
}

// TolerationsFragment signs the workload's tolerations, in any order.
func TolerationsFragment(w *model.Workload) extpoints.SignFragment {
	list := make([]string, 0, len(w.Tolerations))
	for i := range w.Tolerations {
		t := &w.Tolerations[i]
		operator := t.Operator
		if operator == "" {
			operator = model.Equal
		}
		list = append(list, string(Canon(nil).Str(t.Key).Str(t.Value).Str(string(operator)).Str(string(t.Effect))))
	}
	return extpoints.SignFragment{Key: SignTolerations, Value: string(Canon(nil).Set(list))}
}

// RequestsFragment signs the workload's requests.
func RequestsFragment(w *model.Workload) extpoints.SignFragment {
	return extpoints.SignFragment{Key: SignRequests, Value: canonResources(&w.Requests)}
}

// RequestsFragments signs the workload's requests and the load that scoring
// counts for it.
func RequestsFragments(w *model.Workload) []extpoints.SignFragment {
	load := w.EstimatedLoad()
	fragments := []extpoints.SignFragment{
		RequestsFragment(w),
		{Key: SignEstimate, Value: string(Canon(nil).Int(load.CPU).Int(load.Memory))},
	}
	if w.FitLoad != nil {
		fragments = append(fragments, extpoints.SignFragment{Key: SignFitLoad, Value: canonResources(w.FitLoad)})
	}
	return fragments
}

// UsageFragments signs what a prediction of the workload's usage depends on: its requests
// and its usage limits.
func UsageFragments(w *model.Workload) []extpoints.SignFragment {
	return []extpoints.SignFragment{
		RequestsFragment(w),
		{Key: SignUsageLimits, Value: canonResources(&w.UsageLimits)},
	}
}

func canonResources(r *model.Resources) string {
	scalars := make([]string, 0, len(r.Scalars))
	for _, s := range r.Scalars {
		scalars = append(scalars, string(Canon(nil).Str(s.Name).Int(s.Amount)))
	}
	return string(Canon(nil).Int(r.CPU).Int(r.Memory).Int(r.EphemeralStorage).Set(scalars))
}

// NodeTermString is the canonical form of a term.
func NodeTermString(t *model.NodeTerm) string {
	return string(Canon(nil).Set(requirementStrings(t.Labels)).Set(requirementStrings(t.Fields)))
}

func requirementStrings(list []model.Requirement) []string {
	out := make([]string, 0, len(list))
	for i := range list {
		r := &list[i]
		out = append(out, string(Canon(nil).Str(r.Key).Str(string(r.Operator)).Set(r.Values)))
	}
	return out
}

// PartsFragments signs what a workload requests, as a whole and in its parts, and how far it
// is guaranteed that.
func PartsFragments(w *model.Workload) []extpoints.SignFragment {
	parts := make([]string, len(w.Containers))
	for i := range w.Containers {
		startup := int64(0)
		if w.Containers[i].Startup {
			startup = 1
		}
		parts[i] = string(Canon(nil).Int(startup).Str(canonResources(&w.Containers[i].Requests)))
	}
	return []extpoints.SignFragment{
		RequestsFragment(w),
		{Key: SignParts, Value: string(Canon(nil).Str(string(w.QoSClass())).Strs(parts))},
	}
}

// AppendTolerations appends the workload's tolerations to the key of a class; see
// [extpoints.NodeLocalPlugin]. Workloads with the same ones in another order get other keys.
func AppendTolerations(key []byte, w *model.Workload) []byte {
	c := Canon(key)
	for i := range w.Tolerations {
		t := &w.Tolerations[i]
		c = c.Str(t.Key).Str(t.Value).Str(string(t.Operator)).Str(string(t.Effect))
	}
	return c
}

// AppendRequests appends the workload's requests and the load that scoring counts for it to the
// key of a class; see [extpoints.NodeLocalPlugin].
func AppendRequests(key []byte, w *model.Workload) []byte {
	load := w.EstimatedLoad()
	c := appendResources(key, &w.Requests).Int(load.CPU).Int(load.Memory)
	if w.FitLoad != nil {
		c = appendResources(append(c, ';'), w.FitLoad)
	}
	return c
}

// AppendUsage appends what a prediction of the workload's usage depends on to the key of a class,
// its requests and its usage limits; see [extpoints.NodeLocalPlugin].
func AppendUsage(key []byte, w *model.Workload) []byte {
	return appendResources(append(appendResources(key, &w.Requests), ';'), &w.UsageLimits)
}

// AppendParts appends what the workload requests to the key of a class, as a whole and in its
// parts, and how far it is guaranteed that; see [extpoints.NodeLocalPlugin].
func AppendParts(key []byte, w *model.Workload) []byte {
	c := appendResources(Canon(key).Str(string(w.QoSClass())), &w.Requests)
	for i := range w.Containers {
		part := &w.Containers[i]
		c = appendResources(append(strconv.AppendBool(append(c, ';'), part.Startup), ' '), &part.Requests)
	}
	return c
}

func appendResources(c Canon, r *model.Resources) Canon {
	c = c.Int(r.CPU).Int(r.Memory).Int(r.EphemeralStorage)
	for i := range r.Scalars {
		c = c.Str(r.Scalars[i].Name).Int(r.Scalars[i].Amount)
	}
	return c
}
