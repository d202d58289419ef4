// Package strict decodes documents and says everything that does not fit at once, each
// with the path of its field. The decoders of the libraries stop at the first value that is
// not of its field's type, and name no list index.
package strict

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"sigs.k8s.io/yaml"
)

// Problem is one thing in a document that does not fit.
type Problem struct {
	Field   string // its path; empty for what the parser says
	Message string
}

// Error returns "field: message".
func (p *Problem) Error() string {
	if p.Field == "" {
		return p.Message
	}
	return p.Field + ": " + p.Message
}

// Touches reports whether the problem is about the field at the path, about a part of it, or
// about what it is a part of.
func (p *Problem) Touches(path string) bool { return within(p.Field, path) || within(path, p.Field) }

func within(part, whole string) bool {
	rest, is := strings.CutPrefix(part, whole)
	return is && whole != "" && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// YAML decodes a document, YAML or JSON, into what into points to. What does not fit is a
// problem and left out; the rest is there. An error is about a document that cannot be parsed.
func YAML(text []byte, into any) ([]*Problem, error) {
	plain, err := yaml.YAMLToJSON(text)
	if err != nil {
		return nil, err
	}
	var problems []*Problem
	if _, err := yaml.YAMLToJSONStrict(text); err != nil {
		problems = duplicates(err)
	}
	others, err := JSON(plain, into)
	return append(problems, others...), err
}

// duplicates are the keys that a document has twice. The parser names the line of each, on a
// line of its own.
func duplicates(err error) (problems []*Problem) {
	for _, line := range strings.Split(err.Error(), "\n")[1:] {
		problems = append(problems, &Problem{Message: strings.TrimSpace(line)})
	}
	return problems
}

// JSON is YAML for a document that is JSON.
func JSON(text []byte, into any) ([]*Problem, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber() // to keep the digits
	var document any
	if err := d.Decode(&document); err != nil {
		return nil, err
	}
	var r reader
	fitting, err := json.Marshal(r.fit(nil, document, target(into)))
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(fitting, into); err != nil {
		return nil, fmt.Errorf("what fits of the document does not: %w", err) // no document is known to come here
	}
	return r.problems, nil
}
