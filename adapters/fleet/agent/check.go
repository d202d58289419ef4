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
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/berth-project/berth/adapters/fleet/agent/cgroup"
)

// A node sees for itself whether it has what tasks need of it, before one fails there.

// checkEvery is how often it does.
const checkEvery = time.Minute

// watchSelf has the node checked now and then until ctx ends.
func (a *Agent) watchSelf(ctx context.Context) {
	for {
		a.checkFolder()
		a.checkSelf(ctx)
		if !pause(ctx, checkEvery) {
			return
		}
	}
}

// checkFolder has the node complain of a data folder that cannot be worked with, as long as
// that is so: disks that were full may have room again.
func (a *Agent) checkFolder() {
	a.checking.Lock() // the last result counts
	defer a.checking.Unlock()
	a.unhealthy.set("data folder", errorText(a.folderCalls.do(a.tryFolder, nil)))
}

// noteFolder has the node complain of a data folder because of which a task could not be
// started, before that is reported: or each job to come would be tried here first. That a
// try succeeds means little, because it may need less room than the task did.
func (a *Agent) noteFolder() {
	if err := a.folderCalls.do(a.tryFolder, nil); err != nil {
		a.unhealthy.set("data folder", err.Error())
	}
}

// folderLimit is how long something may take that is done in the data folder. It is less
// than what servers wait for heartbeats.
const folderLimit = 8 * time.Second

// errNoAnswer says that the file system of the data folder hangs.
var errNoAnswer = fmt.Errorf("it does not answer: what takes milliseconds has not ended after %v; is its file system away?", folderLimit)

// bounded lets nobody wait longer than folderLimit for a file system. Calls to one that hangs
// cannot be broken off, so while any is late no more are made. Any goroutine may use it.
type bounded struct {
	limit time.Duration // folderLimit, but in tests
	late  atomic.Int64
}

// hang reports whether one does not answer.
func (b *bounded) hang() bool { return b.late.Load() > 0 }

// do runs f on a goroutine of its own. The error errNoAnswer says that f has not ended, or
// has not been begun. In the first case late is run, if it is not nil, when f ends after all.
func (b *bounded) do(f func() error, late func()) error {
	if b.hang() {
		return errNoAnswer
	}
	done := make(chan error, 1)
	go func() { done <- f() }()
	limit := time.NewTimer(b.limit)
	defer limit.Stop()
	select {
	case err := <-done:
		return err
	case <-limit.C:
	}
	b.late.Add(1)
	go func() {
		defer b.late.Add(-1)
		if <-done; late != nil {
			late()
		}
	}()
	return errNoAnswer
}

// checkSelf has the node complain of what else it lacks.
func (a *Agent) checkSelf(ctx context.Context) {
	group, accounts := a.tryGroup(ctx), a.accounts.try(ctx, time.Now())
	if ctx.Err() == nil {
		a.unhealthy.set("control groups", errorText(group))
		a.unhealthy.set("accounts", errorText(accounts))
	}
}

// tryName is the name of the control group that is tried, which is there only for that long.
const tryName = "try"

// tryGroup tries whether a control group can be made, where tasks have any.
func (a *Agent) tryGroup(ctx context.Context) error {
	if a.tree == nil {
		return nil
	}
	if err := a.tree.Clear(ctx, tryName); err != nil { // of an agent that was killed
		return err
	}
	if _, err := a.tree.Create(tryName, cgroup.Limits{}); err != nil {
		return err
	}
	return a.tree.Clear(ctx, tryName)
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
	ctx, cancel := context.WithTimeout(context.Background(), folderLimit)
	defer cancel()
	err := exec.CommandContext(ctx, file).Run()
	if ctx.Err() != nil {
		return errNoAnswer
	}
	if errors.Is(err, unix.EACCES) || errors.Is(err, unix.EPERM) {
		return fmt.Errorf("%s: scripts in it cannot be executed: %w; is it on a file system that is mounted with noexec?",
			filepath.Dir(folder), unix.EACCES)
	}
	return nil
}
