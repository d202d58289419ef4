package trace

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// table walks a CSV file line by line and reports what is wrong with it. Its
// columns are found by name.
type table struct {
	file    string
	csv     *csv.Reader
	found   *problems
	columns map[string]int // column name to index
	width   int            // fields of the header
	seen    map[string]int // name to the line that has it first
	rows    int

	fields  []string // the current line
	line    int
	badLine bool // something was reported of the current line
}

// openTable reads the header. Where it is unusable, that is reported and the
// table has no lines.
func openTable(file string, in io.Reader, found *problems, required []string) *table {
	t := &table{file: file, found: found, columns: map[string]int{}, seen: map[string]int{}}
	content, err := decompress(in)
	if err != nil {
		t.report("", err.Error())
		return t
	}
	t.csv = csv.NewReader(content)
	t.csv.FieldsPerRecord = -1 // counted in next, to go on after a wrong line
	header, err := t.csv.Read()
	if err != nil {
		t.csv = nil
		t.report("", headerMessage(err))
		return t
	}
	t.readHeader(header, required)
	return t
}

func headerMessage(err error) string {
	if errors.Is(err, io.EOF) {
		return "the file is empty"
	}
	return err.Error()
}

func (t *table) readHeader(header, required []string) {
	t.line, t.width = 1, len(header)
	for i, name := range header {
		if i == 0 {
			name = strings.TrimPrefix(name, "\ufeff") // spreadsheets begin a file with a byte order mark
		}
		if _, twice := t.columns[name]; twice {
			t.report(name, "the column appears twice")
		}
		t.columns[name] = i
	}
	for _, name := range required {
		if _, ok := t.columns[name]; !ok {
			t.report(name, "the column is missing")
		}
	}
	if t.badLine {
		t.csv = nil // every line would only repeat it
	}
}

// next goes to the next line with the right number of fields.
func (t *table) next() bool {
	for t.csv != nil {
		fields, err := t.csv.Read()
		var syntax *csv.ParseError
		switch {
		case errors.Is(err, io.EOF):
			t.finish()
			return false
		case errors.As(err, &syntax):
			t.begin(syntax.Line, nil)
			t.report("", syntax.Err.Error())
		case err != nil:
			t.line = 0
			t.report("", err.Error())
			t.csv = nil
		default:
			line, _ := t.csv.FieldPos(0)
			t.begin(line, fields)
			if len(fields) == t.width {
				return true
			}
			t.report("", fmt.Sprintf("%d fields where the header has %d", len(fields), t.width))
		}
	}
	return false
}

func (t *table) begin(line int, fields []string) {
	t.rows++
	t.line, t.fields, t.badLine = line, fields, false
}

func (t *table) finish() {
	if t.rows == 0 {
		t.line = 0
		t.report("", "there is no line below the header")
	}
	t.csv = nil
}

func (t *table) report(field, message string) {
	t.badLine = true
	t.found.add(Problem{File: t.file, Line: t.line, Field: field, Message: message})
}

// text is the field of the column, empty where there is no such column.
func (t *table) text(column string) string {
	if i, ok := t.columns[column]; ok {
		return t.fields[i]
	}
	return ""
}

// name reads a field that must be filled and unique in the file.
func (t *table) name(column string) string {
	name := t.text(column)
	first, taken := t.seen[name]
	switch {
	case name == "":
		t.report(column, "is empty")
	case taken:
		t.report(column, fmt.Sprintf("%q is already on line %d", name, first))
	default:
		t.seen[name] = t.line
	}
	return name
}

// amount reads a whole number from 0 to limit.
func (t *table) amount(column string, limit int64) int64 {
	text := t.text(column)
	n, err := strconv.ParseInt(text, 10, 64)
	switch {
	case text == "":
		t.report(column, "is empty")
	case errors.Is(err, strconv.ErrSyntax):
		t.report(column, fmt.Sprintf("%q is not a whole number", text))
	case strings.HasPrefix(text, "-") && n != 0:
		t.report(column, text+" is negative")
	case err != nil || n > limit:
		t.report(column, fmt.Sprintf("%s is more than %d", text, limit))
	}
	return n
}
