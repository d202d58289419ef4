package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/berth-project/berth/adapters/fleet/agent/internal/durable"
	"github.com/berth-project/berth/adapters/fleet/agent/shim"
	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
)

// folders is the data folder. The package comment says what is where.
type folders struct {
	root string
	// users: tasks run as other accounts, which pass through to their folders.
	users bool
	lock  *os.File
}

// ErrInUse says that another agent works in the data folder.
var ErrInUse = errors.New("another agent uses the data folder")

// openFolders makes what is missing and takes the lock.
func openFolders(ctx context.Context, root string) (*folders, error) {
	if _, err := os.Lstat(root); errors.Is(err, fs.ErrNotExist) {
		if err := os.MkdirAll(root, 0o711); err != nil {
			return nil, err
		}
		// Whatever the umask is: tasks' users pass through.
		if err := os.Chmod(root, 0o711); err != nil {
			return nil, err
		}
	}
	f := &folders{root: root}
	for _, d := range []struct {
		path string
		mode os.FileMode
	}{{f.tasks(), 0o700}, {f.works(), 0o711}} {
		if err := durable.Mkdir(d.path); err != nil {
			return nil, err
		}
		if err := os.Chmod(d.path, d.mode); err != nil {
			return nil, err
		}
	}
	lock, err := os.OpenFile(filepath.Join(root, "lock"), os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, err
	}
	if err := takeLock(ctx, lock); err != nil {
		lock.Close()
		return nil, fmt.Errorf("%s: %w (%w)", root, ErrInUse, err)
	}
	f.lock = lock
	return f, nil
}

// lockPatience is how long to wait for the lock: where the agent before this one was
// killed while it forked a shim, the shim has the lock until it is a program of its own.
const lockPatience = 2 * time.Second

func takeLock(ctx context.Context, lock *os.File) error {
	for end := time.Now().Add(lockPatience); ; {
		err := unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil || time.Now().After(end) || !pause(ctx, 10*time.Millisecond) {
			return err
		}
	}
}

func (f *folders) close() error { return f.lock.Close() }

func (f *folders) tasks() string                { return filepath.Join(f.root, "tasks") }
func (f *folders) works() string                { return filepath.Join(f.root, "work") }
func (f *folders) task(id job.TaskID) string    { return filepath.Join(f.tasks(), id.String()) }
func (f *folders) work(id job.TaskID) string    { return filepath.Join(f.works(), id.String()) }
func (f *folders) mark(id job.TaskID) string    { return "BERTH_TASK_DIR=" + f.work(id) }
func (f *folders) reports(id job.TaskID) string { return filepath.Join(f.task(id), "report.json") }
func (f *folders) takens(id job.TaskID) string  { return filepath.Join(f.task(id), "taken") }

// readTerm returns the highest term seen, 0 where there was none.
func (f *folders) readTerm() (uint64, error) {
	path := filepath.Join(f.root, "term")
	text, err := durable.Read(path, 64)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	term, err := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%s is damaged: %w; write the servers' term into it", path, err)
	}
	return term, nil
}

// writeTerm makes the highest term seen durable. Where there is no room for a new file it is
// written over the old one, which fits and is so short that it is written at once: without
// the term the node could not even say what its full disk keeps it from.
func (f *folders) writeTerm(term uint64) error {
	path, text := filepath.Join(f.root, "term"), fmt.Appendf(nil, "%-20d\n", term)
	err := durable.Write(path, text)
	if isFull(err) {
		err = durable.Overwrite(path, text)
	}
	return err
}

// isFull reports whether an error says that there is no room.
func isFull(err error) bool { return errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) }

// try sees whether what tasks need can be written and executed, and is passed through to
// by their accounts.
func (f *folders) try() error {
	for path := f.works(); f.users && path != filepath.Dir(path); path = filepath.Dir(path) {
		info, err := os.Stat(path)
		if err == nil && info.Mode().Perm()&0o001 == 0 {
			err = fmt.Errorf("%s: tasks' accounts cannot pass through it (mode %04o); chmod o+x lets them", path, info.Mode().Perm())
		}
		if err != nil {
			return err
		}
	}
	for _, parent := range []string{f.root, f.tasks(), f.works()} {
		path, err := os.MkdirTemp(parent, ".try-*")
		switch {
		case err != nil:
		case parent == f.works():
			err = execute(path)
		default:
			err = durable.Write(filepath.Join(path, "file"), []byte("try\n"))
		}
		if path != "" {
			err = errors.Join(err, os.RemoveAll(path))
		}
		if err != nil {
			return about(parent, err)
		}
	}
	return nil
}

// about is an error of a try in the folder without the name that was made up for it: it is the
// same each time, or it would be news each time.
func about(folder string, err error) error {
	var own *fs.PathError
	if errors.As(err, &own) {
		return fmt.Errorf("%s: %w", folder, own.Err)
	}
	return err
}

// ids are the tasks that there are folders of, in the folder tasks or works.
func ids(folder string) ([]job.TaskID, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	var found []job.TaskID
	for _, e := range entries {
		if id, err := job.ParseTaskID(e.Name()); err == nil && e.IsDir() {
			found = append(found, id)
		}
	}
	return found, nil
}

// stage is how far a task has come, as its folder says.
type stage int

const (
	stageNew      stage = iota // it was never started
	stageStarted               // it was, or was about to be
	stageReported              // it has ended, and there is a report of it
)

// look finds out how far a task has come. The report is that of stageReported.
func (f *folders) look(id job.TaskID) (s stage, report api.Report, taken bool, err error) {
	data, err := durable.Read(f.reports(id), maxReportBytes)
	if err == nil {
		if report, err = decodeReport(data); err != nil {
			return stageStarted, report, false, fmt.Errorf("%s: %w", f.reports(id), err)
		}
		_, missing := os.Lstat(f.takens(id))
		return stageReported, report, missing == nil, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return stageStarted, report, false, err
	}
	started, err := shim.HasTask(f.task(id))
	if started || err != nil {
		return stageStarted, report, false, err
	}
	return stageNew, report, false, nil
}

// maxReportBytes is more than any report has.
const maxReportBytes = 1 << 20

func decodeReport(data []byte) (api.Report, error) {
	var r api.Report
	if err := json.Unmarshal(data, &r); err != nil {
		return r, err
	}
	if !r.State.Ended() || r.State == "" {
		return r, fmt.Errorf("%q is not an end", r.State)
	}
	return r, nil
}

// writeReport makes the report of a task that has ended durable.
func (f *folders) writeReport(r api.Report) error {
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if err := durable.Mkdir(f.task(r.Task)); err != nil {
		return err
	}
	return durable.Write(f.reports(r.Task), data)
}

// writeTaken notes that a server has taken the report. If that is lost the report is
// sent again, which changes nothing.
func (f *folders) writeTaken(id job.TaskID) error {
	return os.WriteFile(f.takens(id), nil, 0o600)
}
