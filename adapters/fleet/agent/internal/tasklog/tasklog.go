// Package tasklog keeps what a task writes to its standard output and error, up to
// a limit, and reads it while it grows.
//
// A stream is cut into files named by the place of their first byte in the stream,
// for example "stdout.00000000000000000000" and "stdout.00000000000010485760".
// A file is only appended to, and never renamed: a reader that knows its place
// finds it again after any number of rotations. The oldest files go when there are
// too many.
package tasklog

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// The streams of a task.
const (
	Stdout = "stdout"
	Stderr = "stderr"
)

// Limits say how much of one stream is kept: at most Files files of FileBytes
// bytes each.
type Limits struct {
	FileBytes int64 `json:"fileBytes"`
	Files     int   `json:"files"`
}

// Bytes is how much that is.
func (l Limits) Bytes() int64 { return l.FileBytes * int64(l.Files) }

// placeDigits is how many digits the place in a name has: those of the largest int64
// and one more, so that names sort like places.
const placeDigits = 20

func segmentName(stream string, start int64) string {
	return fmt.Sprintf("%s.%0*d", stream, placeDigits, start)
}

// segments are the places where the files of a stream begin, in ascending order.
func segments(dir, stream string) ([]int64, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var starts []int64
	for _, e := range entries {
		digits, ok := strings.CutPrefix(e.Name(), stream+".")
		if !ok || len(digits) != placeDigits {
			continue
		}
		if n, err := strconv.ParseInt(digits, 10, 64); err == nil && n >= 0 {
			starts = append(starts, n)
		}
	}
	slices.Sort(starts)
	return starts, nil
}

// Shorten deletes the oldest files of the streams in dir, which nobody writes any more,
// until room bytes are free that were not, and returns how many are. A stream of which
// nothing is left goes on to say how long it was: an empty file is at its end.
func Shorten(dir string, room int64) (freed int64, err error) {
	for _, stream := range []string{Stdout, Stderr} {
		starts, err := segments(dir, stream)
		if err != nil {
			return freed, err
		}
		end, err := endOf(dir, stream, starts)
		if err != nil {
			return freed, err
		}
		for i, s := range starts {
			if freed >= room || s == end {
				break
			}
			if err := os.Remove(filepath.Join(dir, segmentName(stream, s))); err != nil {
				return freed, err
			}
			if i+1 < len(starts) {
				freed += starts[i+1] - s
				continue
			}
			freed += end - s
			f, err := create(dir, stream, end)
			if err != nil {
				return freed, err
			}
			f.Close()
		}
	}
	return freed, nil
}

func create(dir, stream string, start int64) (*os.File, error) {
	flags := os.O_WRONLY | os.O_CREATE | os.O_EXCL | os.O_APPEND | unix.O_NOFOLLOW
	return os.OpenFile(filepath.Join(dir, segmentName(stream, start)), flags, 0o600)
}

// Writer keeps a stream. It is used by one goroutine.
type Writer struct {
	dir, stream string
	limits      Limits

	file     *os.File
	next     int64   // the place of the next byte in the stream
	room     int64   // bytes that still go into file
	segments []int64 // where the kept files begin
	lost     int64
}

// NewWriter keeps stream, one of Stdout and Stderr, in the folder dir.
func NewWriter(dir, stream string, limits Limits) *Writer {
	return &Writer{dir: dir, stream: stream, limits: limits}
}

// Write keeps p. It never fails, so that a full disk does not block the task: what
// could not be written is counted in Lost, and the stream goes on after it.
func (w *Writer) Write(p []byte) (int, error) {
	all := len(p)
	for len(p) > 0 {
		if w.room == 0 {
			if err := w.rotate(); err != nil {
				w.lost += int64(len(p))
				break
			}
		}
		part := p[:min(int64(len(p)), w.room)]
		n, err := w.file.Write(part)
		w.next += int64(n)
		w.room -= int64(n)
		p = p[n:]
		if err != nil {
			w.lost += int64(len(p))
			break
		}
	}
	return all, nil
}

// Stream is which one it is.
func (w *Writer) Stream() string { return w.stream }

// Lost is how many bytes could not be kept.
func (w *Writer) Lost() int64 { return w.lost }

// Dropped is how many bytes from the beginning on are not kept any more.
func (w *Writer) Dropped() int64 {
	if len(w.segments) == 0 {
		return 0
	}
	return w.segments[0]
}

// Close ends writing.
func (w *Writer) Close() error {
	if w.file == nil {
		return nil
	}
	return w.file.Close()
}

func (w *Writer) rotate() error {
	f, err := create(w.dir, w.stream, w.next)
	if err != nil {
		return err
	}
	if w.file != nil {
		w.file.Close()
	}
	w.file, w.room = f, w.limits.FileBytes
	w.segments = append(w.segments, w.next)
	for len(w.segments) > w.limits.Files {
		os.Remove(filepath.Join(w.dir, segmentName(w.stream, w.segments[0])))
		w.segments = w.segments[1:]
	}
	return nil
}
