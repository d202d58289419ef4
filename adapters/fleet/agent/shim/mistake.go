package shim

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
)

// Mistake is why a task cannot be started where what the job asks for is wrong, as far as
// the node can tell: the servers have it confirmed by another node. Every other error is
// the node's for sure.
type Mistake struct {
	// Code is what a shell would exit with: one of the constants below.
	Code int
	// Text is one sentence that names what is wrong, and why.
	Text string
}

// The codes of a Mistake.
const (
	CodeMistake       = 1   // none of the others
	CodeNotExecutable = 126 // the program is there and cannot be executed
	CodeNotFound      = 127 // the program, its interpreter or its loader is not there
)

// Error implements error.
func (m *Mistake) Error() string { return m.Text }

func mistake(code int, format string, args ...any) error {
	return &Mistake{Code: code, Text: fmt.Sprintf(format, args...)}
}

// usersErrors are what system calls say of a path that the user should not have named.
// What they say of a broken disk, one that is full or read-only, or of a table that is
// full is the node's fault.
var usersErrors = []syscall.Errno{
	syscall.ENOENT, syscall.EACCES, syscall.EPERM, syscall.ENOTDIR, syscall.EISDIR, syscall.ELOOP, syscall.ENAMETOOLONG,
	syscall.ENXIO, syscall.ETXTBSY, syscall.EDQUOT,
}

// isUsers reports whether an error of a system call is due to the path that the user
// named. It is called with the rights of the account.
func (t Task) isUsers(err error) bool {
	var errno syscall.Errno
	if !errors.As(err, &errno) || !slices.Contains(usersErrors, errno) {
		return false
	}
	if t.Folder == "" {
		return true
	}
	_, err = os.Stat(t.Folder + "/.") // what the agent made may have gone, or be shut off
	return err == nil
}

// isOwn reports whether the agent made what is at the path: what is wrong there is not
// the user's fault.
func (t Task) isOwn(path string) bool { return t.Folder != "" && filepath.Dir(path) == t.Folder }

// reason says in words what a system call said of a path that the user named.
func (t Task) reason(err error) string {
	var errno syscall.Errno
	switch {
	case !errors.As(err, &errno):
		return err.Error()
	case (errno == syscall.EACCES || errno == syscall.EPERM) && t.Account != nil:
		return fmt.Sprintf("%v for %s", errno, t.Account.Name)
	}
	return errno.Error()
}

// notStarted sets down that the task could not be started.
func (s *Status) notStarted(err error) {
	s.State, s.Message = job.BootFail, api.CutMessage(err.Error())
	var m *Mistake
	if errors.As(err, &m) {
		s.State, s.Exit = job.Failed, &Exit{Code: m.Code}
	}
}
