package observe

import (
	"encoding/json"
	"fmt"
	"io"
	"sync/atomic"

	"github.com/berth-project/berth/extpoints"
)

// Lines writes one JSON object a line, for one writer goroutine at a time, until a
// write fails.
type Lines struct {
	enc   *json.Encoder
	taken atomic.Bool
	err   atomic.Pointer[error]
}

// NewLines writes to w.
func NewLines(w io.Writer) *Lines { return &Lines{enc: json.NewEncoder(w)} }

// Take reports whether nobody has taken the lines before.
func (l *Lines) Take() bool { return l.taken.CompareAndSwap(false, true) }

// Taken reports whether somebody has taken the lines.
func (l *Lines) Taken() bool { return l.taken.Load() }

// Write writes a line. The first failure is returned; after it nothing is written.
func (l *Lines) Write(v any) error {
	if l.err.Load() != nil {
		return nil
	}
	if err := l.encode(v); err != nil {
		err = fmt.Errorf("record an input: %w; nothing more is recorded", err)
		l.err.Store(&err)
		return err
	}
	return nil
}

// encode writes the line; a writer that panics has failed.
func (l *Lines) encode(v any) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("the writer panicked: %v", cause)
		}
	}()
	return extpoints.AsStatus(l.enc.Encode(v)).AsError() // which can be read
}

// Err returns the first failure. Any goroutine may call it.
func (l *Lines) Err() error {
	if err := l.err.Load(); err != nil {
		return *err
	}
	return nil
}
