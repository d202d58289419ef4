package agent

import (
	"context"
	"math"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/berth-project/berth/adapters/fleet/agent/fingerprint"
	"github.com/berth-project/berth/adapters/fleet/agent/internal/meter"
	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
)

// measureEvery is the time between two measurements of the node's load, and loadWindows are
// the times that they are summed up over.
const measureEvery = 5 * time.Second

var loadWindows = []time.Duration{time.Minute, 5 * time.Minute, 15 * time.Minute}

// The bounds of the time between reports that an agent goes along with.
const (
	minMeasure = time.Second
	maxMeasure = time.Hour
)

// loadBook has what was measured of the node, where servers want to know. Those of its fields
// that are not guarded by mu are the poller's.
type loadBook struct {
	agent *Agent
	every time.Duration

	mu          sync.Mutex
	wanted      time.Duration // between reports; 0: nobody wants to know
	machine     *api.Machine  // of which the processors are
	processors  []int
	before      meter.CPU
	cpu, memory meter.Series // in percent of what tasks may use
	complaint   string       // what was logged last

	sent  time.Time // when a report was sent last that was not lost, for all that is known
	term  uint64    // the leader's then
	ask   bool      // the last answer asks for reports
	tasks map[job.TaskID]taskReading
	// refused is what a server said last of a report that it did not take.
	refused string
}

// taskReading is what the counters of a task said.
type taskReading struct {
	at  time.Time
	cpu time.Duration
}

func newLoadBook(a *Agent) *loadBook {
	keep := loadWindows[len(loadWindows)-1]
	s := meter.Series{Every: measureEvery, Keep: keep}
	return &loadBook{agent: a, every: measureEvery, cpu: s, memory: s}
}

// watchLoad measures the node, while servers want to know of it.
func (a *Agent) watchLoad(ctx context.Context) {
	for pause(ctx, a.load.every) {
		a.load.measure(time.Now())
	}
}

// measure measures the node once. What cannot be measured is left out; the log says why.
func (b *loadBook) measure(now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	m := b.agent.machine.Load()
	if b.wanted == 0 || m == nil {
		b.before = meter.CPU{} // what comes next says nothing of the time between
		return
	}
	complaint := ""
	if cores, ok, err := b.busy(m); err != nil {
		complaint = err.Error()
	} else if ok && m.CPU > 0 {
		b.cpu.Add(now, cores*1000/float64(m.CPU)*100)
	}
	if used, err := meter.ReadMemory(b.proc()); err != nil {
		complaint = err.Error()
	} else if m.Memory > 0 {
		b.memory.Add(now, float64(used)/float64(m.Memory)*100)
	}
	if complaint != "" && complaint != b.complaint {
		b.agent.log.Warn("the load of the node cannot be measured", "error", complaint)
	}
	b.complaint = complaint
}

// busy is how many processors were busy since it was called last; false: that is not known.
func (b *loadBook) busy(m *api.Machine) (float64, bool, error) {
	if b.machine != m { // it was looked at again; it may have other processors
		all, _, err := fingerprint.Processors(b.agent.cfg.Machine)
		if err != nil {
			return 0, false, err
		}
		b.machine, b.processors = m, nil
		for _, p := range all {
			b.processors = append(b.processors, p.ID)
		}
	}
	cpu, err := meter.ReadCPU(b.proc(), b.processors)
	if err != nil {
		b.before = meter.CPU{}
		return 0, false, err
	}
	cores, ok := cpu.Since(b.before)
	b.before = cpu
	return cores, ok, nil
}

func (b *loadBook) proc() string {
	if p := b.agent.cfg.Machine.Proc; p != "" {
		return filepath.Clean(p)
	}
	return "/proc"
}

// due reports whether a leader of the term is to be sent a report.
func (b *loadBook) due(now time.Time, term uint64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.ask && b.wanted > 0 && (b.term != term || now.Sub(b.sent) >= b.wanted)
}

// report is what to send: nil where nothing was measured lately. Running are the tasks that
// have begun.
func (b *loadBook) report(now time.Time, running []job.TaskID) *api.Load {
	b.mu.Lock()
	last := slices.MaxFunc([]time.Time{b.cpu.Last(), b.memory.Last()}, time.Time.Compare)
	out := &api.Load{Age: job.Duration(max(0, now.Sub(last)))}
	for _, w := range loadWindows {
		window := api.LoadWindow{Window: job.Duration(w), CPU: b.over(&b.cpu, last, w), Memory: b.over(&b.memory, last, w)}
		if window.CPU != nil || window.Memory != nil {
			out.Windows = append(out.Windows, window)
		}
	}
	b.mu.Unlock()
	tasks := b.readTasks(now, running)
	if len(out.Windows) == 0 || now.Sub(last) >= loadWindows[0] {
		return nil
	}
	out.Tasks = tasks
	return out
}

// over is what to say of a window that ends with the last measurement of anything.
func (b *loadBook) over(s *meter.Series, last time.Time, window time.Duration) *api.LoadStats {
	got, ok := s.Over(window)
	if !ok || last.Sub(s.Last()) >= 2*b.every {
		return nil
	}
	return &api.LoadStats{
		Average: hundredths(got.Average), StdDev: hundredths(got.StdDev),
		P50: hundredths(got.P50), P90: hundredths(got.P90), P95: hundredths(got.P95), P99: hundredths(got.P99),
	}
}

// readTasks reads what tasks use that have control groups.
func (b *loadBook) readTasks(now time.Time, running []job.TaskID) (out []api.TaskLoad) {
	before := b.tasks
	b.tasks = map[job.TaskID]taskReading{}
	if b.agent.tree == nil {
		return nil
	}
	for _, id := range running {
		cpu, memory, ok := b.agent.tree.Now(id.String())
		if !ok {
			continue
		}
		b.tasks[id] = taskReading{now, cpu}
		load := api.TaskLoad{Task: id, Memory: job.Bytes(memory)}
		if was, ok := before[id]; ok && now.After(was.at) && cpu >= was.cpu {
			load.CPU = job.MilliCPU(math.Round(float64(cpu-was.cpu) / float64(now.Sub(was.at)) * 1000))
		}
		out = append(out, load)
	}
	return out
}

// sentTo notes that a report is on its way to a leader of the term.
func (b *loadBook) sentTo(now time.Time, term uint64) { b.sent, b.term = now, term }

// failed notes that a poll was not answered. Another server may answer the next one, and one of
// an older version refuses what it does not know: nothing is sent until an answer asks for it.
func (b *loadBook) failed() { b.ask, b.sent, b.term = false, time.Time{}, 0 }

// answered notes what servers want.
func (b *loadBook) answered(resp *api.PollResponse) {
	b.mu.Lock()
	b.wanted = 0
	if resp.Measure > 0 {
		b.wanted = min(max(minMeasure, time.Duration(resp.Measure)), maxMeasure)
	}
	b.ask = b.wanted > 0
	b.mu.Unlock()
	if resp.LoadRefused != b.refused && resp.LoadRefused != "" {
		b.agent.log.Warn("the servers do not take the measured load", "problem", resp.LoadRefused)
	}
	b.refused = resp.LoadRefused
}

func hundredths(x float64) float64 { return math.Round(x*100) / 100 }
