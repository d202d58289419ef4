package tasklog

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/model/modeltest"
)

// TestTwin writes and reads at random, beside the simplest log there is: all that was
// written in one piece of memory, of which the last files are kept.
func TestTwin(t *testing.T) {
	seed := modeltest.Seed(t)
	r := rand.New(rand.NewPCG(seed, 0))
	for range 200 {
		dir := t.TempDir()
		limits := Limits{FileBytes: 1 + r.Int64N(50), Files: 1 + r.IntN(4)}
		w := NewWriter(dir, Stdout, limits)
		var all []byte
		follower, err := Open(dir, Stdout, 0)
		require.NoError(t, err)
		for range r.IntN(30) {
			text := make([]byte, r.IntN(60))
			for i := range text {
				text[i] = byte(r.Uint32())
			}
			n, err := w.Write(text)
			require.NoError(t, err)
			require.Equal(t, len(text), n)
			all = append(all, text...)

			// A follower may lose what is rotated away, and nothing else.
			for {
				buf := make([]byte, 1+r.IntN(40))
				before := follower.Offset()
				n, err := follower.Read(buf)
				if errors.Is(err, ErrDropped) {
					require.Equal(t, w.Dropped(), follower.Offset())
					require.Greater(t, follower.Offset(), before)
					continue
				}
				require.Equal(t, before+int64(n), follower.Offset(), "it must say so where it leaves bytes out")
				if n > 0 {
					require.Equal(t, all[follower.Offset()-int64(n):follower.Offset()], buf[:n])
				}
				if errors.Is(err, io.EOF) {
					break
				}
				require.NoError(t, err)
			}
			require.Equal(t, int64(len(all)), follower.Offset())

			from := r.Int64N(int64(len(all)) + 2)
			reader, err := Open(dir, Stdout, from)
			require.NoError(t, err)
			first := reader.Offset()
			require.GreaterOrEqual(t, first, from)
			kept := int64(len(all)) - first
			require.Equal(t, max(from, w.Dropped()), first)
			require.True(t, first == from || kept > limits.FileBytes*int64(limits.Files-1), "more was lost than has to be")
			got, err := io.ReadAll(reader)
			require.NoError(t, err)
			require.True(t, bytes.Equal(all[min(first, int64(len(all))):], got))
			require.NoError(t, reader.Close())
		}
		require.NoError(t, follower.Close())
		require.NoError(t, w.Close())
		require.Zero(t, w.Lost())
		files, err := filepath.Glob(filepath.Join(dir, "*"))
		require.NoError(t, err)
		require.LessOrEqual(t, len(files), limits.Files)

		// The oldest goes first, and a reader is told where the stream goes on.
		for kept := int64(len(all)) - w.Dropped(); kept > 0; {
			room := 1 + r.Int64N(60)
			freed, err := Shorten(dir, room)
			require.NoError(t, err)
			require.GreaterOrEqual(t, freed, min(room, kept))
			kept -= freed
			reader, err := Open(dir, Stdout, 0)
			require.NoError(t, err)
			require.Equal(t, int64(len(all))-kept, reader.Offset())
			got, err := io.ReadAll(reader)
			require.NoError(t, err)
			require.True(t, bytes.Equal(all[int64(len(all))-kept:], got))
			require.NoError(t, reader.Close())
		}
		freed, err := Shorten(dir, 1)
		require.NoError(t, err)
		require.Zero(t, freed)
	}
}

// TestLost: what cannot be kept is counted, and writing goes on when it can.
func TestLost(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "later")
	w := NewWriter(dir, Stderr, Limits{FileBytes: 10, Files: 2})
	n, err := w.Write([]byte("lost"))
	require.NoError(t, err)
	require.Equal(t, 4, n)
	require.Equal(t, int64(4), w.Lost())
	require.NoError(t, os.Mkdir(dir, 0o700))
	w.Write([]byte("kept"))
	r, err := Open(dir, Stderr, 0)
	require.NoError(t, err)
	defer r.Close()
	got, err := io.ReadAll(r)
	require.NoError(t, err)
	require.Equal(t, "kept", string(got))
}

// TestOtherFiles in the folder are none of a stream's.
func TestOtherFiles(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"stdout", "stdout.1", "stdout.-0000000000000000001", "stdout.0000000000000000000x", "stdoutx.00000000000000000000", "stdout.99999999999999999999"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o600))
	}
	starts, err := segments(dir, Stdout)
	require.NoError(t, err)
	require.Empty(t, starts)
}
