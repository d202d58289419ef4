package job

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// maxDepth is how deep a JSON file may nest; jobs need less than ten.
const maxDepth = 32

// jsonDocument is the document of a file that is JSON, nil where it is not. JSON
// is read by itself because YAML, which has most of it, takes other escapes and
// no tabs.
func jsonDocument(data []byte) *yaml.Node {
	trimmed := bytes.TrimSpace(data)
	if len(trimmed) == 0 || trimmed[0] != '{' || !json.Valid(data) {
		return nil
	}
	from := json.NewDecoder(bytes.NewReader(data))
	from.UseNumber()
	r := jsonReader{from: from, data: data, line: 1}
	n, err := r.node(0)
	if err != nil {
		return nil
	}
	return n
}

// jsonReader makes nodes of JSON and counts lines on the way.
type jsonReader struct {
	from *json.Decoder
	data []byte
	// line is that of the byte at offset.
	line   int
	offset int64
}

// token is the next token, and its line.
func (r *jsonReader) token() (json.Token, int, error) {
	t, err := r.from.Token()
	if err != nil {
		return nil, 0, err
	}
	// A token has no line break, so its end is on its line.
	end := r.from.InputOffset()
	r.line += bytes.Count(r.data[r.offset:end], []byte("\n"))
	r.offset = end
	return t, r.line, nil
}

// node is the next value.
func (r *jsonReader) node(depth int) (*yaml.Node, error) {
	t, line, err := r.token()
	if err != nil {
		return nil, err
	}
	n := &yaml.Node{Kind: yaml.ScalarNode, Line: line}
	switch t := t.(type) {
	case json.Delim:
		n.Kind = yaml.MappingNode
		if t == '[' {
			n.Kind = yaml.SequenceNode
		}
		return n, r.content(n, depth+1)
	case string:
		n.Tag, n.Value = "!!str", t
	case json.Number:
		n.Tag, n.Value = "!!int", t.String()
		if strings.ContainsAny(n.Value, ".eE") {
			n.Tag = "!!float"
		}
	case bool:
		n.Tag, n.Value = "!!bool", fmt.Sprint(t)
	case nil:
		n.Tag, n.Value = "!!null", "null"
	}
	return n, nil
}

// content reads the keys and values, or items, of n up to its end.
func (r *jsonReader) content(n *yaml.Node, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("it nests deeper than %d", maxDepth)
	}
	for r.from.More() {
		item, err := r.node(depth)
		if err != nil {
			return err
		}
		n.Content = append(n.Content, item)
	}
	_, _, err := r.token()
	return err
}
