package pki

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// maxFile is the size that a file of certificates or keys may have.
const maxFile = 64 << 10

// writeFile writes a file in one step: readers see all of it or none. The
// file is on the disk when it returns. A file that is there stays, and the error
// is fs.ErrExist, unless replace is set.
func writeFile(path string, data []byte, mode fs.FileMode, replace bool) (err error) {
	tmp, err := os.CreateTemp(filepath.Dir(path), ".new-*") // mode 0600
	if err != nil {
		return err
	}
	defer func() {
		tmp.Close()
		if rm := os.Remove(tmp.Name()); rm != nil && !errors.Is(rm, fs.ErrNotExist) {
			err = errors.Join(err, rm)
		}
	}()
	if err := tmp.Chmod(mode); err != nil {
		return err
	}
	if _, err := tmp.Write(data); err != nil {
		return err
	}
	if err := tmp.Sync(); err != nil {
		return err
	}
	if replace {
		err = os.Rename(tmp.Name(), path)
	} else {
		err = os.Link(tmp.Name(), path) // fails where there is one, rename would not
	}
	if errors.Is(err, fs.ErrExist) {
		return &fs.PathError{Op: "write", Path: path, Err: fs.ErrExist}
	}
	if err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

func readLimited(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readAll(f)
}

// ReadSecret reads a file with a key or a token. It refuses one that others than its owner
// may read, its group too.
func ReadSecret(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("others than its owner can read %s (mode %04o): a file with a token or a key needs mode 0600 (chmod 600)", path, info.Mode().Perm())
	}
	return readAll(f)
}

func readAll(f *os.File) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxFile {
		return nil, fmt.Errorf("%s has more than %d bytes", f.Name(), maxFile)
	}
	return data, nil
}
