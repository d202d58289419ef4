package replica

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/hashicorp/raft"
)

// A backup is a header, the machine's picture, and the SHA-256 hash of both. The
// header is backupMagic and three numbers, big-endian: index, term, and the
// picture's length in bytes.
var backupMagic = [12]byte{'b', 'e', 'r', 't', 'h', ' ', 'b', 'a', 'c', 'k', 'u', 1}

type backupHeader struct {
	Magic [12]byte
	Index uint64
	Term  uint64
	Size  uint64
}

// BackupInfo says what a backup is of.
type BackupInfo struct {
	Index, Term uint64 // of the last entry of the log that is in it
	Size        int64  // of the picture, bytes
}

// Backup writes the state as this server has it. On a follower it may be older
// than what was acknowledged, and fails while members change; not so on the
// leader.
func (r *Replica) Backup(ctx context.Context, w io.Writer) (BackupInfo, error) {
	meta, body, err := r.snapshot(ctx)
	if err != nil {
		return BackupInfo{}, fmt.Errorf("backup: %w", err)
	}
	defer body.Close()
	info := BackupInfo{Index: meta.Index, Term: meta.Term, Size: meta.Size}
	sum := sha256.New()
	out := io.MultiWriter(w, sum)
	head := backupHeader{Magic: backupMagic, Index: meta.Index, Term: meta.Term, Size: uint64(meta.Size)}
	if err := binary.Write(out, binary.BigEndian, head); err != nil {
		return info, fmt.Errorf("backup: %w", err)
	}
	n, err := io.Copy(out, body)
	if err == nil && n != meta.Size {
		err = fmt.Errorf("the snapshot has %d bytes, not %d", n, meta.Size)
	}
	if err == nil {
		_, err = w.Write(sum.Sum(nil))
	}
	if err != nil {
		return info, fmt.Errorf("backup: %w", err)
	}
	return info, nil
}

// snapshot takes one now, or returns the newest where nothing has happened since.
func (r *Replica) snapshot(ctx context.Context) (*raft.SnapshotMeta, io.ReadCloser, error) {
	if _, ok := r.Leads(); ok {
		done, err := r.settle(ctx)
		if err != nil {
			return nil, nil, err
		}
		defer done()
	}
	f := r.raft.Snapshot()
	err := f.Error()
	if err == nil {
		return f.Open()
	}
	if !errors.Is(err, raft.ErrNothingNewToSnapshot) {
		return nil, nil, err
	}
	list, err := r.store.snap.List()
	if err != nil {
		return nil, nil, err
	}
	if len(list) == 0 {
		return nil, nil, errors.New("there is no state yet")
	}
	return r.store.snap.Open(list[0].ID)
}

// RestoreBackup replaces the state of the whole fleet by that of a backup; the
// servers stay as they are. Only the leader can. The backup is read and its hash
// checked in full before anything is replaced, and then given to prepare, which
// writes the picture that is restored: it must read it as Machine.Restore would,
// for a picture that the machine cannot restore would end every server. What is on
// its way is answered with ErrLost, and what Lead runs is ended and begun again.
func (r *Replica) RestoreBackup(ctx context.Context, from io.Reader, prepare func(in io.Reader, out io.Writer) error) (BackupInfo, error) {
	if r.raft.State() != raft.Leader {
		return BackupInfo{}, r.notLeader()
	}
	spool, err := r.spool()
	if err != nil {
		return BackupInfo{}, err
	}
	defer spool.remove()
	info, err := readBackup(from, spool)
	if err != nil {
		return info, fmt.Errorf("restore: %w", err)
	}
	picture, err := r.spool()
	if err != nil {
		return info, err
	}
	defer picture.remove()
	if err := prepare(spool.reader(info.Size), picture); err != nil {
		return info, fmt.Errorf("restore: %w: %w", ErrBackup, err)
	}
	size, err := picture.Seek(0, io.SeekCurrent)
	if err != nil {
		return info, fmt.Errorf("restore: %w", err)
	}
	done, err := r.settle(ctx)
	if err != nil {
		return info, fmt.Errorf("restore: %w", err)
	}
	defer done()
	defer r.leadership.suspend()()
	meta := &raft.SnapshotMeta{Version: raft.SnapshotVersionMax, Index: info.Index, Term: info.Term, Size: size}
	if err := r.raft.Restore(meta, picture.reader(size), limitOf(ctx)); err != nil {
		return info, fmt.Errorf("restore: %w", r.translate(err))
	}
	return info, nil
}

// spool is a file for a restoration. It is in the replica's folder and not in /tmp:
// there is room for a state, and nobody else reads it.
func (r *Replica) spool() (spool, error) {
	f, err := os.CreateTemp(r.conf.Dir, "restore-*")
	if err != nil {
		return spool{}, fmt.Errorf("restore: %w", err)
	}
	return spool{f}, nil
}

type spool struct{ *os.File }

// reader reads it from its beginning.
func (s spool) reader(size int64) io.Reader { return io.NewSectionReader(s, 0, size) }

func (s spool) remove() {
	s.Close()
	os.Remove(s.Name())
}

// readBackup copies the picture out of a backup, and checks all of it.
func readBackup(from io.Reader, to io.Writer) (BackupInfo, error) {
	bad := func(why string) error { return fmt.Errorf("%w: %s", ErrBackup, why) }
	sum := sha256.New()
	in := bufio.NewReader(from)
	var head backupHeader
	raw := make([]byte, binary.Size(head))
	if _, err := io.ReadFull(in, raw); err != nil {
		return BackupInfo{}, readError(err, bad("its header is cut short"))
	}
	sum.Write(raw)
	if err := binary.Read(bytes.NewReader(raw), binary.BigEndian, &head); err != nil {
		return BackupInfo{}, err
	}
	if head.Magic != backupMagic {
		return BackupInfo{}, bad("it does not begin as a backup of this version does")
	}
	info := BackupInfo{Index: head.Index, Term: head.Term, Size: int64(head.Size)}
	if info.Size < 0 {
		return info, bad("its length is wrong")
	}
	if _, err := io.CopyN(io.MultiWriter(to, sum), in, info.Size); err != nil {
		return info, readError(err, bad("it is cut short"))
	}
	var want [sha256.Size]byte
	if _, err := io.ReadFull(in, want[:]); err != nil {
		return info, readError(err, bad("it is cut short"))
	}
	if !bytes.Equal(sum.Sum(nil), want[:]) {
		return info, bad("its hash is wrong, it was altered")
	}
	if _, err := in.ReadByte(); !errors.Is(err, io.EOF) {
		return info, readError(err, bad("there is something behind its end"))
	}
	return info, nil
}

// readError tells an early end of the data, and too much of it, from a failure to
// read.
func readError(err, bad error) error {
	if err == nil || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return bad
	}
	return err
}
