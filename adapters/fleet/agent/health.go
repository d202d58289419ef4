package agent

import (
	"context"
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/berth-project/berth/adapters/fleet/agent/fingerprint"
	"github.com/berth-project/berth/adapters/fleet/api"
)

// complaints are what is wrong with the node, by what says so. Any goroutine may use
// them.
type complaints struct {
	mu     sync.Mutex
	what   map[string]string
	notify func() // called when they have changed
}

// maxComplaints is how many bytes of them are told.
const maxComplaints = 1 << 10

// set replaces what source complains of; empty: nothing.
func (c *complaints) set(source, text string) {
	c.mu.Lock()
	changed := c.what[source] != text
	if text == "" {
		delete(c.what, source)
	} else {
		c.what[source] = text
	}
	c.mu.Unlock()
	if changed {
		c.notify()
	}
}

// of is what source complains of, empty: nothing.
func (c *complaints) of(source string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.what[source]
}

// String is all of them, empty where there are none.
func (c *complaints) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var parts []string
	for _, source := range slices.Sorted(maps.Keys(c.what)) {
		parts = append(parts, source+": "+c.what[source])
	}
	text := strings.Join(parts, "; ")
	return strings.ToValidUTF8(text[:min(len(text), maxComplaints)], "")
}

// watchHealth runs the health script now and then.
func (a *Agent) watchHealth(ctx context.Context) {
	for len(a.cfg.Health.Command) > 0 {
		err := a.cfg.Health.run(ctx, hookEnvironment([]string{"BERTH_NODE=" + a.cfg.Node}))
		if ctx.Err() != nil {
			return
		}
		text := ""
		if err != nil {
			text = err.Error()
			a.log.Warn("the health script complains", "error", err)
		}
		a.unhealthy.set("health script", text)
		if !pause(ctx, a.cfg.HealthEvery) {
			return
		}
	}
}

// watchMachine has the node registered again when something of it has changed.
func (a *Agent) watchMachine(ctx context.Context) {
	for pause(ctx, a.cfg.MachineEvery) {
		m, err := a.readMachine(ctx)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			a.log.Warn("the machine cannot be looked at", "error", err)
			continue
		}
		if old := a.machine.Load(); !reflect.DeepEqual(*old, m) {
			a.log.Info("the machine has changed")
			a.machine.Store(&m)
			a.poller.wakeUp()
		}
	}
}

// readMachine finds out what the machine is, and what limits tasks on it.
func (a *Agent) readMachine(ctx context.Context) (api.Machine, error) {
	m, err := fingerprint.Read(ctx, a.cfg.Machine)
	if err != nil {
		return m, err
	}
	m.Isolation.Users = a.cfg.Accounts == AccountsUsers
	if !m.Isolation.Users && os.Geteuid() == 0 {
		m.Warnings = append(m.Warnings, "tasks run as root")
	}
	if a.tree == nil {
		m.Warnings = append(m.Warnings,
			fmt.Sprintf("tasks have no limits but of memory, which is looked at up to ten times a second, and a process that hides from its ancestors may outlive its task: %v", a.treeErr))
		return m, nil
	}
	m.Isolation.Cgroup = true
	m.Isolation.Controllers = a.tree.Controllers()
	for _, c := range a.tree.Missing() {
		if c != "cpuset" || !a.cfg.NoPinning {
			m.Warnings = append(m.Warnings, withoutController[c])
		}
	}
	processors, _, err := fingerprint.Processors(a.cfg.Machine)
	if err != nil {
		return m, err
	}
	a.pins.look(processors)
	return m, nil
}

// pause waits, and reports false where ctx ended before.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
