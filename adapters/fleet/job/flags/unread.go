package flags

import (
	"fmt"
	"iter"
	"regexp"
	"strings"

	"github.com/berth-project/berth/adapters/fleet/job"
)

var (
	// meant are comments that somebody may take for directives. One that begins with
	// "##" was put out of use on purpose.
	meant = regexp.MustCompile(`^(?i)\s*#\s*(BERTH|SBATCH|PBS)\s+-`)
	// hereDocument begins one, up to a line that has the word.
	hereDocument = regexp.MustCompile(`(?:^|[^<])<<-?\s*['"\\]?([A-Za-z_]\w*)`)
)

// unread are warnings about lines of a script that look like directives and are not
// read, one for each reason. The first lines, as many as directives, may have some.
func unread(text string, directives int) []job.Problem {
	const (
		pbs = iota
		late
		written
		reasons
	)
	var lines [reasons][]int
	for number, line := range ownLines(text, directives) {
		m := meant.FindStringSubmatch(line)
		_, berth := isDirective(line, berthMark)
		_, slurm := isDirective(line, slurmMark)
		switch {
		case m == nil:
		case strings.EqualFold(m[1], "PBS"):
			lines[pbs] = append(lines[pbs], number)
		case number > directives:
			lines[late] = append(lines[late], number)
		case !berth && !slurm:
			lines[written] = append(lines[written], number)
		}
	}
	var warnings []job.Problem
	for reason, message := range [reasons]string{
		pbs:     "directives for PBS are not read: write #BERTH or #SBATCH",
		late:    fmt.Sprintf("a directive after the first command, in line %d, is not read", directives+1),
		written: `this is not read: a directive is "#SBATCH" or "#BERTH" at the beginning of the line, and a space`,
	} {
		if found := lines[reason]; len(found) > 0 {
			warnings = append(warnings, job.Problem{Line: found[0], Message: message + others(found[1:])})
		}
	}
	return warnings
}

// ownLines are the lines of a script, with their numbers, without the text of
// here-documents: that is often another script. The first lines, as many as directives,
// begin none.
func ownLines(text string, directives int) iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		end := "" // of a here-document
		number := 0
		for line := range strings.Lines(text) {
			line = strings.TrimRight(line, "\r\n")
			number++
			if end != "" {
				if strings.TrimSpace(line) == end {
					end = ""
				}
				continue
			}
			if m := hereDocument.FindStringSubmatch(line); m != nil && number > directives && !isComment(line) {
				end = m[1]
			}
			if !yield(number, line) {
				return
			}
		}
	}
}

func isComment(line string) bool { return strings.HasPrefix(strings.TrimSpace(line), "#") }

// others says that there are more lines.
func others(lines []int) string {
	switch len(lines) {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("; nor is line %d", lines[0])
	}
	return fmt.Sprintf("; nor are %d lines more, up to line %d", len(lines), lines[len(lines)-1])
}
