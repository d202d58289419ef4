package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"golang.org/x/term"
	"sigs.k8s.io/yaml"

	"github.com/berth-project/berth/adapters/fleet/internal/command"
	"github.com/berth-project/berth/adapters/fleet/job"
)

// checkFormat looks at the value of --format of a command. In batch systems -o is the
// file for a job's output.
func checkFormat(of, format string) error {
	switch format {
	case "", "json", "yaml", "name":
		return nil
	}
	hint := ""
	if of == "submit" {
		hint = "; the file for a job's output is --output"
	}
	return command.Mistakef("there is no format %q, it is json, yaml or name%s", format, hint)
}

// view is a thing in the ways in which it can be printed.
type view struct {
	value any
	names []string
	// people prints it for people.
	people func(w io.Writer)
}

// print prints the view as --format says.
func (a *app) print(c *cobra.Command, v view) error {
	out := c.OutOrStdout()
	switch a.format {
	case "json":
		return writeJSON(out, v.value)
	case "yaml":
		return writeYAML(out, v.value)
	case "name":
		for _, n := range v.names {
			fmt.Fprintln(out, visible(n))
		}
		return nil
	}
	var b bytes.Buffer
	v.people(&b)
	_, err := out.Write(b.Bytes())
	return err
}

// writeYAML writes a value as YAML that is safe on a terminal.
func writeYAML(out io.Writer, value any) error {
	data, err := yaml.Marshal(value)
	if err != nil {
		return err
	}
	_, err = io.WriteString(out, visibleLines(string(data)))
	return err
}

// writeJSON writes a value as JSON that is safe on a terminal.
func writeJSON(out io.Writer, value any) error {
	var b bytes.Buffer
	to := json.NewEncoder(&b)
	to.SetEscapeHTML(false)
	to.SetIndent("", "  ")
	if err := to.Encode(value); err != nil {
		return err
	}
	_, err := io.WriteString(out, escapeHidden(b.String()))
	return err
}

// escapeHidden writes the characters of JSON that cannot be shown as JSON writes
// them in strings, where alone they can be.
func escapeHidden(s string) string {
	var out strings.Builder
	for _, r := range s {
		switch {
		case r == '\n' || !hidden(r):
			out.WriteRune(r)
		case r > 0xffff:
			r -= 0x10000
			fmt.Fprintf(&out, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		default:
			fmt.Fprintf(&out, `\u%04x`, r)
		}
	}
	return out.String()
}

// table prints rows in columns. The last column is not filled up.
type table struct {
	rows  [][]string
	paint bool
}

// newTable is a table with a heading.
func (a *app) newTable(c *cobra.Command, heading ...string) *table {
	return &table{rows: [][]string{heading}, paint: a.colours(c.OutOrStdout())}
}

// row adds a row. Its cells are made visible.
func (t *table) row(cells ...string) {
	for i, cell := range cells {
		cells[i] = visible(cell)
	}
	t.rows = append(t.rows, cells)
}

// write prints the table.
func (t *table) write(w io.Writer) {
	widths := make([]int, len(t.rows[0]))
	for _, row := range t.rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range t.rows {
		var line strings.Builder
		for i, cell := range row {
			line.WriteString(t.painted(cell))
			if i < len(row)-1 {
				line.WriteString(strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)+2))
			}
		}
		fmt.Fprintln(w, strings.TrimRight(line.String(), " "))
	}
}

// colourOf are the colours of states: green, yellow, red, as terminals number them.
var colourOf = map[string]int{
	string(job.Running): 32, string(job.Completed): 32, "READY": 32,
	string(job.Pending): 33, string(job.Starting): 33, string(job.Completing): 33, "DRAINING": 33, "UNREACHABLE": 33,
	string(job.Failed): 31, string(job.Timeout): 31, string(job.NodeFail): 31, string(job.OutOfMemory): 31,
	string(job.BootFail): 31, string(job.Deadline): 31, "LOST": 31, "UNHEALTHY": 31,
}

// painted is the cell in its colour.
func (t *table) painted(cell string) string {
	if n, ok := colourOf[cell]; ok && t.paint {
		return fmt.Sprintf("\x1b[%dm%s\x1b[0m", n, cell)
	}
	return cell
}

// colours reports whether the output may have colours.
func (a *app) colours(w io.Writer) bool { return isTerminal(w) && a.getenv("NO_COLOR") == "" }

// isTerminal reports whether the writer is a terminal.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// or is s, or the other where it is empty.
func or(s, other string) string {
	if s == "" {
		return other
	}
	return s
}
