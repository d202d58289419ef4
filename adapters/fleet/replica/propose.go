package replica

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/hashicorp/raft"
)

// Propose submits a command and waits until it is committed by a majority and
// applied here; it returns the machine's result for it. Only the leader can. The
// version is what a server must know to apply it: others stop when they meet it, so
// the caller makes sure that all know it. The
// errors are ErrNotLeader, ErrTooBig, ErrClosed, ErrLost, and the context's; where
// ErrLost is not among them the command was not and will not be committed.
//
// Commands of one caller, each proposed after the answer to the one before, are
// applied in that order. The command's bytes must not be changed any more.
func (r *Replica) Propose(ctx context.Context, version uint8, command []byte) (any, error) {
	if len(command) > MaxCommand {
		return nil, fmt.Errorf("%w: %d bytes, more than %d", ErrTooBig, len(command), MaxCommand)
	}
	if version < firstVersion || version > r.conf.Knows {
		return nil, fmt.Errorf("a command of version %d, and this server knows %d to %d", version, firstVersion, r.conf.Knows)
	}
	a, err := r.proposer.propose(ctx, &proposal{version: version, command: command})
	return a.result, err
}

// barrier returns the term of the leadership under which everything committed
// before the call is applied here.
func (r *Replica) barrier(ctx context.Context) (term uint64, err error) {
	a, err := r.proposer.propose(ctx, &proposal{barrier: true})
	return a.term, err
}

// proposal is a command that waits for its answer.
type proposal struct {
	version uint8
	command []byte
	barrier bool        // there is no command
	given   bool        // it was taken into an entry; guarded by proposer.mu
	done    chan answer // has room for the one answer
}

type answer struct {
	result any
	term   uint64
	err    error
}

// flight is an entry on its way.
type flight struct {
	proposals []*proposal
	future    raft.ApplyFuture
}

// proposer gathers proposals into entries. One goroutine sends them, another
// waits for them in the same order. depth entries may be on their way at once;
// what comes meanwhile is gathered for the next.
type proposer struct {
	r       *Replica
	wake    chan struct{} // something waits, or closed has been set
	slots   chan struct{} // one for each entry on its way
	flights chan flight
	joined  sync.WaitGroup

	mu      sync.Mutex
	waiting []*proposal
	closed  bool
}

func newProposer(r *Replica, depth int) *proposer {
	p := &proposer{
		r:       r,
		wake:    make(chan struct{}, 1),
		slots:   make(chan struct{}, depth),
		flights: make(chan flight, depth),
	}
	p.joined.Go(p.send)
	p.joined.Go(p.receive)
	return p
}

// drain takes no more proposals, and returns when those that were taken are
// answered.
func (p *proposer) drain() {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	notify(p.wake)
	p.joined.Wait()
}

func (p *proposer) propose(ctx context.Context, q *proposal) (answer, error) {
	q.done = make(chan answer, 1)
	p.mu.Lock()
	if p.closed || p.r.ctx.Err() != nil {
		p.mu.Unlock()
		return answer{}, p.r.closedError()
	}
	p.waiting = append(p.waiting, q)
	p.mu.Unlock()
	notify(p.wake)
	select {
	case a := <-q.done:
		return a, a.err
	case <-ctx.Done():
		return p.abandon(q, context.Cause(ctx))
	case <-p.r.ctx.Done():
		return p.abandon(q, p.r.closedError())
	}
}

// abandon is for who does not wait any longer.
func (p *proposer) abandon(q *proposal, why error) (answer, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case a := <-q.done: // it came after all
		return a, a.err
	default:
	}
	if q.given {
		return answer{}, fmt.Errorf("%w: %w", ErrLost, why)
	}
	p.waiting = slices.DeleteFunc(p.waiting, func(w *proposal) bool { return w == q })
	return answer{}, why
}

// take returns the proposals of the next entry, nil where none waits.
func (p *proposer) take() (batch []*proposal, more, closed bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	size, n := 1, 0
	for ; n < len(p.waiting); n++ {
		q := p.waiting[n]
		size += len(q.command) + maxLength
		if len(batch) == maxEntryCommands || (len(batch) > 0 && size > maxEntryBytes) {
			break
		}
		q.given = true
		batch = append(batch, q)
	}
	clear(p.waiting[:n])
	p.waiting = p.waiting[n:]
	more = len(p.waiting) > 0
	if !more {
		p.waiting = nil
	}
	return batch, more, p.closed
}

// maxLength is the room for a command's length in an entry.
const maxLength = 5

// send makes entries out of what waits, until the proposer is closed and nothing
// waits.
func (p *proposer) send() {
	defer close(p.flights)
	for range p.wake {
		for more := true; more; {
			// A place first, and then what has come until there was one.
			p.slots <- struct{}{}
			var batch []*proposal
			var closed bool
			batch, more, closed = p.take()
			if len(batch) == 0 {
				<-p.slots
				if closed && !more {
					return
				}
				continue
			}
			p.flights <- flight{batch, p.r.raft.Apply(encodeBatch(batch), 0)}
			if closed && !more {
				return
			}
		}
	}
}

func encodeBatch(batch []*proposal) []byte {
	version := uint8(firstVersion)
	commands := make([][]byte, 0, len(batch))
	for _, q := range batch {
		if !q.barrier {
			version = max(version, q.version)
			commands = append(commands, q.command)
		}
	}
	return encodeEntry(version, commands)
}

// receive answers the proposals of each entry.
func (p *proposer) receive() {
	for f := range p.flights {
		err := p.r.translate(f.future.Error())
		var a applied
		if err == nil {
			if a = f.future.Response().(applied); a.err != nil {
				err = fmt.Errorf("%w: %w", ErrLost, a.err)
			}
		}
		<-p.slots
		if err != nil {
			for _, q := range f.proposals {
				q.done <- answer{err: err}
			}
			continue
		}
		next := 0
		for _, q := range f.proposals {
			one := answer{term: a.term}
			if !q.barrier {
				one.result = a.results[next]
				next++
			}
			q.done <- one
		}
	}
}

// notify wakes a goroutine that works off a list; one sign is enough for all of
// it.
func notify(wake chan<- struct{}) {
	select {
	case wake <- struct{}{}:
	default:
	}
}
