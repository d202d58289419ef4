package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
)

// Patience is how long a test waits for something. It is there for what hangs: a busy
// machine may take a while.
const Patience = 2 * time.Minute

const pollEvery = 30 * time.Millisecond

// poll repeats the check until it passes.
func poll(check func() error) error {
	for end := time.Now().Add(Patience); ; time.Sleep(pollEvery) {
		err := check()
		if err == nil || time.Now().After(end) {
			return err
		}
	}
}

// Until waits until the check passes, and fails the test where it never does.
func (c *Cluster) Until(what string, check func() error) {
	c.t.Helper()
	if err := poll(check); err != nil {
		c.t.Fatalf("waiting until %s: %v", what, err)
	}
}

// Context is for one request.
func Context() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), time.Minute)
}

// Job is a job as the servers have it.
func (c *Cluster) Job(id job.ID) (api.JobDetail, error) {
	ctx, cancel := Context()
	defer cancel()
	return c.Client.Job(ctx, id)
}

// In waits until the job is in one of the states, and returns it.
func (c *Cluster) In(id job.ID, states ...job.State) api.JobDetail {
	c.t.Helper()
	var j api.JobDetail
	c.Until(fmt.Sprintf("job %s is %v", id, states), func() (err error) {
		if j, err = c.Job(id); err != nil {
			return err
		}
		if !slices.Contains(states, j.State) {
			if j.State.Ended() {
				c.t.Fatalf("job %s is %s, not %v: %+v", id, j.State, states, j.Attempts)
			}
			return fmt.Errorf("it is %s (%s %s), elements %+v, attempts %+v", j.State, j.Reason, j.Message, j.Elements, j.Attempts)
		}
		return nil
	})
	return j
}

// Ended waits until the job has ended, as that state, and returns it.
func (c *Cluster) Ended(id job.ID, state job.State) api.JobDetail {
	c.t.Helper()
	return c.In(id, state)
}

// Waits waits until the job waits for that reason.
func (c *Cluster) Waits(id job.ID, reason job.Reason) api.JobDetail {
	c.t.Helper()
	var j api.JobDetail
	c.Until(fmt.Sprintf("job %s waits for %s", id, reason), func() (err error) {
		if j, err = c.Job(id); err != nil {
			return err
		}
		if j.State != job.Pending || j.Reason != reason {
			return fmt.Errorf("it is %s (%s %s)", j.State, j.Reason, j.Message)
		}
		return nil
	})
	return j
}

// NodeIs waits until the node is in the state.
func (c *Cluster) NodeIs(name string, state api.NodeState) api.Node {
	c.t.Helper()
	var n api.Node
	c.Until(fmt.Sprintf("node %s is %s", name, state), func() (err error) {
		n, err = c.nodeIs(name, state)
		return err
	})
	return n
}

func (c *Cluster) nodeIs(name string, state api.NodeState) (api.Node, error) {
	ctx, cancel := Context()
	defer cancel()
	n, err := c.Client.Node(ctx, name)
	if err == nil && (n.State != state || n.Seen.IsZero()) {
		err = fmt.Errorf("it is %s, seen %s", n.State, n.Seen)
	}
	return n, err
}

// whole waits until all servers and nodes are there.
func (c *Cluster) whole() error {
	if err := c.connect(); err != nil {
		return err
	}
	return poll(func() error {
		ctx, cancel := Context()
		defer cancel()
		m, err := c.Client.Members(ctx)
		if err != nil {
			return err
		}
		voters := 0
		for _, s := range m.Members {
			if s.Voter {
				voters++
			}
		}
		if voters != len(c.Servers()) {
			return fmt.Errorf("servers that take part: %+v", m.Members)
		}
		for _, name := range c.Agents() {
			if _, err := c.nodeIs(name, api.NodeReady); err != nil {
				return fmt.Errorf("node %s: %w", name, err)
			}
		}
		return nil
	})
}

// FindLeader is the name of the server that leads, empty where none does now. It asks
// each server, and believes the highest term.
func (c *Cluster) FindLeader() string {
	best, term := "", uint64(0)
	for _, name := range c.Servers() {
		p := c.Process(name)
		if p.PID() == 0 {
			continue
		}
		if s, err := c.Status(name); err == nil && s.Leader == s.ID && s.Queue != nil && s.Term > term {
			best, term = name, s.Term
		}
	}
	return best
}

// Status is how one server sees itself.
func (c *Cluster) Status(name string) (api.ServerStatus, error) {
	one, err := c.One(name)
	if err != nil {
		return api.ServerStatus{}, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	return one.ServerStatus(ctx)
}

// Leader waits until a server leads, and returns its name.
func (c *Cluster) Leader() string {
	c.t.Helper()
	name := ""
	c.Until("a server leads", func() error {
		if name = c.FindLeader(); name == "" {
			return errors.New("none does")
		}
		return nil
	})
	return name
}

// Waiting is the job, with why its elements wait that do. It fails the test where it
// does not say.
func (c *Cluster) Waiting(id job.ID) api.JobDetail {
	c.t.Helper()
	var j api.JobDetail
	c.Until(fmt.Sprintf("job %s says why it waits", id), func() (err error) {
		if j, err = c.Job(id); err == nil && (j.Reason == job.ReasonNone || j.Reason == job.ReasonPriority) {
			err = fmt.Errorf("it is %s, reason %q", j.State, j.Reason)
		}
		return err
	})
	return j
}
