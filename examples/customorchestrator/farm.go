package main

import (
	"cmp"
	"container/heap"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"
)

// Machine is a computer of the farm.
type Machine struct {
	Host     string
	Room     string // which server room it stands in
	Cores    int
	GiB      int
	Retiring bool // it takes nothing new, and leaves when it is empty
	BadDisk  int  // so many starts will fail on it
}

// Job is a film scene to render.
type Job struct {
	Scene   string
	Urgency int
	Cores   int
	GiB     int
	Takes   time.Duration
	Crashes int // so many runs will fail half way
	Tries   int // so many runs it may have

	runs int
	host string // where it runs, empty while it waits
}

// scheduler is what the farm needs of a scheduler, in the farm's own
// words. The engine is behind it; see translate.go.
type scheduler interface {
	MachineIs(now time.Time, m Machine) // new, or changed
	MachineLeft(now time.Time, host string)
	MachineDied(now time.Time, host string) // and its jobs wait again
	JobWaits(now time.Time, j *Job)         // new
	JobLostItsHost(now time.Time, j *Job)   // and waits again
	JobEnded(now time.Time, j *Job)
	Work(now time.Time) // choose machines and have jobs started
	NextDue(now time.Time) (time.Time, bool)
	Why(now time.Time, scene string) []string
}

// Farm is the orchestrator: it has machines and jobs, knows what runs where,
// and lives in simulated time. Everything that happens is an event of its
// calendar; everything worth telling is a line of its story.
type Farm struct {
	scheduler scheduler
	story     io.Writer
	now       time.Time
	opened    time.Time
	calendar  calendar
	machines  map[string]*Machine
	jobs      map[string]*Job
}

// NewFarm makes a farm without machines and jobs.
func NewFarm(opens time.Time, story io.Writer) *Farm {
	return &Farm{story: story, now: opens, opened: opens, machines: map[string]*Machine{}, jobs: map[string]*Job{}}
}

// tell writes a line of the story.
func (f *Farm) tell(format string, args ...any) {
	at := f.now.Sub(f.opened).Round(time.Second)
	fmt.Fprintf(f.story, "%02d:%02d:%02d  %s\n", int(at.Hours()), int(at.Minutes())%60, int(at.Seconds())%60, fmt.Sprintf(format, args...))
}

// At puts something into the calendar.
func (f *Farm) At(after time.Duration, do func()) { f.schedule(f.opened.Add(after), do) }

func (f *Farm) schedule(at time.Time, do func()) {
	f.calendar.made++
	heap.Push(&f.calendar, event{at, f.calendar.made, do})
}

// Run lives until the farm closes: it goes from one event to the next, or to
// the moment at which the scheduler wants to try something again.
func (f *Farm) Run(open time.Duration) {
	closes := f.opened.Add(open)
	for {
		f.scheduler.Work(f.now)
		next := closes
		if len(f.calendar.events) > 0 && f.calendar.events[0].at.Before(next) {
			next = f.calendar.events[0].at
		}
		if due, ok := f.scheduler.NextDue(f.now); ok && due.Before(next) {
			next = due
		}
		if next.Equal(closes) {
			return
		}
		f.now = next
		for len(f.calendar.events) > 0 && !f.calendar.events[0].at.After(f.now) {
			heap.Pop(&f.calendar).(event).do()
		}
	}
}

// Join takes a machine in.
func (f *Farm) Join(m Machine) {
	f.machines[m.Host] = &m
	f.tell("machine %s joins: room %s, %d cores, %d GiB", m.Host, m.Room, m.Cores, m.GiB)
	f.scheduler.MachineIs(f.now, m)
}

// Drain lets a machine finish what it has and then leave.
func (f *Farm) Drain(host string) {
	m := f.machines[host]
	m.Retiring = true
	f.tell("machine %s drains: %s", host, listed(f.on(host)))
	f.scheduler.MachineIs(f.now, *m)
	f.retire(m)
}

// retire lets a drained machine go when it is empty.
func (f *Farm) retire(m *Machine) {
	if m.Retiring && f.machines[m.Host] == m && len(f.on(m.Host)) == 0 {
		f.tell("machine %s is empty and leaves", m.Host)
		delete(f.machines, m.Host)
		f.scheduler.MachineLeft(f.now, m.Host)
	}
}

// Die takes a machine away, and what it was doing is lost.
func (f *Farm) Die(host string) {
	lost := f.on(host)
	f.tell("machine %s dies: %s", host, listed(lost))
	delete(f.machines, host)
	for _, j := range lost {
		j.host = ""
	}
	f.scheduler.MachineDied(f.now, host)
}

// Submit takes a job in.
func (f *Farm) Submit(j Job) {
	f.jobs[j.Scene] = &j
	f.tell("job %s is submitted: urgency %d, %d cores, %d GiB", j.Scene, j.Urgency, j.Cores, j.GiB)
	f.scheduler.JobWaits(f.now, &j)
}

// Start is what the scheduler calls when it has chosen a machine. A start that
// fails leaves the job waiting.
func (f *Farm) Start(scene, host string) error {
	j, m := f.jobs[scene], f.machines[host]
	switch {
	case j == nil:
		return fmt.Errorf("there is no job %s", scene)
	case m == nil:
		return fmt.Errorf("there is no machine %s", host)
	case j.host == host:
		return nil // it was started before
	case j.host != "":
		return fmt.Errorf("job %s runs on %s", scene, j.host)
	case m.BadDisk > 0:
		m.BadDisk--
		f.tell("job %s does not start on %s: disk error", scene, host)
		return fmt.Errorf("start job %s on %s: disk error", scene, host)
	}
	j.host = host
	j.runs++
	f.tell("job %s starts on %s", scene, host)
	f.expect(j)
	return nil
}

// expect puts the end of a run into the calendar.
func (f *Farm) expect(j *Job) {
	host, run, crash := j.host, j.runs, j.runs <= j.Crashes
	takes := j.Takes
	if crash {
		takes /= 2
	}
	f.schedule(f.now.Add(takes), func() {
		if j.host == host && j.runs == run { // and not lost meanwhile
			f.ended(j, crash)
		}
	})
}

// ended is the end of a run. What crashed is tried again, if it may be.
func (f *Farm) ended(j *Job, crashed bool) {
	m := f.machines[j.host]
	switch {
	case !crashed:
		f.tell("job %s is done", j.Scene)
	case j.runs < j.Tries:
		f.tell("job %s crashes on %s (try %d of %d)", j.Scene, j.host, j.runs, j.Tries)
		j.host = ""
		f.scheduler.JobLostItsHost(f.now, j)
		f.retire(m)
		return
	default:
		f.tell("job %s crashes on %s (try %d of %d) and is given up", j.Scene, j.host, j.runs, j.Tries)
	}
	delete(f.jobs, j.Scene)
	f.scheduler.JobEnded(f.now, j)
	f.retire(m)
}

// on lists the jobs that run on the host, by name.
func (f *Farm) on(host string) []*Job {
	var jobs []*Job
	for _, scene := range slices.Sorted(maps.Keys(f.jobs)) {
		if f.jobs[scene].host == host {
			jobs = append(jobs, f.jobs[scene])
		}
	}
	return jobs
}

// listed names the jobs.
func listed(jobs []*Job) string {
	switch len(jobs) {
	case 0:
		return "it has no jobs"
	case 1:
		return "it has job " + jobs[0].Scene
	}
	text := "it has jobs "
	for i, j := range jobs {
		if i > 0 {
			text += ", "
		}
		text += j.Scene
	}
	return text
}

// calendar has what will happen, the earliest first and at the same time in the
// order in which it was put in.
type calendar struct {
	events []event
	made   int
}

type event struct {
	at time.Time
	n  int
	do func()
}

// The methods of heap.Interface.

func (c *calendar) Len() int { return len(c.events) }

func (c *calendar) Less(i, j int) bool {
	a, b := &c.events[i], &c.events[j]
	return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.n, b.n)) < 0
}

func (c *calendar) Swap(i, j int) { c.events[i], c.events[j] = c.events[j], c.events[i] }

func (c *calendar) Push(e any) { c.events = append(c.events, e.(event)) }

func (c *calendar) Pop() any {
	last := len(c.events) - 1
	e := c.events[last]
	c.events = c.events[:last]
	return e
}
