package job

import (
	"fmt"
	"slices"
	"strconv"
)

// validatePlace looks at what is said about nodes.
func (s *Spec) validatePlace(c *checker) {
	c.nodes("nodes", s.Nodes)
	c.nodes("excludeNodes", s.ExcludeNodes)
	if len(s.Nodes) > 0 {
		for i, n := range s.ExcludeNodes {
			if slices.Contains(s.Nodes, n) {
				c.report(fmt.Sprintf("excludeNodes[%d]", i), "%s is one of nodes, too", quote(n))
			}
		}
	}
	if s.Reservation != "" {
		c.name("reservation", s.Reservation)
	}
	c.atMost("constraints", len(s.Constraints), MaxConditions, "conditions")
	for i := range s.Constraints {
		s.Constraints[i].validate(c, fmt.Sprintf("constraints[%d].", i))
	}
	c.atMost("preferences", len(s.Preferences), MaxConditions, "conditions")
	for i := range s.Preferences {
		at := fmt.Sprintf("preferences[%d].", i)
		s.Preferences[i].validate(c, at)
		between(c, at+"weight", s.Preferences[i].Weight, 1, 100)
	}
	c.affinities("near", s.Near)
	c.affinities("apart", s.Apart)
	c.atMost("spread", len(s.Spread), MaxConditions, "conditions")
	for i, p := range s.Spread {
		at := fmt.Sprintf("spread[%d].", i)
		if p.Label != "" {
			c.check(at+"label", CheckLabel(p.Label, ""))
		}
		between(c, at+"maxSkew", p.MaxSkew, 0, MaxTasks)
		if slices.ContainsFunc(s.Spread[:i], func(q Spread) bool { return q.Label == p.Label }) {
			c.report(at+"label", "there is a spread over it already")
		}
	}
}

// nodes looks at names of nodes.
func (c *checker) nodes(field string, names []string) {
	if !c.atMost(field, len(names), MaxNodeNames, "nodes") {
		return
	}
	for i, n := range names {
		c.name(fmt.Sprintf("%s[%d]", field, i), n)
	}
}

// Validate returns what is wrong with the constraint as a *ValidationError, nil
// where it is valid.
func (k *Constraint) Validate() error {
	var c checker
	k.validate(&c, "")
	return c.err()
}

// validate looks at a constraint whose fields begin with at.
func (k *Constraint) validate(c *checker, at string) {
	c.check(at+"label", CheckLabel(k.Label, ""))
	c.atMost(at+"values", len(k.Values), MaxValues, "values")
	for i, v := range k.Values {
		c.text(fmt.Sprintf("%svalues[%d]", at, i), v, 256)
	}
	operator := k.operator()
	switch operator {
	case In, NotIn:
		if len(k.Values) == 0 {
			c.report(at+"values", "%s needs at least one", operator)
		}
	case Exists, NotExists:
		if len(k.Values) > 0 {
			c.report(at+"values", "%s has none", operator)
		}
	case Gt, Lt:
		if len(k.Values) != 1 {
			c.report(at+"values", "%s needs one whole number", operator)
		} else if _, err := strconv.ParseInt(k.Values[0], 10, 64); err != nil {
			c.report(at+"values[0]", "%s is no whole number, which %s needs", quote(k.Values[0]), operator)
		}
	default:
		oneOf(c, at+"operator", operator, []Operator{In, NotIn, Exists, NotExists, Gt, Lt})
	}
}

// operator is the one that is meant.
func (k *Constraint) operator() Operator {
	switch {
	case k.Operator != "":
		return k.Operator
	case len(k.Values) > 0:
		return In
	}
	return Exists
}

// affinities looks at conditions on other jobs.
func (c *checker) affinities(field string, list []Affinity) {
	c.atMost(field, len(list), MaxConditions, "conditions")
	for i, a := range list {
		at := fmt.Sprintf("%s[%d].", field, i)
		if len(a.Labels) == 0 {
			c.report(at+"labels", "must not be empty")
		}
		c.labels(at+"labels", a.Labels)
		if a.SameLabel != "" {
			c.check(at+"sameLabel", CheckLabel(a.SameLabel, ""))
		}
		between(c, at+"weight", a.Weight, 0, 100)
	}
}
