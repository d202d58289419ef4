package agent

import (
	"errors"
	"os"
	"slices"
	"sync"

	"github.com/hashicorp/go-hclog"

	"github.com/berth-project/berth/adapters/fleet/agent/cgroup"
	"github.com/berth-project/berth/adapters/fleet/agent/cpuset"
)

// pins gives tasks that ask for whole cores processors of their own, and the others those
// that are left. Any goroutine may use it. Servers place no more on a node than it has, so
// what is left is never less than what those that share it asked for together.
//
// It remembers nothing: who owns what is in the control groups alone, which the kernel
// keeps as long as they are there, and which are gone after a boot as the tasks are. So
// an agent that is killed between any two steps leaves nothing that could disagree:
//
//   - A group with processors is made before they are taken off the shared ones. In
//     between they are owned, and shared tasks run there a moment longer.
//   - A group is removed before its processors are added to the shared ones. In between
//     nobody uses them, and settle, which each agent begins with, adds them.
//   - A group that was made, and whose task was not started, is removed by the next
//     agent as all groups without a task are.
type pins struct {
	tree *cgroup.Tree
	log  hclog.Logger
	// share: no task gets processors of its own from now on. Those that have some keep
	// them.
	share bool

	mu  sync.Mutex // from looking what is owned until it is changed
	all []cpuset.Processor
}

// look takes over which processors there are.
func (p *pins) look(all []cpuset.Processor) {
	p.mu.Lock()
	p.all = all
	p.mu.Unlock()
	p.settle()
}

// create makes the control group of a task. One that asks for whole cores gets as many
// processors to itself, where that leaves some to share; where it does not, or the
// kernel does not take it, the task shares too: its limit of processor time holds in
// any case.
func (p *pins) create(name string, l cgroup.Limits) (*cgroup.Group, error) {
	if !p.share && p.tree.Pins() && l.MilliCPU > 0 && l.MilliCPU%1000 == 0 {
		g, err := p.createOwn(name, l)
		if g != nil {
			return g, nil
		}
		p.log.Info("a task shares processors, although it asks for whole ones", "task", name, "error", err)
	}
	return p.tree.Create(name, l)
}

// createOwn returns nil and no error where there are not enough processors.
func (p *pins) createOwn(name string, l cgroup.Limits) (*cgroup.Group, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	usable, owned, err := p.read()
	if err != nil {
		return nil, err
	}
	l.CPUs = cpuset.Choose(usable, owned, int(l.MilliCPU/1000))
	if l.CPUs == nil {
		return nil, nil
	}
	g, err := p.tree.Create(name, l)
	if err != nil {
		return nil, err
	}
	if err := p.tree.Share(shared(usable, append(owned, l.CPUs...))); err != nil {
		return nil, errors.Join(err, os.Remove(g.Path()))
	}
	return g, nil
}

// settle lets tasks that share have what nobody owns. It is called when groups have gone,
// or the machine has changed.
func (p *pins) settle() {
	if !p.tree.Pins() {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	usable, owned, err := p.read()
	if err == nil {
		err = p.tree.Share(shared(usable, owned))
	}
	if err != nil {
		p.log.Warn("tasks that share processors keep those that they have", "error", err)
	}
}

// read finds out which processors tasks may run on, and which of them are owned.
func (p *pins) read() (usable []cpuset.Processor, owned []int, err error) {
	allowed, err := p.tree.Allowed()
	if err != nil {
		return nil, nil, err
	}
	owned, err = p.tree.Owned()
	for _, c := range p.all {
		if slices.Contains(allowed, c.ID) {
			usable = append(usable, c)
		}
	}
	return usable, owned, err
}

// shared are the usable processors that are not owned. They are never none: where, after
// processors went off line, owners have all that are left, they share them.
func shared(usable []cpuset.Processor, owned []int) []int {
	var all, free []int
	for _, c := range usable {
		all = append(all, c.ID)
		if !slices.Contains(owned, c.ID) {
			free = append(free, c.ID)
		}
	}
	if len(free) == 0 {
		return all
	}
	return free
}
