package agent

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/berth-project/berth/adapters/fleet/agent/internal/tasklog"
	"github.com/berth-project/berth/adapters/fleet/job"
)

// sweepEvery is how often it is looked for what is not kept any longer.
const sweepEvery = time.Minute

// sweep removes what is left of ended tasks when its time or its room is over, and their
// control groups that could not be removed before, now and then until ctx ends.
func (a *Agent) sweep(ctx context.Context) {
	for {
		if err := a.clearLingering(ctx); err != nil && ctx.Err() == nil {
			a.log.Warn("removing the control groups of ended tasks", "error", err)
		}
		if err := a.sweepOnce(ctx, a.cfg.Keep, time.Now()); err != nil {
			a.log.Warn("removing what is left of ended tasks", "error", err)
		}
		if a.unhealthy.of("data folder") != "" {
			a.checkFolder() // there may be room again
		}
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
	all, err := a.remains(ctx)
	problems := []error{err}
	for _, r := range keep.within(a.disk()).over(all, now) {
		_, err := a.drop(r, math.MaxInt64)
		problems = append(problems, err)
	}
	return errors.Join(append(problems, a.makeRoom(ctx, 0))...)
}

// remains lists what is left of tasks that have ended, the oldest first. These are those of
// which the table knows that, and the others that are given.
func (a *Agent) remains(ctx context.Context, others ...job.TaskID) ([]remains, error) {
	// What there is first, the table second: what begins in between is in the table and
	// not among these.
	folders, err := ids(a.folders.tasks())
	if err != nil {
		return nil, err
	}
	known, ended := map[job.TaskID]bool{}, map[job.TaskID]bool{}
	if !a.do(ctx, func(t *table) {
		for id, e := range t.tasks {
			known[id], ended[id] = true, e.ended
		}
	}) {
		return nil, nil
	}
	for _, id := range others {
		ended[id] = true
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
	slices.SortFunc(all, func(a, b remains) int {
		return cmp.Or(a.ended.Compare(b.ended), cmp.Compare(a.id.Job, b.id.Job))
	})
	return all, errors.Join(problems...)
}

// drop removes what is left of a task, of one that is known only logs, and of these not
// more than is needed to free so many bytes.
func (a *Agent) drop(r remains, room int64) (freed int64, err error) {
	if r.known {
		return tasklog.Shorten(a.folders.task(r.id), room)
	}
	return r.bytes, os.RemoveAll(a.folders.task(r.id))
}

// disk is the file system of the data folder. The zero value: it is not known.
type disk struct {
	bytes, free int64
}

func (a *Agent) disk() disk {
	var st unix.Statfs_t
	if unix.Statfs(a.cfg.DataDir, &st) != nil {
		return disk{}
	}
	return disk{bytes: int64(st.Blocks) * st.Bsize, free: int64(st.Bavail) * st.Bsize}
}

// missing is how much should be free and is not, for what agents and shims write down about
// tasks: there is little of it, and without it the node cannot work.
func (d disk) missing() int64 { return min(16<<20, d.bytes/16) - d.free }

// giveRoom is makeRoom for a task that needs it, and finds out whether there is enough.
func (a *Agent) giveRoom(ctx context.Context, room int64, ended ...job.TaskID) {
	if err := a.makeRoom(ctx, room, ended...); err != nil && ctx.Err() == nil {
		a.log.Warn("making room on the disk", "error", err)
	}
}

// makeRoom has logs of tasks that have ended give way, the oldest first, where there is too
// little room, or to free so many bytes. Ended are tasks of which the table does not know
// that. Any goroutine may call it but the one of the table.
func (a *Agent) makeRoom(ctx context.Context, room int64, ended ...job.TaskID) error {
	a.makingRoom.Lock()
	defer a.makingRoom.Unlock()
	if room = max(room, a.disk().missing()); room <= 0 {
		return nil
	}
	all, err := a.remains(ctx, ended...)
	problems := []error{err}
	for _, r := range all {
		if room <= 0 {
			break
		}
		freed, err := a.drop(r, room)
		if problems = append(problems, err); freed > 0 {
			a.log.Warn("the disk is full, so output of a task that has ended is dropped", "task", r.id, "bytes", freed)
		}
		room -= freed
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

// within is the same with a default for what takes all the room of a small disk.
func (k Keep) within(d disk) Keep {
	if k.Bytes == 0 {
		k.Bytes = DefaultKeepBytes
		if d.bytes > 0 {
			k.Bytes = min(k.Bytes, job.Bytes(d.bytes/4))
		}
	}
	return k
}

// over are those that are not kept: the old ones, and the oldest of the others as long
// as they take too much room. The oldest come first.
func (k Keep) over(all []remains, now time.Time) []remains {
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
