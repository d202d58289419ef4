package agent

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/berth-project/berth/adapters/fleet/agent/cgroup"
	"github.com/berth-project/berth/adapters/fleet/agent/internal/durable"
	"github.com/berth-project/berth/adapters/fleet/agent/internal/proc"
	"github.com/berth-project/berth/adapters/fleet/agent/internal/tasklog"
	"github.com/berth-project/berth/adapters/fleet/agent/shim"
	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
)

// start brings the task to where its shim was forked: then the report is empty. Else
// it says why it was not. The error is errLeft.
func (r *runner) start(ctx context.Context) (api.Report, error) {
	select { // the order may have come with a stop
	case s := <-r.stops:
		return r.stopped(s), nil
	default:
	}
	if r.order.Restored {
		return r.stopped(api.Stop{State: job.NodeFail, Reason: "the servers were restored from a backup, and the task may have run before"}), nil
	}
	select {
	case r.agent.starts <- struct{}{}:
		defer func() { <-r.agent.starts }()
	case s := <-r.stops:
		return r.stopped(s), nil
	case <-ctx.Done():
		return api.Report{}, errLeft
	}
	if err := r.inFolder(func() error { r.agent.disk(); return nil }); err != nil { // to see whether it answers
		return r.notStarted(err), nil
	}
	r.agent.giveRoom(ctx, 0)
	stop, err := r.unlessStopped(ctx, r.prepare)
	if stop != nil {
		return r.stopped(*stop), nil
	}
	if err == nil {
		err = r.fork()
	}
	if ctx.Err() != nil && err != nil {
		return api.Report{}, errLeft
	}
	if err != nil {
		return r.notStarted(err), nil
	}
	r.agent.metrics.starts.Inc()
	return api.Report{}, nil
}

// notStarted is the report of a task that could not be started. It is told to users, who
// cannot do much with paths of the agent's own folder: those are in the log.
func (r *runner) notStarted(err error) api.Report {
	message := err.Error()
	if errors.Is(err, errNoAnswer) {
		message = "data folder: " + message
		r.agent.unhealthy.set("data folder", err.Error())
	}
	var own *fs.PathError
	if errors.As(err, &own) && strings.HasPrefix(own.Path, r.agent.cfg.DataDir) {
		message = strings.ReplaceAll(message, own.Error(), "data folder: "+own.Err.Error())
		r.agent.unhealthy.set("data folder", own.Err.Error()) // see noteFolder
	}
	report := r.neverRan(job.BootFail, message)
	var m *shim.Mistake
	if errors.As(err, &m) {
		r.agent.log.Info("a task cannot be started as its job is", "task", r.id, "error", err)
		report.State, report.Exit = job.Failed, &api.Exit{Code: m.Code}
		return report
	}
	r.agent.log.Error("a task cannot be started", "task", r.id, "error", err)
	return report
}

func (r *runner) stopped(s api.Stop) api.Report {
	message := "it was stopped before it started"
	if s.Reason != "" {
		message += ": " + s.Reason
	}
	return r.neverRan(s.State, message)
}

// unlessStopped runs f with a context that ends when an order to stop comes, which it
// returns.
func (r *runner) unlessStopped(ctx context.Context, f func(context.Context) error) (*api.Stop, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	result := make(chan error, 1)
	go func() { result <- f(ctx) }()
	select {
	case s := <-r.stops:
		cancel()
		<-result
		return &s, nil
	case err := <-result:
		select { // both may have come
		case s := <-r.stops:
			return &s, nil
		default:
			return nil, err
		}
	}
}

// prepare makes all that the task needs on the node, and runs the prolog. It may be
// done again: nothing of the task has run.
func (r *runner) prepare(ctx context.Context) error {
	a, run := r.agent, r.order.Run
	who, other, err := a.cfg.account(ctx, run.User)
	if err != nil {
		return err
	}
	if other {
		a.accounts.note(who.Name, time.Now())
	}
	gpus := a.machine.Load().GPUs
	if err := checkDevices(run.GPUs, gpus); err != nil {
		return err
	}
	if err := r.inFolder(func() error { return a.folders.makeWork(r.id, run.Spec.Script, who, other) }); err != nil {
		return err
	}
	env := environment(*r.order, place{node: a.cfg.Node, gpus: gpus, who: who, work: a.folders.work(r.id)})
	if r.task, err = a.shimTask(*r.order, who, env); err != nil {
		return &shim.Mistake{Code: shim.CodeMistake, Text: err.Error()} // of the paths that the job names
	}
	r.task.Folder = a.folders.work(r.id)
	if other {
		r.task.Account = &who.Account
	}
	r.prolog = true
	if err := a.cfg.Prolog.run(ctx, hookEnvironment(env)); err != nil {
		if ctx.Err() != nil {
			return err
		}
		a.unhealthy.set("prolog", fmt.Sprintf("task %s: %v", r.id, err))
		a.metrics.hookFailures.WithLabelValues("prolog").Inc()
		return fmt.Errorf("the prolog failed: %w", err)
	}
	return r.makeCgroup(ctx)
}

// makeCgroup makes the task's control group, where there are any. One of its name is
// of a start that did not come to its end: nothing of it may be left.
func (r *runner) makeCgroup(ctx context.Context) error {
	a, resources := r.agent, r.order.Run.Spec.Resources
	if a.tree == nil {
		return nil
	}
	if err := a.clearGroup(ctx, r.id.String()); err != nil {
		return err
	}
	group, err := a.pins.create(r.id.String(), cgroup.Limits{
		MilliCPU: int64(resources.CPU), Memory: int64(resources.Memory), Processes: a.cfg.MaxProcesses,
	})
	if err != nil {
		return fmt.Errorf("making the control group: %w", err)
	}
	r.task.Cgroup = group.Path()
	r.task.CgroupMemory = slices.Contains(a.tree.Controllers(), "memory")
	return nil
}

// shimTask puts an order in the words of the shim.
func (a *Agent) shimTask(o api.Order, who person, env []string) (shim.Task, error) {
	spec := o.Run.Spec
	umask, err := job.ParseUmask(spec.Umask)
	if err != nil {
		return shim.Task{}, err
	}
	t := shim.Task{
		ID: o.Task, Argv: spec.Command, Env: env, Dir: spec.Dir,
		Logs:      tasklog.Limits{FileBytes: int64(a.cfg.Logs.FileBytes), Files: a.cfg.Logs.Files},
		Memory:    int64(spec.Resources.Memory),
		TimeLimit: time.Duration(spec.TimeLimit),
		KillGrace: time.Duration(job.DefaultKillGrace),
		Umask:     &umask,
	}
	if spec.Script != "" {
		t.Argv = append([]string{a.folders.script(o.Task)}, spec.Args...)
	}
	if t.Dir == "" {
		t.Dir = filepath.Join(a.folders.work(o.Task), "dir")
	}
	if spec.KillGrace != nil {
		t.KillGrace = time.Duration(*spec.KillGrace)
	}
	t.KillGrace = min(max(0, t.KillGrace), a.cfg.MaxKillGrace)
	if w := spec.Warn; w != nil {
		t.WarnSignal, t.WarnBefore = w.Signal, time.Duration(w.Before)
		if t.WarnSignal == "" {
			t.WarnSignal = job.DefaultSignal
		}
		switch {
		case w.Shell:
			t.WarnTo = shim.WarnFirst
		case spec.Script != "":
			t.WarnTo = shim.WarnOthers
		default:
			t.WarnTo = shim.WarnAll
		}
	}
	var errs []error
	for _, f := range []struct {
		what, pattern string
		path          *string
		truncate      *bool
	}{{"output", spec.Output, &t.Stdout, &t.TruncateStdout}, {"error", spec.Error, &t.Stderr, &t.TruncateStderr}} {
		path, err := job.ExpandPath(f.pattern, o.Task, job.PathNames{Node: a.cfg.Node, User: who.Name, Job: spec.Name})
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", f.what, err))
		}
		*f.path, *f.truncate = below(t.Dir, path), truncates(o, f.pattern)
	}
	return t, errors.Join(errs...)
}

// below is the path of a file that is named from a folder on. What ".." leads to the
// kernel knows, which follows links.
func below(dir, path string) string {
	switch {
	case path == "" || filepath.IsAbs(path):
		return path
	case slices.Contains(strings.Split(path, "/"), ".."):
		return dir + "/" + path
	}
	return filepath.Join(dir, path)
}

// truncates reports whether the task empties a file of its output: where nothing is in it
// that another task of the job, or an earlier try, has written. Jobs that were submitted
// to older servers name no mode, and append.
func truncates(o api.Order, pattern string) bool {
	return o.Run.Spec.OpenMode == job.OpenTruncate && try(o) == 1 &&
		(len(o.Run.Hosts) <= 1 || job.PathHas(pattern, 't')) &&
		(o.Run.Array == 0 || job.PathHas(pattern, 'a'))
}

// inFolder does something in the data folder. Where that hangs the error is errNoAnswer, and
// the start is given up: f may end much later, and must leave the runner alone.
func (r *runner) inFolder(f func() error) error { return r.agent.folderCalls.do(f, nil) }

// fork starts the task's shim. Where the data folder hangs meanwhile it is given up: a
// shim that then comes after all is killed.
func (r *runner) fork() error {
	task, gaveUp := r.task, &atomic.Bool{}
	var cmd *exec.Cmd
	err := r.agent.folderCalls.do(func() (err error) {
		cmd, err = r.agent.forkShim(task, r.dir(), gaveUp)
		return err
	}, func() {
		if cmd != nil {
			r.tooLate(cmd)
		}
	})
	if err != nil {
		gaveUp.Store(true)
		return err
	}
	r.shim, r.due = cmd, time.Now().Add(r.agent.cfg.firstWord)
	return nil
}

// forkShim writes down in the task's folder that it is started, the mark, and starts its
// shim, unless that is given up by now. From the mark on there is no way back: whatever comes, it
// is not started again.
func (a *Agent) forkShim(task shim.Task, dir string, gaveUp *atomic.Bool) (*exec.Cmd, error) {
	if err := durable.Mkdir(dir); err != nil {
		return nil, fmt.Errorf("writing down that it is started: %w", err)
	}
	if started, err := shim.HasTask(dir); started || err != nil {
		return nil, errors.Join(errors.New("it was started before"), err)
	}
	socket, err := shim.Listen(dir)
	if err != nil {
		return nil, err
	}
	defer socket.Close()
	log, err := os.OpenFile(filepath.Join(dir, "shim.log"), os.O_WRONLY|os.O_CREATE|os.O_APPEND|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	// All that takes time or may fail is before the mark.
	if err := shim.WriteTask(dir, task); err != nil {
		return nil, fmt.Errorf("writing down that it is started: %w", err)
	}
	if gaveUp.Load() {
		return nil, errNoAnswer // nobody hears it
	}
	cmd := exec.Command(a.cfg.Shim, "shim", dir) //nolint:noctx // It outlives the agent.
	cmd.Dir, cmd.Stderr = "/", log
	cmd.Env = []string{"GOMAXPROCS=1", "GOGC=20", a.folders.mark(task.ID)}
	cmd.ExtraFiles = []*os.File{socket}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting the shim: %w", err)
	}
	return cmd, nil
}

// tooLate kills a shim that came after its start was given up, and what it has started.
func (r *runner) tooLate(shim *exec.Cmd) {
	r.agent.log.Warn("a task was started too late, it is killed", "task", r.id)
	shim.Process.Kill()
	shim.Wait() // it was killed
	ctx, cancel := context.WithTimeout(context.Background(), clearLimit)
	defer cancel()
	late := proc.Leftovers{Mark: r.agent.folders.mark(r.id)}
	if err := errors.Join(late.Kill(ctx), r.agent.clearGroup(ctx, r.id.String())); err != nil {
		r.agent.log.Error("what was started too late does not end", "task", r.id, "error", err)
	}
}

// leftovers are the task's processes that its shim left behind, where there is no
// control group that has them, and the shim.
func (r *runner) leftovers() proc.Leftovers {
	l := proc.Leftovers{Mark: r.agent.folders.mark(r.id)}
	if r.last.Boot == r.agent.boot {
		l.Session, l.Start = r.last.PID, r.last.Start
	}
	return l
}
