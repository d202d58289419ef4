package convert

import (
	"slices"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/berth-project/berth/model"
)

var spreadPath = specPath.Child("topologySpreadConstraints")

// spread leaves out constraints with which something is wrong.
//
// Rules: kube-scheduler plugins/podtopologyspread/common.go, 1.37.1.
func (p *problems) spread(constraints []v1.TopologySpreadConstraint) []model.SpreadConstraint {
	var list []model.SpreadConstraint
	for i := range constraints {
		at, before := spreadPath.Index(i), len(p.list)
		m := p.spreadConstraint(at, &constraints[i])
		if slices.ContainsFunc(list, func(earlier model.SpreadConstraint) bool {
			return earlier.TopologyKey == m.TopologyKey && earlier.Mode == m.Mode
		}) {
			p.report(at, "has the same topologyKey and whenUnsatisfiable as an earlier one")
		}
		if len(p.list) == before {
			list = append(list, m)
		}
	}
	return list
}

func (p *problems) spreadConstraint(at *field.Path, c *v1.TopologySpreadConstraint) model.SpreadConstraint {
	m := model.SpreadConstraint{
		TopologyKey:        p.topologyKey(at.Child("topologyKey"), c.TopologyKey),
		MaxSkew:            c.MaxSkew,
		NodeAffinityPolicy: p.inclusion(at.Child("nodeAffinityPolicy"), c.NodeAffinityPolicy),
		NodeTaintsPolicy:   p.inclusion(at.Child("nodeTaintsPolicy"), c.NodeTaintsPolicy),
	}
	m.Selector, _ = p.selector(at.Child("labelSelector"), c.LabelSelector)
	if c.MaxSkew < 1 {
		p.report(at.Child("maxSkew"), "%d is less than 1", c.MaxSkew)
	}
	switch c.WhenUnsatisfiable {
	case v1.DoNotSchedule:
		m.Mode = model.SpreadRequired
	case v1.ScheduleAnyway:
		m.Mode = model.SpreadPreferred
	default:
		p.report(at.Child("whenUnsatisfiable"), "%q is neither %s nor %s", c.WhenUnsatisfiable, v1.DoNotSchedule, v1.ScheduleAnyway)
	}
	if c.MinDomains != nil && m.Mode == model.SpreadRequired { // scoring does not look at it
		m.MinDomains = *c.MinDomains
		if m.MinDomains < 1 {
			p.report(at.Child("minDomains"), "%d is less than 1", m.MinDomains)
		}
	}
	if c.LabelSelector != nil { // one that selects nothing is not added to
		m.MatchLabelKeys = p.names(at.Child("matchLabelKeys"), c.MatchLabelKeys)
	}
	return m
}

// topologyKey reports a key that is none.
func (p *problems) topologyKey(at *field.Path, key string) string {
	if key == "" {
		p.report(at, "must not be empty")
	}
	return p.text(at, key)
}

func (p *problems) inclusion(at *field.Path, policy *v1.NodeInclusionPolicy) model.InclusionPolicy {
	if policy == nil {
		return ""
	}
	switch *policy {
	case v1.NodeInclusionPolicyHonor:
		return model.Honor
	case v1.NodeInclusionPolicyIgnore:
		return model.Ignore
	}
	p.report(at, "%q is neither %s nor %s", *policy, v1.NodeInclusionPolicyHonor, v1.NodeInclusionPolicyIgnore)
	return ""
}
