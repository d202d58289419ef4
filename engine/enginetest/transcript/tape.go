package transcript

import (
	"io"
	"strings"
)

// tape holds, in order, the recorded inputs of an engine and the changes of the
// script between them, so that a replay finds the plugins as they were.
type tape struct{ steps []step }

// step is one or the other.
type step struct {
	input  string
	script line
}

// Write takes one line of an [engine.Recorder].
func (t *tape) Write(p []byte) (int, error) {
	t.steps = append(t.steps, step{input: string(p)})
	return len(p), nil
}

// inputs are the lines of the recorder alone.
func (t *tape) inputs() string {
	var b strings.Builder
	for i := range t.steps {
		b.WriteString(t.steps[i].input)
	}
	return b.String()
}

// tapeReader plays a tape: each Read returns one input, and not before the
// changes of the script that came before it are made.
type tapeReader struct {
	tape     *tape
	next     int
	rest     string
	scripted func(line)
}

// Read implements [io.Reader].
func (r *tapeReader) Read(p []byte) (int, error) {
	for r.rest == "" {
		if r.next == len(r.tape.steps) {
			return 0, io.EOF
		}
		s := &r.tape.steps[r.next]
		r.next++
		if s.input == "" {
			r.scripted(s.script)
		}
		r.rest = s.input
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}
