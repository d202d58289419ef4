package model

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// checker collects the problems of one object. It keeps the path to the place
// that is being looked at as a stack of steps and spells it out only when
// something is wrong there, so that a valid object is checked without
// allocating.
type checker struct {
	path     [maxDepth]step
	depth    int
	problems []Problem
}

// maxDepth is more than the deepest path has steps (affinity, preferred[i],
// selector, requirements[j]); the name of the field itself is no step.
const maxDepth = 6

// step is one part of a path; index is -1 where the field is not a list.
type step struct {
	field string
	index int
}

// enter goes down into a field, until leave.
func (c *checker) enter(field string) { c.item(field, -1) }

// item goes down into item i of a list, until leave.
func (c *checker) item(field string, i int) {
	c.path[c.depth] = step{field, i}
	c.depth++
}

// leave goes up again.
func (c *checker) leave() { c.depth-- }

// report notes a problem with a field of the current place, or, where field is
// empty, with the place itself.
func (c *checker) report(field, message string) {
	var b strings.Builder
	for _, s := range c.path[:c.depth] {
		if b.Len() > 0 {
			b.WriteByte('.')
		}
		b.WriteString(s.field)
		if s.index >= 0 {
			b.WriteByte('[')
			b.WriteString(strconv.Itoa(s.index))
			b.WriteByte(']')
		}
	}
	if b.Len() > 0 && field != "" {
		b.WriteByte('.')
	}
	b.WriteString(field)
	c.problems = append(c.problems, Problem{Field: b.String(), Message: message})
}

func (c *checker) notEmpty(field, value string) {
	if value == "" {
		c.report(field, "must not be empty")
	}
	c.text(field, value)
}

// text reports what is no text: it would not survive being written down and
// read again. Every string of an object comes here, but for those that must be
// one of a few.
func (c *checker) text(field, value string) {
	if !utf8.ValidString(value) {
		c.noText(field, value)
	}
}

func (c *checker) noText(field, value string) {
	c.report(field, fmt.Sprintf("%q is not valid UTF-8", value))
}

// texts is text for each item.
func (c *checker) texts(field string, values []string) {
	for i, v := range values {
		if !utf8.ValidString(v) {
			c.item(field, i)
			c.noText("", v)
			c.leave()
		}
	}
}

// time reports what does not survive being written down and read again (RFC 3339, which has
// four digits for the year, and whole minutes for the offset of the zone).
func (c *checker) time(field string, t time.Time) {
	if year := t.Year(); year < 0 || year > 9999 {
		c.report(field, fmt.Sprintf("the year %d is not between 0 and 9999", year))
	}
	if _, offset := t.Zone(); offset%60 != 0 || offset <= -24*3600 || offset >= 24*3600 {
		c.report(field, fmt.Sprintf("the offset of its zone, %v, is not one of whole minutes within a day", time.Duration(offset)*time.Second))
	}
}

// names is notEmpty for each item.
func (c *checker) names(field string, values []string) {
	for i, v := range values {
		c.item(field, i)
		c.notEmpty("", v)
		c.leave()
	}
}

// labels reports an empty key, and keys and values that are no text; the keys
// are sorted only where something is wrong.
func (c *checker) labels(field string, labels map[string]string) {
	if _, found := labels[""]; found {
		c.report(field, "has an empty key")
	}
	for k, v := range labels {
		if !utf8.ValidString(k) || !utf8.ValidString(v) {
			for _, k := range sortedKeys(labels) {
				c.text(field, k)
				c.text(field, labels[k])
			}
			return
		}
	}
}

func (c *checker) atLeast(field string, value, least int64) {
	if value < least {
		c.report(field, fmt.Sprintf("%d is less than %d", value, least))
	}
}

func (c *checker) between(field string, value, least, most int64) {
	if value < least || value > most {
		c.report(field, fmt.Sprintf("%d is not between %d and %d", value, least, most))
	}
}

// oneOf reports a value that is not in the list.
func oneOf[T ~string](c *checker, field string, value T, allowed []T) {
	if slices.Contains(allowed, value) {
		return
	}
	names := make([]string, len(allowed))
	for i, a := range allowed {
		names[i] = string(a)
	}
	c.report(field, fmt.Sprintf("%q is not one of %s", string(value), strings.Join(names, ", ")))
}

// oneOfOrEmpty is oneOf for fields where empty means a default.
func oneOfOrEmpty[T ~string](c *checker, field string, value T, allowed []T) {
	if value != "" {
		oneOf(c, field, value, allowed)
	}
}
