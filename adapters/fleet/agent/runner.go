package agent

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/berth-project/berth/adapters/fleet/agent/shim"
	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
)

// runner is the life of one task on the node. Its goroutine ends when the task has
// ended and is cleaned up, or when the agent ends: then the next one goes on.
type runner struct {
	agent *Agent
	id    job.TaskID
	// order is what to start; nil: it has been started before.
	order *api.Order
	stops <-chan api.Stop

	// task is what its shim was given, as far as known.
	task shim.Task
	// last is what the shim said last.
	last shim.Status
	// stop is the last one that the shim was told; it is told again to a new
	// connection.
	stop *api.Stop
	// shim is the process, where this agent started it; closed says that it has
	// closed its socket, which it does by ending.
	shim   *exec.Cmd
	closed bool
	// due is when the shim must have said something.
	due time.Time
	// prolog: it ran, so the epilog should.
	prolog bool
}

// errLeft says that the agent ends, and the task goes on.
var errLeft = errors.New("the agent ends")

// run is the life of the task: each step is in a function of its name.
func (r *runner) run(ctx context.Context) {
	if r.order != nil && !r.look(ctx) {
		return
	}
	var report api.Report
	var err error
	if r.order != nil {
		report, err = r.start(ctx)
	} else {
		r.prolog = true
		r.task = r.readTask()
		r.due = time.Now().Add(r.agent.cfg.firstWord)
	}
	if err == nil && report.State == "" {
		report, err = r.watch(ctx)
	}
	if err == nil {
		err = r.cleanUp(ctx, &report)
	}
	if err != nil {
		return // errLeft
	}
	if report.Started.IsZero() {
		// What keeps many tasks from starting is said of all with the same words.
		report.Message = strings.ReplaceAll(report.Message, r.id.String(), "*")
	}
	// It is one line wherever it is shown. A request has room for many reports, but not
	// for long ones.
	report.Message = api.CutMessage(strings.ReplaceAll(report.Message, "\n", "; "))
	if err := r.writeReport(ctx, report); err != nil {
		// The report is sent all the same. If it does not get through before the
		// agent ends, the next one finds out again how the task ended.
		r.agent.log.Error("a report cannot be written down", "task", r.id, "error", err)
		r.agent.unhealthy.set("data folder", err.Error())
	}
	r.agent.log.Info("task ended", "task", r.id, "state", report.State, "message", report.Message)
	if report.State == job.BootFail {
		r.agent.noteFolder()
	}
	r.agent.do(ctx, func(t *table) { t.ended(report) })
}

// look finds out how far the task of an order has come, which may have been started before:
// then nothing is left of the order. It reports false where the task has ended, or the agent
// ends. What cannot be read now is read later, for nothing is started twice. Where the folder
// hangs the task is not started here any more.
func (r *runner) look(ctx context.Context) bool {
	a := r.agent
	for failures := 1; ; failures++ {
		var stage stage
		var report api.Report
		err := r.inFolder(func() (err error) {
			stage, report, _, err = a.folders.look(r.id)
			return err
		})
		switch {
		case errors.Is(err, errNoAnswer):
			report := r.notStarted(err)
			a.do(ctx, func(t *table) { t.ended(report) })
			return false
		case err != nil:
			a.log.Error("a task's folder cannot be read", "task", r.id, "error", err)
			a.unhealthy.set("data folder", err.Error())
			if !pause(ctx, backoff(failures)) {
				return false
			}
			continue
		case stage == stageReported:
			a.do(ctx, func(t *table) { t.hadEnded(report) })
			return false
		case stage == stageStarted:
			r.order = nil
		}
		return true
	}
}

// reportRoom is more than a report takes on a disk.
const reportRoom = 1 << 20

// writeReport writes a report down. Where there is no room for it logs give way, also those
// of its task.
func (r *runner) writeReport(ctx context.Context, report api.Report) error {
	write := func() error { return r.agent.folders.writeReport(report) }
	err := r.inFolder(write)
	if !isFull(err) {
		return err
	}
	r.agent.giveRoom(ctx, reportRoom, r.id)
	return r.inFolder(write)
}

func (r *runner) dir() string { return r.agent.folders.task(r.id) }

// neverRan is the report of a task that has not run.
func (r *runner) neverRan(state job.State, message string) api.Report {
	return api.Report{Task: r.id, State: state, At: time.Now(), Message: message}
}

// watch follows the task to its end, by its shim where there is one.
func (r *runner) watch(ctx context.Context) (api.Report, error) {
	for {
		if r.late() {
			if report := r.giveUp(); report.State != "" {
				return report, nil
			}
		}
		conn, err := r.dial()
		switch {
		case errors.Is(err, shim.ErrGone):
			r.closed = true
			return r.gone(), nil
		case err == nil:
			ended, err := r.follow(ctx, conn)
			if err != nil {
				return api.Report{}, err
			}
			if ended {
				return r.report(r.last), nil
			}
		}
		// The shim lives, and could not be spoken to: for example the agent has no
		// file numbers left. Or it is ending this very moment.
		if !pause(ctx, 20*time.Millisecond) {
			return api.Report{}, errLeft
		}
	}
}

// dial connects to the shim.
func (r *runner) dial() (*shim.Conn, error) {
	var conn *shim.Conn
	err := r.agent.folderCalls.do(func() (err error) {
		conn, err = shim.Dial(r.dir())
		return err
	}, func() {
		if conn != nil {
			conn.Close()
		}
	})
	if err != nil {
		return nil, err
	}
	return conn, nil
}

// firstWord is how long a shim may say nothing. It opens the files of the
// task before, which may be on any file system.
const firstWord = time.Minute

// late reports whether the shim should have said something by now.
func (r *runner) late() bool { return r.last.State == "" && !time.Now().Before(r.due) }

// giveUp kills a shim that says nothing. Where it hangs in the kernel it ends there, and
// starts nothing any more. The report is empty where the shim has written down that the task has
// begun, for then it is the agent that cannot hear it, and where the shim is not found: agents
// before this one did not mark it.
func (r *runner) giveUp() api.Report {
	status, err := r.readStatus()
	unknown := r.shim == nil && len(r.leftovers().Find()) == 0
	if err == nil && status.State != "" || unknown {
		r.due = time.Now().Add(r.agent.cfg.firstWord)
		return api.Report{}
	}
	if r.shim != nil { // else cleanUp kills it
		r.shim.Process.Kill()
		go r.shim.Wait() // which may take as long as the file system is away
	}
	if errors.Is(err, errNoAnswer) {
		return r.unknown(err)
	}
	return r.neverRan(job.BootFail, fmt.Sprintf("it has not begun for %v: is a file system away that it needs?", r.agent.cfg.firstWord))
}

// lingerLimit is how long a shim may take to end that has said how its task ended. It
// stays where the disk is full, until it could write that down.
const lingerLimit = 2 * time.Second

// follow passes on what the shim says and what it is to be told, until the connection
// ends. It reports true where the shim said how the task ended.
func (r *runner) follow(ctx context.Context, conn *shim.Conn) (ended bool, err error) {
	said, done := make(chan shim.Status), make(chan struct{})
	go func() {
		defer close(said)
		for {
			s, err := conn.Receive()
			if err != nil {
				return
			}
			select {
			case said <- s:
			case <-done:
				return
			}
		}
	}()
	defer func() {
		close(done)
		conn.Close()
		for range said { // until it is closed: the goroutine has ended
		}
	}()
	if r.stop != nil {
		r.tell(conn, *r.stop)
	}
	var linger, late <-chan time.Time
	if r.last.State == "" {
		late = time.After(time.Until(r.due))
	}
	for {
		select {
		case <-late:
			if r.late() {
				return false, nil
			}
		case <-ctx.Done():
			return false, errLeft
		case <-linger:
			return true, nil
		case s := <-r.stops:
			r.stop = &s
			r.tell(conn, s)
		case s, ok := <-said:
			if !ok {
				r.closed = linger != nil
				return r.closed, nil
			}
			if s.State == job.Running && r.last.State == "" {
				r.agent.do(ctx, func(t *table) { t.started(r.id, s.Started) })
			}
			r.last = s
			if s.HasEnded() && linger == nil {
				linger = time.After(lingerLimit)
			}
		}
	}
}

// tell tells the shim to end the task. That it did not get through shows by the end
// of the connection.
func (r *runner) tell(conn *shim.Conn, s api.Stop) {
	stop := shim.Stop{
		State: s.State, Reason: s.Reason, Signal: s.Signal,
		Grace: min(max(0, time.Duration(s.Grace)), r.agent.cfg.MaxKillGrace),
	}
	if _, err := shim.SignalNumber(stop.Signal); err != nil {
		stop.Signal = ""
	}
	if !stop.State.Ended() || stop.State == "" {
		stop.State = job.Cancelled
	}
	if err := conn.Ask(shim.Request{Stop: &stop}); err != nil {
		r.agent.log.Warn("a shim could not be told to end its task", "task", r.id, "error", err)
	}
}

// gone finds out how a task ended that has no shim any more.
func (r *runner) gone() api.Report {
	status, err := r.readStatus()
	if err != nil {
		// What the shim said over its socket is as good.
		status = r.last
	}
	if errors.Is(err, errNoAnswer) && !status.HasEnded() {
		return r.unknown(err)
	}
	if status.State != "" {
		r.last = status
	}
	if r.last.HasEnded() {
		return r.report(r.last)
	}
	if r.last.State == "" {
		return r.neverRan(job.BootFail, "its shim did not come: "+r.complaint())
	}
	message := "its shim was killed"
	if r.last.Boot != "" && r.last.Boot != r.agent.boot {
		message = "the node was started again"
	}
	report := r.report(r.last)
	report.State, report.At, report.Message = job.NodeFail, time.Now(), message
	return report
}

// unknown is the report of a task that has ended, or was given up, and may have begun: the
// folder that says so does not answer.
func (r *runner) unknown(err error) api.Report {
	r.agent.log.Error("it cannot be read how a task ended", "task", r.id, "error", err)
	r.agent.unhealthy.set("data folder", err.Error())
	report := r.report(r.last)
	report.State, report.At, report.Message = job.NodeFail, time.Now(), "data folder: "+err.Error()
	return report
}

// readTask reads what the shim was given. What is not known is done without.
func (r *runner) readTask() shim.Task {
	var task shim.Task
	if err := r.inFolder(func() (err error) {
		task, err = shim.ReadTask(r.dir())
		return err
	}); err != nil {
		return shim.Task{}
	}
	return task
}

// readStatus reads what the shim has written down.
func (r *runner) readStatus() (shim.Status, error) {
	var status shim.Status
	if err := r.inFolder(func() (err error) {
		status, err = shim.ReadStatus(r.dir())
		return err
	}); err != nil {
		return shim.Status{}, err
	}
	return status, nil
}

// complaint is the end of what the shim wrote to its log.
func (r *runner) complaint() string {
	var line string
	err := r.inFolder(func() error {
		line = lastLine(filepath.Join(r.dir(), "shim.log"))
		return nil
	})
	if err != nil || line == "" {
		return "it left no word"
	}
	return line
}

// lastLine is that of a file, empty where there is nothing to read.
func lastLine(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil {
		f.Seek(max(0, info.Size()-tailBytes), 0)
	}
	var end tail
	text := make([]byte, tailBytes)
	n, _ := f.Read(text)
	end.Write(text[:n])
	return end.lastLine()
}

// report puts the shim's status in the words of the servers.
func (r *runner) report(s shim.Status) api.Report {
	report := api.Report{
		Task: r.id, State: s.State, At: s.Ended, Started: s.Started, Message: s.Message,
		Usage: api.Usage{
			CPUSeconds: s.Usage.CPU.Seconds(),
			PeakMemory: job.Bytes(s.Usage.PeakMemory),
			ReadBytes:  job.Bytes(s.Usage.ReadBytes),
			WriteBytes: job.Bytes(s.Usage.WriteBytes),
		},
	}
	if s.Exit != nil {
		report.Exit = &api.Exit{Code: s.Exit.Code, Signal: s.Exit.Signal}
	}
	return report
}

// clearLimit is how long to wait for what a task left behind to end.
const clearLimit = 30 * time.Second

// cleanUp kills what the task left behind, runs the epilog, and removes the task's
// own folder. Its report stays the same, whatever fails here; the node complains.
func (r *runner) cleanUp(ctx context.Context, report *api.Report) error {
	a := r.agent
	limited, cancel := context.WithTimeout(ctx, clearLimit)
	defer cancel()
	if r.shim != nil && r.closed {
		r.shim.Wait() // its end is in what is reported
	}
	if err := r.killLeftovers(limited); err != nil && ctx.Err() == nil {
		a.log.Error("what a task left behind does not end", "task", r.id, "error", err)
		a.unhealthy.set("clean-up", fmt.Sprintf("task %s: %v", r.id, err))
	}
	if r.prolog {
		if err := a.cfg.Epilog.run(ctx, hookEnvironment(r.epilogFacts())); err != nil && ctx.Err() == nil {
			a.log.Error("the epilog failed", "task", r.id, "error", err)
			a.unhealthy.set("epilog", fmt.Sprintf("task %s: %v", r.id, err))
			a.metrics.hookFailures.WithLabelValues("epilog").Inc()
		}
	}
	if ctx.Err() != nil {
		return errLeft
	}
	if a.folderCalls.hang() { // the report does not wait for that
		go os.RemoveAll(a.folders.work(r.id))
		return nil
	}
	if err := os.RemoveAll(a.folders.work(r.id)); err != nil {
		a.log.Error("a task's folder cannot be removed", "task", r.id, "error", err)
	}
	return nil
}

// epilogFacts is the task's environment; only its name where its order is damaged.
func (r *runner) epilogFacts() []string {
	if len(r.task.Env) == 0 {
		return []string{"BERTH_TASK_ID=" + r.id.String()}
	}
	return r.task.Env
}

func (r *runner) killLeftovers(ctx context.Context) (err error) {
	// A shim that came to its own end has left nothing, and one that was never
	// started neither.
	if !r.last.HasEnded() && (r.order == nil || r.shim != nil) {
		err = r.leftovers().Kill(ctx)
	}
	return errors.Join(err, r.agent.clearGroup(ctx, r.id.String()))
}
