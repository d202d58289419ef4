package fault

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/berth-project/berth/adapters/fleet/job"
)

// run is what a task's own file says of it.
type run struct {
	task     job.TaskID
	node     string
	milliCPU int64
	// from is its start, to the last that is known of it.
	from, to time.Time
	starts   int
	// end is "done", "stopped", or empty: it was killed.
	end string
}

// readLedger reads the files of all tasks.
func readLedger(dir string) (map[job.TaskID]*run, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	out := map[job.TaskID]*run{}
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		r, err := parseRun(e.Name(), string(text))
		if err != nil {
			return nil, err
		}
		if r != nil {
			out[r.task] = r
		}
	}
	return out, nil
}

// parseRun reads the lines of one task; nil where it was killed before it wrote any.
func parseRun(name, text string) (*run, error) {
	id, err := job.ParseTaskID(name)
	if err != nil {
		return nil, err
	}
	var r *run
	for line := range strings.Lines(text) {
		var what, task, node string
		var milli, nano int64
		if _, err := fmt.Sscanf(line, "%s %s %s %d %d\n", &what, &task, &node, &milli, &nano); err != nil {
			return nil, fmt.Errorf("the file of task %s: line %q: %w", name, line, err)
		}
		at := time.Unix(0, nano)
		if r == nil {
			r = &run{task: id, node: node, milliCPU: milli, from: at}
		}
		if task != name || node != r.node && what != "start" {
			return nil, fmt.Errorf("the file of task %s on node %s has a line %q", name, r.node, line)
		}
		switch what {
		case "start":
			r.starts++
		case "done", "stopped":
			r.end = what
		}
		r.to = at
	}
	return r, nil
}
