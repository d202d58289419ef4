package fault

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/e2e/cluster"
	"github.com/berth-project/berth/adapters/fleet/job"
)

// hit is a time in which tasks may have come to harm: all of a node, or those of one
// attempt.
type hit struct {
	node     string
	attempt  job.TaskID // rank 0; zero: all of the node
	from, to time.Time
	// starting: only what was just being started could come to harm, and says so: the
	// agent was killed, and the next one does not know whether it had got so far.
	starting bool
}

// lost is how long an unreachable node keeps its tasks here. It must outlast short
// faults on a busy machine, as five minutes outlast them in earnest.
const lost = 15 * time.Second

// trouble makes faults.
type trouble struct {
	t *testing.T
	c *cluster.Cluster

	mu    sync.Mutex
	hits  []hit
	tried map[string]int
	done  map[string]int
}

// fault is one kind of trouble. It reports whether it found something to do it to; when
// it returns, it is over.
type fault struct {
	name string
	do   func(*trouble, *rand.Rand) (bool, error)
	// cuts: it needs links that can be cut; disk: it needs small file systems.
	cuts, disk bool
}

// serverFaults and nodeFaults are the two lanes. Of each lane one fault happens at a
// time, so that two of three servers could work.
var (
	serverFaults = []fault{
		{name: "SIGKILL of the leader", do: (*trouble).killLeader},
		{name: "paused server", do: (*trouble).pauseServer},
		{name: "full disk of a server", do: (*trouble).fillServer, disk: true},
		{name: "cut between leader and followers", do: (*trouble).cutLeader, cuts: true},
	}
	nodeFaults = []fault{
		{name: "SIGKILL of an agent", do: (*trouble).killAgent},
		{name: "SIGKILL of a shim", do: (*trouble).killShim},
		{name: "paused agent or shim", do: (*trouble).pauseOnNode},
		{name: "full disk of a node", do: (*trouble).fillNode, disk: true},
		{name: "cut between an agent and servers", do: (*trouble).cutAgent, cuts: true},
	}
)

// lane makes so many of each of the faults, in random order.
func (x *trouble) lane(ctx context.Context, faults []fault, each int, rng *rand.Rand) {
	var plan []fault
	for _, f := range faults {
		if f.cuts && !x.c.CanCut() || f.disk && x.c.Disk("s1") == nil {
			x.t.Logf("left out, for want of root and ip: %s", f.name)
			continue
		}
		for range each {
			plan = append(plan, f)
		}
	}
	rng.Shuffle(len(plan), func(i, j int) { plan[i], plan[j] = plan[j], plan[i] })
	for _, f := range plan {
		x.insist(ctx, f, rng)
		if ctx.Err() != nil {
			return
		}
	}
}

// maxTries is how often it is looked for something to do a fault to.
const maxTries = 200

// insist does a fault once something is found to do it to.
func (x *trouble) insist(ctx context.Context, f fault, rng *rand.Rand) {
	for range maxTries {
		x.count(x.tried, f.name)
		did, err := f.do(x, rng)
		if err != nil {
			x.t.Errorf("%s: %v", f.name, err)
			return
		}
		if did {
			x.count(x.done, f.name)
			return
		}
		if rest(ctx, 50*time.Millisecond); ctx.Err() != nil {
			return
		}
	}
	x.t.Errorf("%s: nothing was found to do it to", f.name)
}

func (x *trouble) count(in map[string]int, name string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	in[name]++
}

func rest(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// last is how long a fault lasts: from a to b.
func last(rng *rand.Rand, a, b time.Duration) { time.Sleep(a + time.Duration(rng.Int64N(int64(b-a)))) }

// harm notes that tasks of a node may come to harm until over is called.
func (x *trouble) harm(node string) (over func()) {
	h := hit{node: node, from: time.Now()}
	return func() { x.hit(h) }
}

// hit notes one that is over.
func (x *trouble) hit(h hit) {
	h.to = time.Now()
	x.mu.Lock()
	defer x.mu.Unlock()
	x.hits = append(x.hits, h)
}

// calm waits until all servers follow one leader.
func (x *trouble) calm() error {
	return until("all servers follow one leader", func() error {
		leader := x.c.FindLeader()
		if leader == "" {
			return errors.New("there is no leader")
		}
		for _, name := range x.c.Servers() {
			if s, err := x.c.Status(name); err != nil || s.Leader != leader {
				return fmt.Errorf("server %s follows %q, and %s leads (%w)", name, s.Leader, leader, err)
			}
		}
		return nil
	})
}

// ready waits until a node is ready.
func (x *trouble) ready(node string) error { return x.nodeIs(node, api.NodeReady) }

func (x *trouble) nodeIs(node string, state api.NodeState) error {
	return until(fmt.Sprintf("node %s is %s", node, state), func() error {
		ctx, cancel := cluster.Context()
		defer cancel()
		n, err := x.c.Client.Node(ctx, node)
		if err == nil && (n.State != state || state == api.NodeReady && n.Unhealthy != "") {
			err = fmt.Errorf("it is %s %s", n.State, n.Unhealthy)
		}
		return err
	})
}

func until(what string, check func() error) error {
	for end := time.Now().Add(cluster.Patience); ; time.Sleep(50 * time.Millisecond) {
		err := check()
		if err == nil {
			return nil
		}
		if time.Now().After(end) {
			return fmt.Errorf("waiting until %s: %w", what, err)
		}
	}
}

func pick[T any](rng *rand.Rand, from []T) T { return from[rng.IntN(len(from))] }

func (x *trouble) killLeader(*rand.Rand) (bool, error) {
	leader := x.c.FindLeader()
	if leader == "" {
		return false, nil
	}
	x.c.Process(leader).Crash()
	return true, x.calm()
}

// pauseServer pauses any server, most often the one that leads.
func (x *trouble) pauseServer(rng *rand.Rand) (bool, error) {
	name := pick(rng, x.c.Servers())
	if leader := x.c.FindLeader(); leader != "" && rng.IntN(3) > 0 {
		name = leader
	}
	p := x.c.Process(name)
	p.Pause()
	last(rng, 500*time.Millisecond, 5*time.Second)
	p.Resume()
	return true, x.calm()
}

// fillServer fills the disk of a server, and may kill the server while it is full: it
// must come to its senses on what is there.
func (x *trouble) fillServer(rng *rand.Rand) (bool, error) {
	name := pick(rng, x.c.Servers())
	d := x.c.Disk(name)
	if err := d.Fill(); err != nil {
		return false, err
	}
	if rng.IntN(2) == 0 {
		x.c.Process(name).Crash()
	}
	last(rng, time.Second, 3*time.Second)
	if err := d.Free(); err != nil {
		return false, err
	}
	return true, x.calm()
}

// cutLeader cuts the leader from one follower, or from both. Clients and agents still
// reach all of them.
func (x *trouble) cutLeader(rng *rand.Rand) (bool, error) {
	leader := x.c.FindLeader()
	if leader == "" {
		return false, nil
	}
	followers := slices.DeleteFunc(x.c.Servers(), func(s string) bool { return s == leader })
	if rng.IntN(2) == 0 {
		followers = followers[:1]
	}
	for _, f := range followers {
		if err := x.c.Cut(leader, f); err != nil {
			return false, err
		}
	}
	last(rng, time.Second, 4*time.Second)
	for _, f := range followers {
		if err := x.c.Heal(leader, f); err != nil {
			return false, err
		}
	}
	return true, x.calm()
}

// killAgent kills an agent. What runs there is not to notice, but what is just being
// started may not come to its start.
func (x *trouble) killAgent(rng *rand.Rand) (bool, error) {
	p := x.c.Process(pick(rng, x.c.Agents()))
	if p.PID() == 0 {
		return false, nil
	}
	starts, h := p.Starts(), hit{node: p.Name, from: time.Now(), starting: true}
	defer func() { x.hit(h) }()
	p.Crash()
	return true, errors.Join(until("the agent is started again", func() error {
		if p.Starts() == starts {
			return errors.New("it is not yet")
		}
		return nil
	}), x.ready(p.Name))
}

// victim is a task that has a shim.
func (x *trouble) victim(rng *rand.Rand) (p *cluster.Process, task string) {
	p = x.c.Process(pick(rng, x.c.Agents()))
	if tasks := slices.Sorted(maps.Keys(p.Shims())); len(tasks) > 0 {
		return p, pick(rng, tasks)
	}
	return nil, ""
}

func (x *trouble) killShim(rng *rand.Rand) (bool, error) {
	p, task := x.victim(rng)
	if p == nil {
		return false, nil
	}
	id, err := job.ParseTaskID(task)
	if err != nil {
		return false, err
	}
	if !p.SignalShim(task, syscall.SIGKILL) {
		return false, nil
	}
	id.Rank = 0
	x.hit(hit{attempt: id})
	return true, nil
}

// pauseOnNode pauses an agent, or a shim.
func (x *trouble) pauseOnNode(rng *rand.Rand) (bool, error) {
	if rng.IntN(2) == 0 {
		p, task := x.victim(rng)
		if p == nil || !p.SignalShim(task, syscall.SIGSTOP) {
			return false, nil
		}
		last(rng, 200*time.Millisecond, 3*time.Second)
		p.SignalShim(task, syscall.SIGCONT)
		return true, nil
	}
	name := pick(rng, x.c.Agents())
	return true, x.away(rng, name, func() error { x.c.Process(name).Pause(); return nil }, func() error {
		x.c.Process(name).Resume()
		return nil
	})
}

// away takes a node out of the servers' sight: mostly not for so long that its tasks are
// given up, and else until they are.
func (x *trouble) away(rng *rand.Rand, node string, begin, end func() error) error {
	if rng.IntN(5) > 0 {
		if err := begin(); err != nil {
			return err
		}
		last(rng, 500*time.Millisecond, 3*time.Second)
		return errors.Join(end(), x.ready(node))
	}
	over := x.harm(node)
	defer over()
	if err := begin(); err != nil {
		return err
	}
	// Every new leader waits for it anew, so it may not come to that.
	for end := time.Now().Add(2 * lost); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		ctx, cancel := cluster.Context()
		n, err := x.c.Client.Node(ctx, node)
		cancel()
		if err == nil && n.State == api.NodeLost {
			break
		}
	}
	return errors.Join(end(), x.ready(node))
}

// fillNode fills the disk of an agent. Nothing can be started there then, and how tasks
// end cannot be written down, but it is reported.
func (x *trouble) fillNode(rng *rand.Rand) (bool, error) {
	name := pick(rng, x.c.Agents())
	over := x.harm(name)
	defer over()
	d := x.c.Disk(name)
	if err := d.Fill(); err != nil {
		return false, err
	}
	crashed := rng.IntN(3) == 0
	if crashed {
		x.c.Process(name).Crash()
	}
	last(rng, time.Second, 3*time.Second)
	if err := d.Free(); err != nil {
		return false, err
	}
	return true, x.recovered(name)
}

// recovered waits until a node that had no room is of use again: an agent complains of
// its disk until it is started again.
func (x *trouble) recovered(name string) error {
	ctx, cancel := cluster.Context()
	defer cancel()
	if n, err := x.c.Client.Node(ctx, name); err == nil && n.State == api.NodeReady && n.Unhealthy == "" {
		return nil
	}
	x.c.Process(name).Crash()
	return x.ready(name)
}

// cutAgent cuts an agent from one server, from all, or from the network.
func (x *trouble) cutAgent(rng *rand.Rand) (bool, error) {
	node := pick(rng, x.c.Agents())
	servers := x.c.Servers()
	switch rng.IntN(3) {
	case 0:
		return true, x.away(rng, node, func() error { return x.c.Isolate(node) }, func() error { return x.c.Rejoin(node) })
	case 1:
		servers = []string{pick(rng, servers)}
		err := x.c.Cut(node, servers[0])
		last(rng, 500*time.Millisecond, 4*time.Second)
		return true, errors.Join(err, x.c.Heal(node, servers[0]), x.ready(node))
	}
	each := func(do func(a, b string) error) func() error {
		return func() (err error) {
			for _, s := range servers {
				err = errors.Join(err, do(node, s))
			}
			return err
		}
	}
	return true, x.away(rng, node, each(x.c.Cut), each(x.c.Heal))
}
