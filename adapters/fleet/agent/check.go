package agent

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/berth-project/berth/adapters/fleet/agent/cgroup"
)

// A node sees for itself whether it has what tasks need of it, before one fails there; the
// data folder is checked by the owner of the table.

// checkSelf has the node complain of what it lacks.
func (a *Agent) checkSelf(ctx context.Context) {
	group, accounts := a.tryGroup(ctx), a.accounts.try(ctx, time.Now())
	if ctx.Err() == nil {
		a.unhealthy.set("control groups", errorText(group))
		a.unhealthy.set("accounts", errorText(accounts))
	}
}

// tryGroup tries whether a control group can be made, where tasks have any.
func (a *Agent) tryGroup(ctx context.Context) error {
	if a.tree == nil {
		return nil
	}
	const name = "try"
	if err := a.tree.Clear(ctx, name); err != nil { // of an agent that was killed
		return err
	}
	if _, err := a.tree.Create(name, cgroup.Limits{}); err != nil {
		return err
	}
	return a.tree.Clear(ctx, name)
}

// accounts are those that tasks ran as, and when each was found last. The zero value has
// none. Any goroutine may use it.
type accounts struct {
	mu    sync.Mutex
	found map[string]time.Time
}

const (
	// maxAccounts is how many are looked for.
	maxAccounts = 8
	// forgetAccount is when one is forgotten that is found no more: it was deleted.
	forgetAccount = time.Hour
)

// note notes that an account was found.
func (a *accounts) note(name string, now time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.found == nil {
		a.found = map[string]time.Time{}
	}
	if _, known := a.found[name]; known || len(a.found) < maxAccounts {
		a.found[name] = now
	}
}

// try looks for the accounts again. The error says that none is found, so that others
// would not be either. One that is gone was deleted rather.
func (a *accounts) try(ctx context.Context, now time.Time) error {
	a.mu.Lock()
	maps.DeleteFunc(a.found, func(_ string, at time.Time) bool { return now.Sub(at) > forgetAccount })
	names := slices.Sorted(maps.Keys(a.found))
	a.mu.Unlock()
	var last error
	for _, name := range names {
		_, err := lookupAccount(ctx, name)
		if err == nil {
			a.note(name, now)
			return nil
		}
		last = fmt.Errorf("tasks ran here as %s, and now: %w; is the directory service away?", name, err)
	}
	return last
}

// execute tries whether scripts in the folder can be written and executed.
func execute(folder string) error {
	file := filepath.Join(folder, "script")
	if err := os.WriteFile(file, []byte("#!/bin/sh\n"), 0o700); err != nil {
		return err
	}
	err := exec.Command(file).Run() //nolint:noctx // It is over at once.
	if errors.Is(err, unix.EACCES) || errors.Is(err, unix.EPERM) {
		return fmt.Errorf("%s: scripts in it cannot be executed: %w; is it on a file system that is mounted with noexec?",
			filepath.Dir(folder), unix.EACCES)
	}
	return nil
}
