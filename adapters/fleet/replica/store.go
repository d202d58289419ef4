package replica

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"

	"github.com/hashicorp/raft"
	wal "github.com/hashicorp/raft-wal"
	"github.com/hashicorp/raft-wal/metadb"
)

// store is what a replica has on its disk: the log and the snapshots.
type store struct {
	lock *os.File
	meta *metadb.BoltMetaDB
	wal  *wal.WAL
	log  raft.LogStore
	snap *snapshots
}

// openStore takes the folder for this process and reads what is in it.
func openStore(c Config, onFailure func(error)) (_ *store, err error) {
	logDir := filepath.Join(c.Dir, "log")
	if err := os.MkdirAll(logDir, 0o700); err != nil {
		return nil, err
	}
	// What users gave their jobs is in the log and in the snapshots, whose files
	// others could read.
	if err := os.Chmod(c.Dir, 0o700); err != nil {
		return nil, err
	}
	s := &store{}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close())
		}
	}()
	// The log's own lock would wait for the other process, without a word.
	if s.lock, err = lockFile(filepath.Join(c.Dir, "lock")); err != nil {
		return nil, err
	}
	// The log does not close its meta store, so that is made here.
	s.meta = &metadb.BoltMetaDB{}
	s.wal, err = wal.Open(logDir, wal.WithLogger(c.Log.Named("wal")), wal.WithMetaStore(s.meta), wal.WithSegmentSize(c.segment))
	if err != nil {
		return nil, fmt.Errorf("open the log in %s: %w", logDir, err)
	}
	guarded := &guardedLog{LogStore: c.wrapLog(s.wal), onFailure: onFailure}
	if s.log, err = raft.NewLogCache(cachedEntries, guarded); err != nil {
		return nil, err
	}
	files, err := raft.NewFileSnapshotStoreWithLogger(c.Dir, keptSnapshots, c.Log.Named("snapshot"))
	if err != nil {
		return nil, err
	}
	s.snap = &snapshots{FileSnapshotStore: files}
	return s, nil
}

func lockFile(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		return nil, fmt.Errorf("%s is locked, another server uses the folder: %w", path, err)
	}
	return f, nil
}

func (s *store) close() error {
	var errs []error
	if s.wal != nil {
		errs = append(errs, s.wal.Close())
	}
	if s.meta != nil {
		errs = append(errs, s.meta.Close())
	}
	if s.lock != nil {
		errs = append(errs, s.lock.Close())
	}
	return errors.Join(errs...)
}

// guardedLog is a log that takes no more writes once one has failed. The log's
// own picture of its file is wrong then, and after a failed fsync the kernel may
// say yes to the next without having written what it lost.
type guardedLog struct {
	raft.LogStore
	onFailure func(error) // called once; must not block

	mu     sync.Mutex
	failed error
}

// IsMonotonic implements raft.MonotonicLogStore: the log has no gaps.
func (g *guardedLog) IsMonotonic() bool { return true }

// StoreLog implements raft.LogStore.
func (g *guardedLog) StoreLog(l *raft.Log) error { return g.StoreLogs([]*raft.Log{l}) }

// StoreLogs implements raft.LogStore.
func (g *guardedLog) StoreLogs(logs []*raft.Log) error {
	return g.guard(func() error { return g.LogStore.StoreLogs(logs) })
}

// DeleteRange implements raft.LogStore.
func (g *guardedLog) DeleteRange(from, to uint64) error {
	return g.guard(func() error { return g.LogStore.DeleteRange(from, to) })
}

func (g *guardedLog) guard(write func() error) error {
	g.mu.Lock()
	failed := g.failed
	g.mu.Unlock()
	if failed != nil {
		return failed
	}
	err := write()
	if err == nil {
		return nil
	}
	g.mu.Lock()
	first := g.failed == nil
	if first {
		g.failed = fmt.Errorf("the log on the disk has failed: %w", err)
	}
	failed = g.failed
	g.mu.Unlock()
	if first {
		g.onFailure(failed)
	}
	return failed
}
