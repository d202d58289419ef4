package cluster

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// Disk is a small file system in memory.
type Disk struct{ dir string }

// mount makes one on the folder. Nothing on it can be executed where noExec is true.
func mount(dir string, bytes int64, noExec bool) (*Disk, error) {
	if os.Geteuid() != 0 {
		return nil, errors.New("small file systems need root")
	}
	flags := uintptr(unix.MS_NOSUID | unix.MS_NODEV)
	if noExec {
		flags |= unix.MS_NOEXEC
	}
	if err := unix.Mount("berth-e2e", dir, "tmpfs", flags, fmt.Sprintf("size=%d,mode=711", bytes)); err != nil {
		return nil, fmt.Errorf("mounting a small file system on %s: %w", dir, err)
	}
	return &Disk{dir: dir}, nil
}

func (d *Disk) filler() string { return filepath.Join(d.dir, "filler") }

// Fill takes all room that is left. What is written meanwhile may take a part of it,
// so it goes on until nothing is left twice.
func (d *Disk) Fill() error {
	f, err := os.OpenFile(d.filler(), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		if errors.Is(err, syscall.ENOSPC) {
			return nil
		}
		return err
	}
	defer f.Close()
	chunk := make([]byte, 1<<20)
	for size := len(chunk); size > 0; {
		_, err := f.Write(chunk[:size])
		switch {
		case err == nil:
		case errors.Is(err, syscall.ENOSPC):
			size /= 2
		default:
			return err
		}
	}
	return nil
}

// Free gives the room back.
func (d *Disk) Free() error {
	if err := os.Remove(d.filler()); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// unmount takes it away, with what is in it.
func (d *Disk) unmount() error { return unix.Unmount(d.dir, unix.MNT_DETACH) }
