package shim

import (
	"fmt"
	"os"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// as runs f with the rights of an account on files, and not those of root: what the
// account may not open, f cannot. A nil account is the process's own.
//
// The rights are those of a thread. It is not used again: it ends with its goroutine.
func as(a *Account, f func() error) error {
	if a == nil || os.Geteuid() != 0 {
		return f()
	}
	result := make(chan error)
	go func() {
		runtime.LockOSThread() // and never unlocked
		if err := become(a); err != nil {
			result <- fmt.Errorf("taking the rights of %s: %w", a.Name, err)
			return
		}
		result <- f()
	}()
	return <-result
}

// become changes this thread alone: the functions of package syscall would change
// all threads of the process. Leaving user 0 drops the rights of root on files.
func become(a *Account) error {
	var list unsafe.Pointer
	if len(a.Groups) > 0 {
		list = unsafe.Pointer(&a.Groups[0])
	}
	_, _, errno := syscall.RawSyscall(unix.SYS_SETGROUPS, uintptr(len(a.Groups)), uintptr(list), 0)
	if errno != 0 {
		return errno
	}
	// These calls tell no errors: asking with an impossible number tells what holds.
	if err := unix.Setfsgid(int(a.GID)); err != nil {
		return err
	}
	if err := unix.Setfsuid(int(a.UID)); err != nil {
		return err
	}
	uid, err := unix.SetfsuidRetUid(-1)
	if err == nil && uint32(uid) != a.UID {
		err = unix.EPERM
	}
	return err
}

// credential is how a process is started as the account; nil: as this one.
func credential(a *Account) *syscall.Credential {
	if a == nil || os.Geteuid() != 0 {
		return nil
	}
	return &syscall.Credential{Uid: a.UID, Gid: a.GID, Groups: a.Groups}
}
