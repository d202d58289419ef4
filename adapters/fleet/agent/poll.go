package agent

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
)

// poller asks the servers for the node's tasks. But for the atomic fields and wake, it
// belongs to the goroutine of run.
type poller struct {
	agent *Agent
	// wake has room for one: there is something to tell the servers at once.
	wake chan struct{}

	registered *api.Machine // what the servers know of the machine; nil: nothing
	since      uint64
	after      job.TaskID
	heartbeat  time.Duration

	// goodUntil is until when, in Unix nanoseconds, the last answer is not old.
	goodUntil atomic.Int64
}

// The bounds of the time between polls that an agent goes along with, and what it takes
// before it was told one.
const (
	minHeartbeat   = 100 * time.Millisecond
	maxHeartbeat   = 10 * time.Minute
	firstHeartbeat = 10 * time.Second
)

// The pauses after failures: they double from the first to the longest.
const (
	firstBackoff = 100 * time.Millisecond
	maxBackoff   = 15 * time.Second
)

// answerLimit is how long an answer may take, and pollLimit how much longer than the
// wait that it asks for a poll may. A server that hangs, with its connections open, holds
// the agent up for so long: it must be less than what servers wait for heartbeats, which
// is 10 s if nothing else is set, or nodes would be given up with such a server.
const (
	answerLimit = 10 * time.Second
	pollLimit   = 5 * time.Second
)

func newPoller(a *Agent) *poller {
	return &poller{agent: a, wake: make(chan struct{}, 1), heartbeat: firstHeartbeat}
}

// wakeUp has the servers asked, and told, at once. Any goroutine may call it.
func (p *poller) wakeUp() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// run polls until ctx ends.
func (p *poller) run(ctx context.Context) {
	p.registered, p.since, p.after = nil, 0, job.TaskID{}
	for failures := 0; ctx.Err() == nil; {
		err := p.once(ctx)
		if err == nil {
			failures = 0
			continue
		}
		if ctx.Err() != nil {
			return
		}
		failures++
		p.agent.metrics.pollFailures.Inc()
		p.agent.log.Warn("polling failed", "error", err, "failures", failures)
		if !pause(ctx, backoff(failures)) {
			return
		}
	}
}

// backoff is the pause after so many failures in a row: between half of it and all of
// it, so that the agents of a fleet do not come all at once.
func backoff(failures int) time.Duration {
	d := maxBackoff
	if failures < 16 {
		d = min(d, firstBackoff<<(failures-1))
	}
	return d/2 + rand.N(d/2)
}

// errUnregistered says that servers that were just told of the node do not know it.
var errUnregistered = errors.New("the servers do not know the node, though it has just been registered")

// once registers where that is needed, polls, and has the answer worked off.
func (p *poller) once(ctx context.Context) error {
	select {
	case <-p.wake: // what it is about is told now
	default:
	}
	fresh, err := p.register(ctx)
	if err != nil {
		return err
	}
	began := time.Now()
	resp, woken, err := p.poll(ctx)
	if err != nil {
		if woken {
			return nil
		}
		p.agent.load.failed()
		return err
	}
	p.agent.load.answered(&resp)
	if err := p.apply(ctx, resp); err != nil {
		return err
	}
	if resp.Unregistered {
		p.registered, p.since, p.after = nil, 0, job.TaskID{}
		if fresh {
			return errUnregistered
		}
		return nil
	}
	news := resp.Index != p.since || resp.After != p.after
	p.since, p.after = resp.Index, resp.After
	asked := p.heartbeat
	p.heartbeat = min(max(minHeartbeat, time.Duration(resp.Heartbeat)), maxHeartbeat)
	p.goodUntil.Store(time.Now().Add(3*p.heartbeat + answerLimit).UnixNano())
	// The server should have held the answer. One that does not is not asked as fast
	// as the network goes.
	if early := min(asked, p.heartbeat)/2 - time.Since(began); !news && early > 0 {
		p.rest(ctx, early)
	}
	return nil
}

// register tells the servers what the machine is, where they do not know yet. It
// reports true where it did.
func (p *poller) register(ctx context.Context) (bool, error) {
	a := p.agent
	m := a.machine.Load()
	if p.registered == m {
		return false, nil
	}
	limited, cancel := context.WithTimeout(ctx, answerLimit)
	defer cancel()
	resp, err := a.cfg.Server.Register(limited, api.Registration{
		Node: a.cfg.Node, Address: a.cfg.Address, Boot: a.boot, Version: a.cfg.Version, Machine: *m,
	})
	if err != nil {
		return false, err
	}
	if err := a.see(ctx, resp.Term); err != nil {
		return false, err
	}
	p.registered, p.since, p.after = m, 0, job.TaskID{}
	a.log.Info("registered", "term", resp.Term)
	return true, nil
}

// poll sends one. It reports true for woken where it broke off because there is
// something to tell.
func (p *poller) poll(ctx context.Context) (resp api.PollResponse, woken bool, err error) {
	a := p.agent
	var term uint64
	var load bool
	var running []job.TaskID
	now := time.Now()
	if !a.do(ctx, func(t *table) {
		term = t.term
		if load = a.load.due(now, term); load {
			running = t.running()
		}
	}) {
		return resp, false, ctx.Err()
	}
	ctx, cancel := context.WithTimeout(ctx, p.heartbeat+pollLimit)
	defer cancel()
	type answer struct {
		resp api.PollResponse
		err  error
	}
	answers := make(chan answer, 1)
	req := api.PollRequest{
		Node: a.cfg.Node, Boot: a.boot, Term: term, Since: p.since, After: p.after, Unhealthy: a.unhealthy.String(),
		Wait: job.Duration(p.heartbeat),
	}
	if load {
		req.Load = a.load.report(now, running)
		a.load.sentTo(now, term)
	}
	go func() {
		resp, err := a.cfg.Server.Poll(ctx, req)
		answers <- answer{resp, err}
	}()
	select {
	case got := <-answers:
		return got.resp, false, got.err
	case <-p.wake:
		cancel()
		got := <-answers
		return got.resp, true, got.err
	}
}

// apply has an answer worked off by the owner of the table.
func (p *poller) apply(ctx context.Context, resp api.PollResponse) (err error) {
	if !p.agent.do(ctx, func(t *table) { err = t.apply(resp) }) {
		return ctx.Err()
	}
	return err
}

// rest waits, but not when there is something to tell.
func (p *poller) rest(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-p.wake:
	case <-ctx.Done():
	}
}

// see has a term checked, and remembered where it is the highest.
func (a *Agent) see(ctx context.Context, term uint64) (err error) {
	if !a.do(ctx, func(t *table) { err = t.see(term) }) {
		return ctx.Err()
	}
	return err
}
