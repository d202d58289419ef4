package replica

import (
	"errors"
	"fmt"
	"io"

	"github.com/hashicorp/raft"
)

// Machine is the state that is kept the same on all servers.
type Machine interface {
	// Apply applies one entry's commands in their order and returns one result for
	// each. It must do the same on every server: no clock, no chance, no map order.
	// A command that cannot be applied has an error as its result, and changes
	// nothing. The index grows from call to call, with gaps; the term is that of the
	// leader that took the commands. One goroutine calls it.
	Apply(index, term uint64, commands [][]byte) []any
	// Snapshot returns a picture of the state as it is now. The goroutine of Apply
	// calls it and waits, so it should only take hold of the state.
	Snapshot() (Picture, error)
	// Restore replaces the state by that of a picture. It is not called at the same
	// time as Apply, but others may be reading the state. If it fails the state must
	// be as it was. Of a picture that a newer program has made the error is ErrNewer.
	Restore(r io.Reader) error
}

// Picture is a frozen state. It is written while Apply goes on, by another
// goroutine.
type Picture interface {
	WriteTo(w io.Writer) (int64, error)
	// Release is called once, whether it was written or not.
	Release()
}

// fsm is a Machine for raft. raft's BatchingFSM would hand over several entries
// at once; there is nothing to gain, they are batches already.
type fsm struct {
	machine Machine
	knows   uint8
	counts  *counts
	fail    func(error)
	// stopped is why nothing is applied any more: to leave out what cannot be read would
	// make this server's state differ from the others' for good.
	stopped error
}

// applied is what fsm hands back of an entry.
type applied struct {
	index, term uint64
	results     []any
	err         error // it was not applied
}

// stop ends the replica, which applies nothing from here on.
func (f *fsm) stop(err error) error {
	f.stopped = err
	f.fail(err)
	return err
}

// Apply implements raft.FSM.
func (f *fsm) Apply(l *raft.Log) any {
	a := applied{index: l.Index, term: l.Term, err: f.stopped}
	if a.err != nil {
		return a
	}
	commands, err := decodeEntry(l.Data, f.knows)
	if err != nil {
		a.err = f.stop(fmt.Errorf("entry %d of the log cannot be applied: %w", l.Index, err))
		return a
	}
	if len(commands) > 0 {
		a.results = f.machine.Apply(l.Index, l.Term, commands)
	}
	if len(a.results) != len(commands) {
		panic(fmt.Sprintf("entry %d of the log: %d results for %d commands", l.Index, len(a.results), len(commands)))
	}
	f.counts.entries.Add(1)
	f.counts.commands.Add(uint64(len(commands)))
	f.counts.bytes.Add(uint64(len(l.Data)))
	return a
}

// Snapshot implements raft.FSM.
func (f *fsm) Snapshot() (raft.FSMSnapshot, error) {
	if f.stopped != nil {
		return nil, f.stopped
	}
	p, err := f.machine.Snapshot()
	if err != nil {
		return nil, err
	}
	return picture{p}, nil
}

// Restore implements raft.FSM.
func (f *fsm) Restore(r io.ReadCloser) error {
	defer r.Close()
	if f.stopped != nil {
		return f.stopped
	}
	err := f.machine.Restore(r)
	if errors.Is(err, ErrNewer) {
		return f.stop(err)
	}
	return err
}

// StoreConfiguration implements raft.ConfigurationStore. raft keeps the members
// itself; but only for a machine with this method it counts their changes as
// applied, and without that it takes no snapshot after one until the next
// command.
func (f *fsm) StoreConfiguration(uint64, raft.Configuration) {}

// picture is a Picture for raft.
type picture struct{ Picture }

// Persist implements raft.FSMSnapshot.
func (p picture) Persist(sink raft.SnapshotSink) error {
	if _, err := p.WriteTo(sink); err != nil {
		sink.Cancel()
		return err
	}
	return sink.Close()
}
