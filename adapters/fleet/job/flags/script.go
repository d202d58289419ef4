package flags

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/berth-project/berth/adapters/fleet/job"
)

// The marks of directives.
const (
	berthMark = "#BERTH"
	slurmMark = "#SBATCH"
)

// Script is the job of a script: its directives, and its text. The package comment
// says how they are read. Set.Apply completes it, and says which lines could not be
// read: together with all else that is wrong. The error is a *job.ValidationError: the
// script is too long. Whether the job can be submitted, job.Check says.
func Script(text string, o Origin) (*Job, error) {
	if len(text) > job.MaxScript {
		p := job.Problem{Field: "script", Message: fmt.Sprintf("it has %d bytes, at most %d are allowed", len(text), job.MaxScript)}
		return nil, &job.ValidationError{Problems: []job.Problem{p}}
	}
	j := &Job{Spec: job.Spec{Script: text}, isFile: true}
	lines := directiveLines(text)
	readLines(lines, slurmOptions, newReading(o, j, slurmMark))
	readLines(lines, berthOptions, newReading(o, j, berthMark))
	j.Warnings = append(j.Warnings, unread(text, len(lines))...)
	slices.SortStableFunc(j.Warnings, func(a, b job.Problem) int { return cmp.Compare(a.Line, b.Line) })
	return j, nil
}

// directiveLines are the lines before the first that is neither a comment nor
// empty.
func directiveLines(text string) []string {
	var lines []string
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if trimmed := strings.TrimSpace(line); trimmed != "" && !strings.HasPrefix(trimmed, "#") {
			break
		}
		lines = append(lines, line)
	}
	return lines
}

// isDirective reports whether the line is one with the mark, and returns its options.
func isDirective(line, mark string) (options string, ok bool) {
	rest, ok := strings.CutPrefix(line, mark)
	return rest, ok && (rest == "" || rest[0] == ' ' || rest[0] == '\t')
}

// readLines reads the lines that begin with the mark of the reading. The job is
// refused for those that cannot be read.
func readLines(lines []string, options []*option, r *reading) {
	fs := pflag.NewFlagSet(r.mark, pflag.ContinueOnError)
	fs.SetOutput(io.Discard)
	fs.Usage = func() {}
	// A value that cannot be read does not keep the rest of its line from being read.
	addAll(fs, options, func(o *option, name, text string) error {
		if err := r.use(o, name, text); err != nil {
			p := r.at(name)
			p.Message += err.Error()
			r.job.refusals = append(r.job.refusals, refusal{problem: p})
		}
		return nil
	})
	for i, line := range lines {
		rest, ok := isDirective(line, r.mark)
		if !ok {
			continue
		}
		r.line = i + 1
		if err := readLine(fs, rest); err != nil {
			p := job.Problem{Line: r.line, Field: r.mark, Message: err.Error()}
			r.job.refusals = append(r.job.refusals, refusal{problem: p})
		}
	}
}

// readLine reads the options of one line.
func readLine(fs *pflag.FlagSet, line string) error {
	words, err := splitWords(line)
	if err != nil {
		return err
	}
	err = fs.Parse(words)
	switch {
	case errors.Is(err, pflag.ErrHelp):
		return errors.New("unknown flag: --help")
	case err != nil:
		return err
	case fs.NArg() > 0 && (fs.Arg(0) == "hetjob" || fs.Arg(0) == "packjob"):
		return errors.New("heterogeneous jobs are not known; a job file may have several jobs, which start by themselves")
	case fs.NArg() > 0:
		return fmt.Errorf("%q is no option; options begin with a dash", fs.Arg(0))
	}
	return nil
}

// splitWords splits a line as a shell would, with its quotes, up to a word that
// begins with "#". Nothing in it stands for anything else.
func splitWords(line string) ([]string, error) {
	var (
		words  []string
		word   strings.Builder
		inWord bool
		quote  byte
	)
	for i := 0; i < len(line); i++ {
		ch := line[i]
		switch {
		case ch == '\\' && quote != '\'' && i+1 < len(line):
			i++
			word.WriteByte(line[i])
			inWord = true
		case quote != 0 && ch == quote:
			quote = 0
		case quote != 0:
			word.WriteByte(ch)
		case ch == '\'' || ch == '"':
			quote, inWord = ch, true
		case ch == ' ' || ch == '\t':
			if inWord {
				words = append(words, word.String())
				word.Reset()
				inWord = false
			}
		case ch == '#' && !inWord:
			return words, nil
		default:
			word.WriteByte(ch)
			inWord = true
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("the quote %c has no end", quote)
	}
	if inWord {
		words = append(words, word.String())
	}
	return words, nil
}
