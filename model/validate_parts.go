package model

import (
	"fmt"
	"strconv"
)

// The operators that a requirement may have, on labels and on fields of a node, in
// the order in which messages list them.
var (
	operators      = []Operator{In, NotIn, Exists, DoesNotExist, Gt, Lt}
	fieldOperators = []Operator{In, NotIn}
)

func (c *checker) selector(field string, s *Selector) {
	if s == nil {
		return
	}
	c.enter(field)
	for i := range s.Requirements {
		c.item("requirements", i)
		c.requirement(&s.Requirements[i])
		c.leave()
	}
	c.leave()
}

func (c *checker) requirement(r *Requirement) {
	c.notEmpty("key", r.Key)
	oneOf(c, "operator", r.Operator, operators)
	switch r.Operator {
	case In, NotIn:
		if len(r.Values) == 0 {
			c.report("values", string(r.Operator)+" wants at least one value")
		}
	case Exists, DoesNotExist:
		if len(r.Values) != 0 {
			c.report("values", string(r.Operator)+" wants no values")
		}
	case Gt, Lt:
		c.wholeNumber(r)
	}
	c.texts("values", r.Values)
}

// wholeNumber checks the value of a Gt or Lt.
func (c *checker) wholeNumber(r *Requirement) {
	if len(r.Values) != 1 {
		c.report("values", fmt.Sprintf("%s wants exactly one value, not %d", r.Operator, len(r.Values)))
		return
	}
	if _, err := strconv.ParseInt(r.Values[0], 10, 64); err != nil {
		c.item("values", 0)
		c.report("", fmt.Sprintf("%q is not a whole number of 64 bits", r.Values[0]))
		c.leave()
	}
}

func (c *checker) nodeTerms(field string, t *NodeTerms) {
	if t == nil {
		return
	}
	c.enter(field)
	if len(t.Terms) == 0 {
		c.report("terms", "must have at least one term; without any, no node would do")
	}
	for i := range t.Terms {
		c.item("terms", i)
		c.nodeTerm(&t.Terms[i])
		c.leave()
	}
	c.leave()
}

func (c *checker) nodeTerm(t *NodeTerm) {
	for i := range t.Labels {
		c.item("labels", i)
		c.requirement(&t.Labels[i])
		c.leave()
	}
	for i := range t.Fields {
		f := &t.Fields[i]
		c.item("fields", i)
		if f.Key != FieldName {
			c.report("key", fmt.Sprintf("%q is not %q, the only field", f.Key, FieldName))
		}
		oneOf(c, "operator", f.Operator, fieldOperators)
		if len(f.Values) != 1 {
			c.report("values", fmt.Sprintf("must be exactly one value, not %d", len(f.Values)))
		}
		c.texts("values", f.Values)
		c.leave()
	}
}

func (c *checker) resources(field string, r *Resources) {
	c.enter(field)
	c.atLeast("cpu", r.CPU, 0)
	c.atLeast("memory", r.Memory, 0)
	c.atLeast("ephemeralStorage", r.EphemeralStorage, 0)
	var names unique[string]
	for i := range r.Scalars {
		s := &r.Scalars[i]
		c.item("scalars", i)
		switch s.Name {
		case "":
			c.report("name", "must not be empty")
		case CPU, Memory, EphemeralStorage:
			c.report("name", fmt.Sprintf("%q is no scalar, it has a field of its own", s.Name))
		}
		c.text("name", s.Name)
		c.atLeast("amount", s.Amount, 0)
		names.check(c, "name", s.Name)
		c.leave()
	}
	c.leave()
}
