package job

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// ErrInvalid is what every error of a check or of a decoder is, in the sense of
// errors.Is. The details are in the ValidationError.
var ErrInvalid = errors.New("invalid job")

// Problem is one thing that is wrong.
type Problem struct {
	// Field is the path to the field: "jobs[1].retry.on[0]".
	Field string
	// Line is where it stands in the file, from 1; 0 where that is not known.
	Line int
	// Message says what is wrong and what would be right.
	Message string
}

// String is "field: message" or "line N: field: message".
func (p Problem) String() string {
	var b strings.Builder
	if p.Line > 0 {
		fmt.Fprintf(&b, "line %d: ", p.Line)
	}
	if p.Field != "" {
		b.WriteString(p.Field + ": ")
	}
	return b.String() + p.Message
}

// ValidationError is all that is wrong with a job, a submission, or a file.
type ValidationError struct {
	// About is the file of settings that they are in; empty: they are in jobs.
	About string
	// Problems has at least one. Those of a check are in the order of the fields
	// of Spec, those of a decoder in the order of the file.
	Problems []Problem
}

// Error is one line with all problems, with semicolons between them.
func (e *ValidationError) Error() string {
	parts := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		parts[i] = p.String()
	}
	if e.About != "" {
		return e.About + ": " + strings.Join(parts, "; ")
	}
	return "invalid job: " + strings.Join(parts, "; ")
}

// Is makes errors.Is(err, ErrInvalid) hold.
func (e *ValidationError) Is(target error) bool { return target == ErrInvalid }

// maxProblems is how many problems are kept; more help nobody.
const maxProblems = 100

// checker gathers problems.
type checker struct {
	problems []Problem
}

// report notes a problem.
func (c *checker) report(field, format string, args ...any) {
	c.reportLine(0, field, format, args...)
}

// reportLine notes a problem of a line.
func (c *checker) reportLine(line int, field, format string, args ...any) {
	if len(c.problems) < maxProblems {
		c.problems = append(c.problems, Problem{Field: field, Line: line, Message: fmt.Sprintf(format, args...)})
	}
}

// check notes the error, if it is one.
func (c *checker) check(field string, err error) {
	if err != nil {
		c.report(field, "%s", err)
	}
}

// err is nil where there are no problems.
func (c *checker) err() error {
	if len(c.problems) == 0 {
		return nil
	}
	return &ValidationError{Problems: c.problems}
}

// between reports a number that is not in the range.
func between[T ~int32 | ~int64](c *checker, field string, value, least, most T) {
	if value < least || value > most {
		c.report(field, "%v is not between %v and %v", value, least, most)
	}
}

// oneOf reports a value that is not in the list.
func oneOf[T ~string](c *checker, field string, value T, allowed []T) {
	if slices.Contains(allowed, value) {
		return
	}
	names := make([]string, len(allowed))
	for i, a := range allowed {
		names[i] = string(a)
	}
	c.report(field, "%s is not one of %s", quote(string(value)), strings.Join(names, ", "))
}

// atMost reports a list or text that is too long.
func (c *checker) atMost(field string, n, most int, what string) bool {
	if n > most {
		c.report(field, "has %d %s, at most %d are allowed", n, what, most)
		return false
	}
	return true
}

// name reports what is no name of a queue, a node, a resource or an account.
func (c *checker) name(field, s string) { c.check(field, CheckName(s)) }

// text reports what cannot be shown on a line: what is no UTF-8, or controls a
// terminal.
func (c *checker) text(field, s string, most int) {
	switch {
	case len(s) > most:
		c.report(field, "has %d bytes, at most %d are allowed", len(s), most)
	case !utf8.ValidString(s):
		c.report(field, "%s is not valid UTF-8", quote(s))
	case strings.ContainsFunc(s, unprintable):
		c.report(field, "%s has characters that cannot be shown", quote(s))
	}
}

// raw reports what cannot be handed to a program, or not through JSON.
func (c *checker) raw(field, s string, most int) {
	switch {
	case len(s) > most:
		c.report(field, "has %d bytes, at most %d are allowed", len(s), most)
	case strings.ContainsRune(s, 0):
		c.report(field, "has a zero byte")
	case !utf8.ValidString(s):
		c.report(field, "is not valid UTF-8%s", inLine(s))
	}
}

// inLine says which is the first line of a text of several that is not valid UTF-8.
func inLine(s string) string {
	if !strings.Contains(s, "\n") {
		return ""
	}
	number := 1
	for line := range strings.Lines(s) {
		if !utf8.ValidString(line) {
			break
		}
		number++
	}
	return fmt.Sprintf(", in line %d; iconv -f latin1 -t utf-8 converts what older editors wrote", number)
}

func unprintable(r rune) bool { return !unicode.IsPrint(r) }

// MaxName is the longest name of a queue, a node, a resource or a label, in bytes.
const MaxName = 128

// CheckName says what is wrong with a name of a queue, a node, an account or a
// resource: nil where it has 1 to MaxName letters, digits, "-", "_" and ".", and
// begins and ends with a letter, a digit or "_".
func CheckName(s string) error { return checkWord(s, "-.") }

// CheckLabel says what is wrong with a label, nil where nothing is. A key is a
// name in which "/" may be, too; a value is a text of up to 256 bytes, and may be
// empty.
func CheckLabel(key, value string) error {
	if err := checkWord(key, "-./"); err != nil {
		return err
	}
	var c checker
	c.text("", value, 256)
	if len(c.problems) > 0 {
		return fmt.Errorf("the value of %s %s", key, c.problems[0].Message)
	}
	return nil
}

// checkWord checks a word of letters, digits and "_", with others inside.
func checkWord(s, inside string) error {
	switch {
	case s == "":
		return errors.New("must not be empty")
	case len(s) > MaxName:
		return fmt.Errorf("%s has %d characters, at most %d are allowed", quote(s), len(s), MaxName)
	}
	for i := range len(s) {
		ch := s[i]
		switch {
		case ch >= 'a' && ch <= 'z', ch >= 'A' && ch <= 'Z', ch >= '0' && ch <= '9', ch == '_':
		case strings.IndexByte(inside, ch) < 0:
			return fmt.Errorf("%s may only have letters, digits, and any of %q", quote(s), "_"+inside)
		case i == 0 || i == len(s)-1:
			return fmt.Errorf("%s may not begin or end with %q", quote(s), string(ch))
		}
	}
	return nil
}
