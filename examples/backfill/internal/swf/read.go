package swf

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// The limits of what is read. The largest number is as many seconds as a time.Duration
// can have, and leaves room for sums over a billion jobs.
const (
	fields     = 18
	longest    = 1 << 20 // bytes of a line
	largest    = 1 << 33 // a number: 272 years in seconds
	unknown    = -1
	maxProblem = 10 // how many problems an error lists
)

// ErrMalformed is wrapped by the errors about a file's content.
var ErrMalformed = errors.New("malformed log")

// Load reads the log in the file, plain or compressed with gzip, whatever the file is
// called. An error about the content wraps ErrMalformed and lists the bad lines with
// their numbers.
func Load(file string) (*Log, error) {
	in, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("read log: %w", err)
	}
	defer in.Close()
	return Read(filepath.Base(file), in)
}

// Read is Load of what in has; messages call it by the name.
func Read(name string, in io.Reader) (*Log, error) {
	text, err := unzipped(in)
	if err != nil {
		return nil, fmt.Errorf("read log %s: %w", name, err)
	}
	r := reader{name: name, lines: map[int64]int{}}
	lines := bufio.NewScanner(text)
	lines.Buffer(nil, longest)
	for lines.Scan() {
		r.line++
		r.read(strings.TrimSpace(lines.Text()))
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		r.line++
		r.problemf("longer than %d bytes; nothing after it was read", longest)
	case err != nil:
		return nil, fmt.Errorf("read log %s after line %d: %w", name, r.line, err)
	case len(r.log.Jobs) == 0 && r.count == 0:
		return nil, fmt.Errorf("read log %s: %w: it has no jobs", name, ErrMalformed)
	}
	return &r.log, r.err()
}

// unzipped is the text of in, which may be compressed: gzip begins with bytes that no
// text begins with.
func unzipped(in io.Reader) (io.Reader, error) {
	b := bufio.NewReader(in)
	if head, _ := b.Peek(2); !bytes.Equal(head, []byte{0x1f, 0x8b}) {
		return b, nil // an error of Peek comes again when b is read
	}
	return gzip.NewReader(b)
}

// reader collects jobs and problems.
type reader struct {
	name     string
	line     int // the one being read, from 1
	log      Log
	nodes    bool          // log.Procs is MaxNodes
	lines    map[int64]int // where each job number was first seen
	problems []string
	count    int // of problems, also those that are not listed
}

func (r *reader) problemf(format string, args ...any) {
	if r.count++; r.count <= maxProblem {
		r.problems = append(r.problems, fmt.Sprintf("%s:%d: ", r.name, r.line)+fmt.Sprintf(format, args...))
	}
}

func (r *reader) err() error {
	if r.count == 0 {
		return nil
	}
	text := strings.Join(r.problems, "\n  ")
	if more := r.count - len(r.problems); more > 0 {
		text += fmt.Sprintf("\n  and %d more", more)
	}
	return fmt.Errorf("%w\n  %s", ErrMalformed, text)
}

func (r *reader) read(line string) {
	switch {
	case line == "":
	case line[0] == ';':
		r.header(line[1:])
	default:
		r.job(strings.Fields(line))
	}
}

// header takes the size of the machine from a comment. Archive headers give some numbers
// with a remark behind.
func (r *reader) header(comment string) {
	name, value, _ := strings.Cut(comment, ":")
	words := strings.Fields(value)
	if len(words) == 0 {
		return
	}
	n, err := strconv.ParseInt(words[0], 10, 64)
	if err != nil || n < 1 || n > largest {
		return
	}
	switch strings.TrimSpace(name) {
	case "MaxProcs":
		r.log.Procs, r.nodes = n, false
	case "MaxNodes":
		if r.log.Procs == 0 || r.nodes {
			r.log.Procs, r.nodes = n, true
		}
	}
}

// job takes a job from the fields of a line. All of its problems are noted.
func (r *reader) job(texts []string) {
	if len(texts) != fields {
		r.problemf("%d fields, want %d", len(texts), fields)
		return
	}
	before := r.count
	j := Job{
		Line:       r.line,
		Number:     r.number(texts, 1, "job number", 0),
		Submit:     r.number(texts, 2, "submit time", 0),
		Wait:       r.number(texts, 3, "wait time", unknown),
		Run:        r.number(texts, 4, "run time", unknown),
		Allocated:  r.number(texts, 5, "allocated processors", unknown),
		Requested:  r.number(texts, 8, "requested processors", unknown),
		Estimate:   r.number(texts, 9, "requested time", unknown),
		Backfilled: texts[15] == "1",
	}
	if r.count > before {
		return
	}
	if first, twice := r.lines[j.Number]; twice {
		r.problemf("job %d is already on line %d", j.Number, first)
		return
	}
	r.lines[j.Number] = r.line
	r.log.Jobs = append(r.log.Jobs, j)
}

// number is the field, counted from 1 as in the definition of the format.
func (r *reader) number(texts []string, field int, name string, least int64) int64 {
	text := texts[field-1]
	n, err := strconv.ParseInt(text, 10, 64)
	switch {
	case err != nil && !errors.Is(err, strconv.ErrRange):
		r.problemf("field %d (%s): %q is not a whole number", field, name, text)
	case err != nil || n < least || n > largest:
		r.problemf("field %d (%s): %s is not in [%d, %d]", field, name, text, least, int64(largest))
	}
	return n
}
