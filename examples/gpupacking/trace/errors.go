package trace

import (
	"fmt"
	"strings"
)

// MaxProblems is how many problems a FormatError lists before it only counts.
const MaxProblems = 50

// Problem is one thing that is wrong with an input file.
type Problem struct {
	File    string // the name that the reader was given, of Load without its folder
	Line    int    // 1 is the header; 0 where it is the file as a whole
	Field   string // the column; empty where it is the line as a whole
	Message string // for people
}

// String is "file:line: field: message", without the parts that are unknown.
func (p Problem) String() string {
	var b strings.Builder
	b.WriteString(p.File)
	if p.Line > 0 {
		fmt.Fprintf(&b, ":%d", p.Line)
	}
	b.WriteString(": ")
	if p.Field != "" {
		b.WriteString(p.Field + ": ")
	}
	b.WriteString(p.Message)
	return b.String()
}

// FormatError is everything that is wrong with the input, so that it can be
// mended in one go.
type FormatError struct {
	Problems []Problem // in order of file and line, at most MaxProblems
	More     int       // how many further ones there are
}

// Error lists the problems, one a line.
func (e *FormatError) Error() string {
	var b strings.Builder
	b.WriteString("trace: malformed input")
	for _, p := range e.Problems {
		b.WriteString("\n  " + p.String())
	}
	if e.More > 0 {
		fmt.Fprintf(&b, "\n  and %d more", e.More)
	}
	return b.String()
}

// problems collects what is wrong over all files of a trace.
type problems struct{ FormatError }

func (p *problems) add(problem Problem) {
	if len(p.Problems) == MaxProblems {
		p.More++
		return
	}
	p.Problems = append(p.Problems, problem)
}

// err is nil where nothing is wrong.
func (p *problems) err() error {
	if len(p.Problems) == 0 {
		return nil
	}
	return &p.FormatError
}
