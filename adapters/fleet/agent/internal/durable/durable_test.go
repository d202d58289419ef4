package durable

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWriteAndRead(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	require.NoError(t, Write(path, []byte("a longer first text")))
	require.NoError(t, Write(path, []byte("second")))
	data, err := Read(path, 6)
	require.NoError(t, err)
	require.Equal(t, "second", string(data))
	_, err = Read(path, 5)
	require.ErrorIs(t, err, ErrTooLarge)
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, 1, "nothing else is left")

	// What a crash left of an earlier write is in nobody's way.
	require.NoError(t, os.WriteFile(filepath.Join(dir, ".file.new"), []byte("half of a much longer text"), 0o600))
	require.NoError(t, Write(path, []byte("third")))
	data, err = Read(path, 100)
	require.NoError(t, err)
	require.Equal(t, "third", string(data))
}

func TestFailedWriteLeavesTheOldFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	require.NoError(t, Write(path, []byte("old")))
	require.NoError(t, os.Mkdir(filepath.Join(dir, ".file.new"), 0o700)) // nothing can be written there
	require.Error(t, Write(path, []byte("new")))
	data, err := Read(path, 100)
	require.NoError(t, err)
	require.Equal(t, "old", string(data))
}

func TestLinksAreNotFollowed(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "secret"), []byte("secret"), 0o600))
	require.NoError(t, os.Symlink("secret", filepath.Join(dir, "link")))
	require.NoError(t, os.Symlink("secret", filepath.Join(dir, ".file.new")))
	_, err := Read(filepath.Join(dir, "link"), 100)
	require.Error(t, err)
	require.Error(t, Write(filepath.Join(dir, "file"), []byte("new")))
	data, err := os.ReadFile(filepath.Join(dir, "secret"))
	require.NoError(t, err)
	require.Equal(t, "secret", string(data))
}

func TestMkdir(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	require.NoError(t, Mkdir(path))
	require.NoError(t, Mkdir(path), "it may be there")
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o700), info.Mode().Perm())
}
