// Package durable writes small files that must survive a crash of the process or
// of the machine: complete or not at all, and on disk when the call returns.
package durable

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// ErrTooLarge says that a file is larger than what its reader allows.
var ErrTooLarge = errors.New("the file is too large")

// Write replaces the file path by data, with mode 0600. Each path has one writer at
// a time. When it returns nil the file is on disk, under its name.
func Write(path string, data []byte) error {
	dir, base := filepath.Split(path)
	temp := filepath.Join(dir, "."+base+".new")
	if err := writeSynced(temp, data); err != nil {
		os.Remove(temp)
		return fmt.Errorf("writing %s: %w", path, err)
	}
	if err := os.Rename(temp, path); err != nil {
		os.Remove(temp)
		return err
	}
	return SyncDir(dir)
}

// Overwrite writes data over the beginning of the file path, which is there: no room is
// needed for what it has room for already. It is on disk when it returns nil. A crash may
// leave a part of data that is longer than a sector.
func Overwrite(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(data, 0)
	return errors.Join(err, f.Sync(), f.Close())
}

func writeSynced(path string, data []byte) error {
	flags := os.O_WRONLY | os.O_CREATE | os.O_TRUNC | unix.O_NOFOLLOW
	f, err := os.OpenFile(path, flags, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Sync(), f.Close())
}

// Mkdir makes the folder path with mode 0700, where it is not there yet, and its
// entry durable.
func Mkdir(path string) error {
	if err := os.Mkdir(path, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return SyncDir(filepath.Dir(path))
}

// SyncDir makes the entries of the folder path durable.
func SyncDir(path string) error {
	if path == "" {
		path = "."
	}
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// Read returns what the file path has, and ErrTooLarge where that is more than
// limit bytes. It follows no symbolic link in the last part of the path.
func Read(path string, limit int64) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = fmt.Errorf("%s: %w", path, ErrTooLarge)
	}
	if err != nil {
		return nil, err
	}
	return data, nil
}
