package flags

import (
	"errors"
	"fmt"
	"io"
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
// says how they are read. The error is a *job.ValidationError that names the lines.
// Whether the job can be submitted, job.Check says.
func Script(text string, o Origin) (job.Spec, error) {
	spec := job.Spec{Script: text}
	if len(text) > job.MaxScript {
		return job.Spec{}, invalid(0, fmt.Errorf("the script has %d bytes, at most %d are allowed", len(text), job.MaxScript))
	}
	lines := directiveLines(text)
	problems := readLines(lines, slurmMark, slurmOptions, &reading{Origin: o, spec: &spec, slurm: true})
	problems = append(problems, readLines(lines, berthMark, berthOptions, &reading{Origin: o, spec: &spec})...)
	if len(problems) > 0 {
		return job.Spec{}, &job.ValidationError{Problems: problems}
	}
	return spec, nil
}

func invalid(line int, err error) error {
	return &job.ValidationError{Problems: []job.Problem{{Line: line, Field: "script", Message: err.Error()}}}
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

// readLines reads the lines that begin with the mark.
func readLines(lines []string, mark string, options []*option, r *reading) []job.Problem {
	var problems []job.Problem
	last := 0
	report := func(line int, err error) {
		problems = append(problems, job.Problem{Line: line, Field: mark, Message: err.Error()})
	}
	fs := pflag.NewFlagSet(mark, pflag.ContinueOnError)
	fs.SetOutput(io.Discard)
	fs.Usage = func() {}
	addAll(fs, options, func(o *option, text string) error { return o.set(r, text) })
	for i, line := range lines {
		rest, ok := strings.CutPrefix(line, mark)
		if !ok || rest != "" && rest[0] != ' ' && rest[0] != '\t' {
			continue
		}
		last = i + 1
		if err := readLine(fs, rest); err != nil {
			report(last, err)
		}
	}
	if len(problems) == 0 {
		if err := r.finish(); err != nil {
			report(last, err)
		}
	}
	return problems
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
