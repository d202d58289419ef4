package job

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"go.yaml.in/yaml/v3"
)

// Limits of a job file.
const (
	// MaxFileSize is the largest job file, in bytes.
	MaxFileSize = 1 << 20
	// MaxJobs is how many jobs may be submitted together.
	MaxJobs = 1000
)

// ErrTooLarge is what the error is, in the sense of errors.Is, where a file has
// more than MaxFileSize bytes.
var ErrTooLarge = errors.New("the job file is too large")

// Parse reads a job file: YAML or JSON. A document is one job, or has a list of
// jobs under "jobs"; a YAML file may have several documents, which are submitted
// together.
//
// It reads strictly: a field that is not known, is there twice, or has a value of
// another kind is an error. Where a text is wanted, numbers and the words true and
// false stand for themselves, so that "command: [sleep, 10]" and "env: {PORT:
// 80}" mean what they say. Anchors and aliases are refused.
//
// The jobs are as they are written; CheckRead says whether they can be submitted. The
// error is a *ValidationError with all problems, each with its field ("jobs[0].cpu")
// and its line, and the jobs have what could be read; or is ErrTooLarge, or an error of reading.
func Parse(r io.Reader) ([]Spec, error) {
	data, err := io.ReadAll(io.LimitReader(r, MaxFileSize+1))
	if err != nil {
		return nil, fmt.Errorf("reading the job file: %w", err)
	}
	if len(data) > MaxFileSize {
		return nil, fmt.Errorf("%w: it has more than %d bytes", ErrTooLarge, MaxFileSize)
	}
	documents, err := parseDocuments(data)
	if err != nil {
		return nil, err
	}
	d := &decoder{}
	for _, n := range documents {
		d.document(n)
	}
	if len(d.specs) == 0 && len(d.problems) == 0 {
		d.report("jobs", "there are none in the file")
	}
	return d.specs, d.err()
}

// Decode fills what into points to, a struct with JSON tags, from the text of a file of
// settings: one document of YAML or JSON, read as strictly as Parse reads jobs. Fields
// that it does not name, or that cannot be read, stay as they are. The error is a
// *ValidationError about the file.
func Decode(file string, data []byte, into any) error {
	d := &decoder{}
	documents, err := parseDocuments(data)
	var invalid *ValidationError
	switch {
	case errors.As(err, &invalid):
		d.problems = invalid.Problems
	case len(documents) > 1:
		d.reportLine(documents[1].Line, "", "there is more than one document")
	case len(documents) == 1:
		d.read("", documents[0], into)
	}
	if len(d.problems) == 0 {
		return nil
	}
	return &ValidationError{About: file, Problems: d.problems}
}

// parseDocuments reads the documents of a file, without those that are empty.
func parseDocuments(data []byte) ([]*yaml.Node, error) {
	if n := jsonDocument(data); n != nil {
		return []*yaml.Node{n}, nil
	}
	var documents []*yaml.Node
	for from := yaml.NewDecoder(bytes.NewReader(data)); ; {
		var n yaml.Node
		err := from.Decode(&n)
		switch {
		case errors.Is(err, io.EOF):
			return documents, nil
		case err != nil:
			return nil, &ValidationError{Problems: []Problem{{Message: err.Error()}}}
		case len(n.Content) == 1 && n.Content[0].Tag != "!!null":
			documents = append(documents, n.Content[0])
		}
	}
}

// document reads the job or jobs of a document.
func (d *decoder) document(n *yaml.Node) {
	list := []*yaml.Node{n}
	if n.Kind == yaml.MappingNode && len(n.Content) > 0 && n.Content[0].Value == "jobs" {
		if len(n.Content) > 2 {
			d.reportLine(n.Content[2].Line, n.Content[2].Value, `nothing may stand beside "jobs"`)
		}
		if n.Content[1].Kind != yaml.SequenceNode {
			d.reportLine(n.Content[1].Line, "jobs", "must be a list")
			return
		}
		list = n.Content[1].Content
	}
	for _, item := range list {
		if len(d.specs) == MaxJobs {
			d.reportLine(item.Line, "jobs", "there are more than %d", MaxJobs)
			return
		}
		var s Spec
		d.read(fmt.Sprintf("jobs[%d]", len(d.specs)), item, &s)
		d.specs = append(d.specs, s)
	}
}
