package tasklog

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Reader reads a kept stream. At the end of what is there it returns io.EOF, and may
// be called again when there may be more.
type Reader struct {
	dir, stream string
	file        *os.File
	start       int64 // where file begins in the stream
	place       int64 // of the next byte
}

// Open begins to read stream in dir at the place offset, or at the first byte that
// is still kept, if that is later. A negative offset counts from the end.
func Open(dir, stream string, offset int64) (*Reader, error) {
	starts, err := segments(dir, stream)
	if err != nil {
		return nil, err
	}
	if offset < 0 {
		end, err := endOf(dir, stream, starts)
		if err != nil {
			return nil, err
		}
		offset = max(0, end+offset)
	}
	if len(starts) > 0 {
		offset = max(offset, starts[0])
	}
	return &Reader{dir: dir, stream: stream, place: offset}, nil
}

func endOf(dir, stream string, starts []int64) (int64, error) {
	if len(starts) == 0 {
		return 0, nil
	}
	last := starts[len(starts)-1]
	info, err := os.Lstat(filepath.Join(dir, segmentName(stream, last)))
	if err != nil {
		return 0, err
	}
	return last + info.Size(), nil
}

// Offset is the place of the next byte in the stream.
func (r *Reader) Offset() int64 { return r.place }

// ErrDropped says that the bytes that were to be read next are not kept any more.
var ErrDropped = errors.New("the log grew faster than it was read, and its oldest part is not kept")

// Read implements io.Reader. Where the next bytes were rotated away it returns ErrDropped
// once, and goes on with the first that are kept; Offset tells which.
func (r *Reader) Read(p []byte) (int, error) {
	for {
		if r.file == nil {
			before := r.place
			err := r.open()
			if errors.Is(err, fs.ErrNotExist) {
				continue // it was rotated away between the look and the open
			}
			if err != nil {
				return 0, err
			}
			if r.place > before {
				return 0, ErrDropped
			}
		}
		next, err := r.nextSegment()
		if err != nil {
			return 0, err
		}
		// The read comes after the look for the next file: at its end now, this
		// file has been read whole if there was a next one before.
		n, err := r.file.ReadAt(p, r.place-r.start)
		r.place += int64(n)
		if n > 0 {
			return n, nil
		}
		if !errors.Is(err, io.EOF) {
			return 0, err
		}
		if next < 0 {
			return 0, io.EOF
		}
		r.Close()
		if r.place < next {
			r.place = next
			return 0, ErrDropped
		}
	}
}

// Close ends reading.
func (r *Reader) Close() error {
	if r.file == nil {
		return nil
	}
	err := r.file.Close()
	r.file = nil
	return err
}

// open opens the file that has the place, or the first one after it.
func (r *Reader) open() error {
	starts, err := segments(r.dir, r.stream)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(starts) == 0 {
		return io.EOF // nothing is kept yet, or not any more
	}
	if err != nil {
		return err
	}
	r.start = starts[0]
	for _, s := range starts {
		if s <= r.place {
			r.start = s
		}
	}
	name := filepath.Join(r.dir, segmentName(r.stream, r.start))
	file, err := os.OpenFile(name, os.O_RDONLY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return err
	}
	r.file, r.place = file, max(r.place, r.start)
	return nil
}

// nextSegment is where the file after the open one begins, or -1.
func (r *Reader) nextSegment() (int64, error) {
	starts, err := segments(r.dir, r.stream)
	if err != nil {
		return 0, err
	}
	for _, s := range starts {
		if s > r.start {
			return s, nil
		}
	}
	return -1, nil
}
