package shim

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/berth-project/berth/adapters/fleet/agent/internal/tasklog"
	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
)

// outputs are where a task's standard output and error go.
type outputs struct {
	stdout, stderr *os.File // the task's ends
	ours           []*os.File
	writers        []*tasklog.Writer
	copying        sync.WaitGroup
}

// openOutputs opens them. The goroutines that keep output end when no process of
// the task has its end of the pipe open any more, or by finish.
func openOutputs(t Task) (*outputs, error) {
	o := &outputs{}
	var err error
	if o.stdout, err = o.open(t, tasklog.Stdout, "output file", t.Stdout, t.TruncateStdout); err != nil {
		return nil, err
	}
	if t.Stderr != "" && t.Stderr == t.Stdout {
		o.stderr = o.stdout
		return o, nil
	}
	if o.stderr, err = o.open(t, tasklog.Stderr, "error file", t.Stderr, t.TruncateStderr); err != nil {
		return nil, err
	}
	return o, nil
}

func (o *outputs) open(t Task, stream, what, path string, truncate bool) (f *os.File, err error) {
	if path != "" {
		err = as(t.Account, func() (err error) {
			if f, err = openUserFile(path, truncate); err == nil {
				return nil
			}
			return t.noUserFile(what, path, err)
		})
		return f, err
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	// Ours waits in the runtime, the task's must block as programs expect.
	if err := unix.SetNonblock(int(w.Fd()), false); err != nil {
		return nil, err
	}
	writer := tasklog.NewWriter(".", stream, t.Logs)
	o.ours = append(o.ours, r)
	o.writers = append(o.writers, writer)
	o.copying.Go(func() {
		// The only errors are those of reading: the end. Buffers stay small, there
		// are two of them for each task of the node.
		io.CopyBuffer(struct{ io.Writer }{writer}, struct{ io.Reader }{r}, make([]byte, 16<<10))
		writer.Close()
	})
	return w, nil
}

// errNoFile says that what is to be written to is something else than a file.
var errNoFile = errors.New("it is neither a file nor /dev/null")

// noUserFile says why a file of the user's could not be opened. It is called with the
// rights of the account.
func (t Task) noUserFile(what, path string, err error) error {
	reason := t.reason(err)
	info, lookErr := os.Lstat(path)
	switch {
	case errors.Is(err, errNoFile):
	case !t.isUsers(err):
		return fmt.Errorf("%s: %w", what, err)
	case lookErr == nil && info.Mode()&fs.ModeSymlink != 0:
		reason = "it is a symbolic link, which output does not follow"
	case lookErr == nil && errors.Is(err, syscall.ENXIO):
		reason = errNoFile.Error()
	case errors.Is(err, fs.ErrNotExist):
		reason = "there is no folder " + firstMissing(filepath.Dir(path))
	}
	return mistake(CodeMistake, "%s %s: %s", what, path, reason)
}

// firstMissing is the part of the way to a folder that is not there.
func firstMissing(folder string) string {
	for {
		parent := filepath.Dir(folder)
		if _, err := os.Stat(parent); err == nil || parent == folder {
			return folder
		}
		folder = parent
	}
}

// openUserFile opens a file for a user, who names it: with the rights of the user,
// so no link leads to where the user may not write. The last part of the path must
// be no link at all, for in a folder that others write to they may have put it
// there. Only files and /dev/null will do: nothing that blocks, or does something
// else when it is written to. It is always appended to, for others may write to it, too.
func openUserFile(path string, truncate bool) (*os.File, error) {
	flags := unix.O_WRONLY | unix.O_CREAT | unix.O_APPEND | unix.O_NOFOLLOW | unix.O_NONBLOCK | unix.O_CLOEXEC
	fd, err := unix.Open(path, flags, 0o666)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	var st unix.Stat_t
	if err = unix.Fstat(fd, &st); err == nil {
		null := st.Mode&unix.S_IFMT == unix.S_IFCHR && st.Rdev == unix.Mkdev(1, 3)
		if st.Mode&unix.S_IFMT != unix.S_IFREG && !null {
			err = errNoFile
		} else {
			err = unix.SetNonblock(fd, false)
		}
	}
	if err == nil && truncate && st.Mode&unix.S_IFMT == unix.S_IFREG {
		if err = unix.Ftruncate(fd, 0); err != nil {
			err = &os.PathError{Op: "truncate", Path: path, Err: err}
		}
	}
	if err != nil {
		unix.Close(fd)
		return nil, err
	}
	return os.NewFile(uintptr(fd), path), nil
}

// started closes the task's ends in this process: only the task has them now.
func (o *outputs) started() {
	o.stdout.Close()
	o.stderr.Close()
}

// finish waits until all output was kept, but not longer than limit: a process that
// could not be killed may hold the pipe.
func (o *outputs) finish(limit time.Duration) {
	timer := time.AfterFunc(limit, func() {
		for _, f := range o.ours {
			f.Close() // ends the copying
		}
	})
	o.copying.Wait()
	timer.Stop()
}

// missing says what was not kept of the output, with the limits that there are. It is
// called after finish.
func (o *outputs) missing(limits tasklog.Limits) (notes []string) {
	var lost int64
	for _, w := range o.writers {
		lost += w.Lost()
		if n := w.Dropped(); n > 0 {
			notes = append(notes, fmt.Sprintf("the first %d bytes of %s were dropped: the node keeps at most %s of it",
				n, w.Stream(), job.Bytes(limits.Bytes())))
		}
	}
	if lost > 0 {
		notes = append(notes, fmt.Sprintf("%d bytes %s", lost, api.NotKept))
	}
	return notes
}
