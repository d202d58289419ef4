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
			operator = model.TolerateEqual
		}
		list = append(list, string(Canon(nil).Str(t.Key).Str(t.Value).Str(string(operator)).Str(string(t.Effect))))
	}
	return extpoints.SignFragment{Key: SignTolerations, Value: string(Canon(nil).Set(list))}
}

// RequestsFragments signs the workload's requests and the load that scoring
// counts for it.
func RequestsFragments(w *model.Workload) []extpoints.SignFragment {
	load := w.EstimatedLoad()
	fragments := []extpoints.SignFragment{
		{Key: SignRequests, Value: canonResources(&w.Requests)},
		{Key: SignEstimate, Value: string(Canon(nil).Int(load.CPU).Int(load.Memory))},
	}
	if w.FitLoad != nil {
		fragments = append(fragments, extpoints.SignFragment{Key: SignFitLoad, Value: canonResources(w.FitLoad)})
	}
	return fragments
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
