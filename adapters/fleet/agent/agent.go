package agent

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/hashicorp/go-hclog"

	"github.com/berth-project/berth/adapters/fleet/agent/cgroup"
	"github.com/berth-project/berth/adapters/fleet/agent/internal/proc"
	"github.com/berth-project/berth/adapters/fleet/api"
)

// Agent is the daemon of a node.
type Agent struct {
	cfg     Config
	log     hclog.Logger
	metrics *metrics
	boot    string

	// What Run sets before it starts a goroutine.
	folders *folders
	tree    *cgroup.Tree // nil: none, for the reason treeErr
	treeErr error
	pins    *pins         // nil as tree is
	starts  chan struct{} // has room for Config.MaxStarts

	machine   atomic.Pointer[api.Machine]
	unhealthy complaints
	accounts  accounts
	// tryFolder tries whether the data folder can be worked with. checking is held while
	// the result of a check is taken over.
	tryFolder   func() error
	checking    sync.Mutex
	folderCalls bounded
	poller      *poller
	load        *loadBook
	reportNow   chan struct{} // has room for one: there is something to report

	// events are run by the goroutine that owns the table.
	events chan func(*table)
	// makingRoom is held while logs give way, lest several tasks free room for the same need.
	makingRoom sync.Mutex
	// runners are the goroutines of tasks.
	runners sync.WaitGroup
	running atomic.Bool
}

// New checks the configuration; the error names everything that is wrong with it. It
// starts nothing.
func New(c Config) (*Agent, error) {
	c, err := c.withDefaults()
	if err == nil {
		err = c.validate()
	}
	if err != nil {
		return nil, fmt.Errorf("agent: %w", err)
	}
	boot, err := proc.BootID()
	if err != nil {
		return nil, fmt.Errorf("agent: the machine does not say which life of it this is: %w", err)
	}
	a := &Agent{
		cfg: c, log: c.Logger, boot: boot,
		metrics:   newMetrics(),
		starts:    make(chan struct{}, c.MaxStarts),
		reportNow: make(chan struct{}, 1),
		events:    make(chan func(*table)),
	}
	a.folderCalls.limit = c.folderLimit
	a.poller = newPoller(a)
	a.load = newLoadBook(a)
	a.unhealthy = complaints{what: map[string]string{}, notify: a.poller.wakeUp}
	return a, nil
}

// errRunning says that Run was called twice.
var errRunning = errors.New("agent: it runs already")

// Run works until ctx ends, and then returns nil; tasks go on under their shims, and
// the next Run on the same folder finds them. An error says that it could not begin.
func (a *Agent) Run(ctx context.Context) error {
	if !a.running.CompareAndSwap(false, true) {
		return errRunning
	}
	defer a.running.Store(false)
	folders, err := openFolders(ctx, a.cfg.DataDir)
	if err != nil {
		return fmt.Errorf("agent: %w", err)
	}
	defer folders.close()
	folders.users = a.cfg.Accounts == AccountsUsers
	a.folders, a.tryFolder = folders, folders.try
	a.openTree()
	defer a.leaveTree()
	m, err := a.readMachine(ctx)
	if err != nil {
		return fmt.Errorf("agent: finding out what the machine is: %w", err)
	}
	a.machine.Store(&m)
	t, err := newTable(ctx, a)
	if err != nil {
		return fmt.Errorf("agent: %w", err)
	}
	if err := a.removeStrays(ctx, t); err != nil {
		a.log.Warn("removing what is of no task", "error", err)
	}
	a.log.Info("the agent works", "node", a.cfg.Node, "tasks", len(t.tasks), "term", t.term)

	var around sync.WaitGroup
	for _, f := range []func(context.Context){
		a.poller.run, a.report, a.watchHealth, a.watchMachine, a.watchLoad, a.watchSelf, a.sweep,
	} {
		around.Go(func() { f(ctx) })
	}
	t.own(ctx)
	around.Wait()
	a.runners.Wait()
	return nil
}

// do has f run by the owner of the table, and waits for it. It reports false where ctx
// ended before: then f is not run.
func (a *Agent) do(ctx context.Context, f func(*table)) bool {
	done := make(chan struct{})
	select {
	case a.events <- func(t *table) { f(t); close(done) }:
		<-done
		return true
	case <-ctx.Done():
		return false
	}
}
