package agent

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/berth-project/berth/adapters/fleet/agent/internal/tasklog"
	"github.com/berth-project/berth/adapters/fleet/job"
)

// sweepEvery is how often it is looked for what is not kept any longer.
const sweepEvery = time.Minute

// sweep removes what is left of ended tasks when its time or its room is over, and their
// control groups that could not be removed before, now and then until ctx ends. Then it may be that there is room again.
func (a *Agent) sweep(ctx context.Context) {
	for {
		if err := a.clearLingering(ctx); err != nil && ctx.Err() == nil {
			a.log.Warn("removing the control groups of ended tasks", "error", err)
		}
		if err := a.sweepOnce(ctx, a.cfg.Keep, time.Now()); err != nil {
			a.log.Warn("removing what is left of ended tasks", "error", err)
		}
		a.do(ctx, (*table).checkFolder)
		if !pause(ctx, sweepEvery) {
			return
		}
	}
}

// remains is what is left of a task that has ended.
type remains struct {
	id    job.TaskID
	ended time.Time
	bytes int64
	known bool // the table still has it: its ID must not be lost
}

// sweepOnce does it for the time now.
func (a *Agent) sweepOnce(ctx context.Context, keep Keep, now time.Time) error {
	// What there is first, the table second: what begins in between is in the table and
	// not among these.
	folders, err := ids(a.folders.tasks())
	if err != nil {
		return err
	}
	known, ended := map[job.TaskID]bool{}, map[job.TaskID]bool{}
	if !a.do(ctx, func(t *table) {
		for id, e := range t.tasks {
			known[id], ended[id] = true, e.ended
		}
	}) {
		return nil
	}
	var problems []error
	var all []remains
	for _, id := range folders {
		if known[id] && !ended[id] {
			continue
		}
		r, err := a.measure(id)
		r.known = known[id]
		problems = append(problems, err)
		all = append(all, r)
	}
	for _, r := range keep.over(all, now) {
		if r.known {
			problems = append(problems, tasklog.Remove(a.folders.task(r.id)))
		} else {
			problems = append(problems, os.RemoveAll(a.folders.task(r.id)))
		}
	}
	return errors.Join(problems...)
}

// removeStrays removes what is of no task in the table: work folders and control groups,
// and folders of starts that did not come so far as to be written down. It is called
// before any order can come: later on, one could bring such a task to life meanwhile.
func (a *Agent) removeStrays(ctx context.Context, t *table) error {
	works, err := ids(a.folders.works())
	problems := []error{err}
	for _, id := range works {
		if t.tasks[id] == nil {
			problems = append(problems, os.RemoveAll(a.folders.work(id)))
		}
	}
	folders, err := ids(a.folders.tasks())
	problems = append(problems, err)
	for _, id := range folders {
		if stage, _, _, err := a.folders.look(id); stage == stageNew && err == nil {
			problems = append(problems, os.RemoveAll(a.folders.task(id)))
		}
	}
	if a.tree == nil {
		return errors.Join(problems...)
	}
	names, err := a.tree.Names()
	problems = append(problems, err)
	for _, name := range names {
		id, err := job.ParseTaskID(name)
		if err != nil || t.tasks[id] != nil {
			continue
		}
		limited, cancel := context.WithTimeout(ctx, clearLimit)
		problems = append(problems, a.clearGroup(limited, name))
		cancel()
	}
	return errors.Join(problems...)
}

// measure finds out when a task ended and how much room its folder takes.
func (a *Agent) measure(id job.TaskID) (remains, error) {
	r := remains{id: id}
	if _, report, _, err := a.folders.look(id); err == nil {
		r.ended = report.At
	}
	err := filepath.WalkDir(a.folders.task(id), func(_ string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err == nil && info.Mode().IsRegular() {
			r.bytes += info.Size()
		}
		if err == nil && r.ended.IsZero() {
			r.ended = info.ModTime() // there is no report that would say
		}
		return err
	})
	return r, err
}

// over are those that are not kept: the old ones, and the oldest of the others as long
// as they take too much room.
func (k Keep) over(all []remains, now time.Time) []remains {
	slices.SortFunc(all, func(a, b remains) int {
		return cmp.Or(a.ended.Compare(b.ended), cmp.Compare(a.id.Job, b.id.Job))
	})
	var room int64
	for _, r := range all {
		room += r.bytes
	}
	for i, r := range all {
		if now.Sub(r.ended) <= k.For && room <= int64(k.Bytes) {
			return all[:i]
		}
		room -= r.bytes
	}
	return all
}
