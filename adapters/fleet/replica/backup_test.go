package replica

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// prepareList restores a list as it is.
func prepareList(r io.Reader, w io.Writer) error {
	return new(list).Restore(io.TeeReader(r, w))
}

func TestBackupAndRestore(t *testing.T) {
	t.Parallel()
	c := newCluster(t).steady().three()
	c.propose("one")
	c.propose("two")
	c.start("s4", false)
	c.add("s4") // a change of members is no reason to have no backup
	leader := c.leader()
	var backup bytes.Buffer
	info, err := leader.Backup(t.Context(), &backup)
	require.NoError(t, err)
	require.Positive(t, info.Index)
	kept := leader.machine.all()

	c.propose("later")
	begun := make(chan uint64, 100)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- leader.Lead(ctx, func(ctx context.Context, term uint64) { begun <- term; <-ctx.Done() })
	}()
	<-begun
	_, err = leader.RestoreBackup(t.Context(), bytes.NewReader(backup.Bytes()), prepareList)
	require.NoError(t, err)
	require.Equal(t, kept, leader.machine.all())
	<-begun // what is led begins again
	cancel()
	require.ErrorIs(t, <-ended, context.Canceled)
	require.Equal(t, others(kept), others(c.agree()), "on all servers")

	spools, err := filepath.Glob(filepath.Join(c.dir, "*", "restore-*"))
	require.NoError(t, err)
	require.Empty(t, spools)

	for name := range c.all() {
		c.stop(name)
	}
	for _, name := range []string{"s1", "s2", "s3", "s4"} {
		c.start(name, false)
	}
	require.Equal(t, others(kept), others(c.agree()), "after a restart")
}

func TestFollowerHasTheSameBackupWhereNothingHasHappened(t *testing.T) {
	t.Parallel()
	c := newCluster(t).steady().three()
	leader := c.leader()
	for _, n := range c.all() {
		if n == leader {
			continue
		}
		var one, two bytes.Buffer
		_, err := n.Backup(t.Context(), &one)
		require.NoError(t, err)
		_, err = n.Backup(t.Context(), &two)
		require.NoError(t, err)
		require.Equal(t, one.Bytes(), two.Bytes())
	}
}

func TestBackupIntoAnotherFleet(t *testing.T) {
	t.Parallel()
	a, b := newCluster(t), newCluster(t)
	a.start("s1", true)
	b.start("s1", true)
	a.propose("from a")
	b.propose("from b")
	var backup bytes.Buffer
	_, err := a.leader().Backup(t.Context(), &backup)
	require.NoError(t, err)
	_, err = b.leader().RestoreBackup(t.Context(), &backup, prepareList)
	require.NoError(t, err)
	require.Equal(t, []string{"from a", "agree"}, b.agree())
}

func TestSpoiledBackupsChangeNothing(t *testing.T) {
	t.Parallel()
	random := seeded(t)
	c := newCluster(t)
	s := c.start("s1", true)
	c.propose("kept")
	var backup bytes.Buffer
	_, err := s.Backup(t.Context(), &backup)
	require.NoError(t, err)
	good := backup.Bytes()
	refused := func(spoiled []byte, prepare func(io.Reader, io.Writer) error, want error) {
		t.Helper()
		_, err := s.RestoreBackup(t.Context(), bytes.NewReader(spoiled), prepare)
		require.ErrorIs(t, err, ErrBackup)
		require.ErrorIs(t, err, want)
		require.Equal(t, []string{"kept"}, s.machine.all())
	}
	for range 50 {
		spoiled := bytes.Clone(good)
		spoiled[random.IntN(len(spoiled))] ^= 1 << random.IntN(8)
		refused(spoiled, prepareList, ErrBackup)
		refused(good[:random.IntN(len(good))], prepareList, ErrBackup)
	}
	refused(append(bytes.Clone(good), 0), prepareList, ErrBackup)
	foreign := errors.New("of another machine")
	refused(good, func(io.Reader, io.Writer) error { return foreign }, foreign)

	_, err = s.RestoreBackup(t.Context(), io.MultiReader(bytes.NewReader(good[:20]), failing{}), prepareList)
	require.ErrorIs(t, err, os.ErrDeadlineExceeded, "a failure to read is no bad backup")
	require.NotErrorIs(t, err, ErrBackup)
	c.propose("goes on")
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, os.ErrDeadlineExceeded }

func FuzzReadBackup(f *testing.F) {
	good := makeBackup([]byte(`["a"]`))
	f.Add(good)
	f.Add(good[:40])
	f.Fuzz(func(t *testing.T, data []byte) {
		var out bytes.Buffer
		info, err := readBackup(bytes.NewReader(data), &out)
		if err != nil {
			require.ErrorIs(t, err, ErrBackup)
			return
		}
		require.EqualValues(t, out.Len(), info.Size)
	})
}
