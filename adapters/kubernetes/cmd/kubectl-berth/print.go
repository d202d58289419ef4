package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"
	"sigs.k8s.io/yaml"

	"github.com/berth-project/berth/adapters/kubernetes/explain/api"
)

// The ways to show an answer.
const (
	outputTable = "table"
	outputWide  = "wide"
	outputJSON  = "json"
	outputYAML  = "yaml"
)

var outputs = []string{outputTable, outputWide, outputJSON, outputYAML}

// show reads the answer, which must be of the kind, into x, and shows it: as the
// scheduler gave it, or by the function, for people.
func (o *options) show(answer []byte, x any, kind string, table func(*printer)) error {
	var is metav1.TypeMeta
	if err := json.Unmarshal(answer, &is); err != nil || is.APIVersion != api.Version || is.Kind != kind {
		return fmt.Errorf("the scheduler answers with %q of %q, which this plugin does not know: it knows %q of %q", is.Kind, is.APIVersion, kind, api.Version)
	}
	if err := json.Unmarshal(answer, x); err != nil {
		return fmt.Errorf("read the answer of the scheduler: %w", err)
	}
	var out bytes.Buffer
	switch o.output {
	case outputJSON:
		if err := json.Indent(&out, bytes.TrimSpace(answer), "", "    "); err != nil {
			return err
		}
		out.WriteByte('\n')
	case outputYAML:
		text, err := yaml.JSONToYAML(answer)
		if err != nil {
			return err
		}
		out.Write(text)
	default:
		table(&printer{out: &out, wide: o.output == outputWide, now: o.now()})
	}
	_, err := o.Out.Write(out.Bytes())
	return err
}

// printer shows answers to people.
type printer struct {
	out  *bytes.Buffer
	wide bool
	now  time.Time
}

// field writes a line "name: value", unless there is no value.
func (p *printer) field(name, format string, args ...any) {
	if value := clean(fmt.Sprintf(format, args...)); value != "" {
		p.line("%-16s%s", name+":", value)
	}
}

func (p *printer) line(format string, args ...any) {
	fmt.Fprintf(p.out, format, args...)
	p.out.WriteByte('\n')
}

// columns are columns and their rows.
type columns struct {
	names []string
	rows  [][]string
}

func (c *columns) row(cells ...string) { c.rows = append(c.rows, cells) }

// table writes the columns below each other.
func (p *printer) table(c *columns) {
	var text bytes.Buffer
	w := tabwriter.NewWriter(&text, 0, 8, 3, ' ', 0)
	writeRow(w, c.names)
	for _, row := range c.rows {
		writeRow(w, row)
	}
	_ = w.Flush() // into memory
	for line := range strings.Lines(text.String()) {
		p.line("%s", strings.TrimRight(line, " \n"))
	}
}

func writeRow(w io.Writer, cells []string) {
	row := make([]string, len(cells))
	for i, cell := range cells {
		row[i] = clean(cell)
	}
	_, _ = fmt.Fprintln(w, strings.Join(row, "\t"))
}

// clean makes one line of a text, without anything that a terminal would act on.
func clean(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, text)
}

// ago is how long ago that was; empty for no time.
func (p *printer) ago(t *metav1.MicroTime) string {
	if t == nil || t.IsZero() {
		return ""
	}
	return duration.HumanDuration(p.now.Sub(t.Time))
}

// names lists pods that have to go.
func names(victims []api.Victim) string {
	list := make([]string, len(victims))
	for i, v := range victims {
		list[i] = v.Namespace + "/" + v.Name
	}
	return strings.Join(list, ", ")
}

// orNone is the text, or "none" where there is none.
func orNone(text string) string {
	if text == "" {
		return "<none>"
	}
	return text
}
