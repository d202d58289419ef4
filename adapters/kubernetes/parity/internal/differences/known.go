package differences

import (
	_ "embed" // for the list
	"errors"
	"fmt"
	"regexp"
	"strings"
)

//go:embed differences.txt
var list string

// Known is one line of the list.
type Known struct {
	pattern *regexp.Regexp
	// Reason says why the difference is no mistake.
	Reason string
}

// Parse reads a list. The error names every line that is not right: one without
// a reason, above all.
func Parse(text string) ([]Known, error) {
	var known []Known
	var problems []error
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		pattern, reason, ok := strings.Cut(line, " -> ")
		reason = strings.TrimSpace(reason)
		if !ok || reason == "" {
			problems = append(problems, fmt.Errorf("line %d: there is no reason: want PATTERN -> REASON", i+1))
			continue
		}
		compiled, err := regexp.Compile("^(?s:" + strings.TrimSpace(pattern) + ")$")
		if err != nil {
			problems = append(problems, fmt.Errorf("line %d: %w", i+1, err))
			continue
		}
		known = append(known, Known{compiled, reason})
	}
	return known, errors.Join(problems...)
}

// explain returns the reason for a difference, empty where there is none.
func explain(known []Known, d *Difference) string {
	text := d.text()
	for i := range known {
		if known[i].pattern.MatchString(text) {
			return known[i].Reason
		}
	}
	return ""
}
