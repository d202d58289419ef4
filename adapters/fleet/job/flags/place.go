package flags

import (
	"strings"

	"github.com/berth-project/berth/adapters/fleet/job"
)

// fields are the fields of a job.Spec that options fill, by the name of the option, where
// job.Check may refuse what they say.
var fields = map[string]string{
	"name": "name", "queue": "queue", "dir": "dir", "user": "user", "output": "output", "error": "error",
	"cpu": "resources.cpu", "memory": "resources.memory", "mem-per-cpu": "resources.memory", "disk": "resources.disk",
	"gpus": "resources.gpus", "gpu-share": "resources.gpus.share", "gres": "resources.gpus",
	"tasks": "tasks", "same-label": "sameLabel",
	"nodelist": "nodes", "exclude": "excludeNodes", "constraint": "constraints", "prefer": "preferences", "spread": "spread",
	"reservation": "reservation", "priority": "priority", "begin": "begin", "deadline": "deadline",
	"dependency": "after", "time": "timeLimit", "signal": "warn", "kill-grace": "killGrace",
	"retries": "retry.limit", "retry-on": "retry.on", "retry-backoff": "retry.backoff", "retry-max-backoff": "retry.maxBackoff",
}

// fills notes that the option that is being read fills a field.
func (r *reading) fills(field string) {
	if r.job.places == nil {
		r.job.places = map[string]job.Problem{}
	}
	r.job.places[field] = r.at(r.name)
}

// AsWritten is a problem of the job, of which Field is a path of its Spec, as whoever wrote
// the options knows it: by the option that filled the field, and its line in a script. ok is
// false where none did.
func (j *Job) AsWritten(p job.Problem) (written job.Problem, ok bool) {
	for field := p.Field; field != ""; field = field[:max(0, strings.LastIndexAny(field, ".["))] {
		if at, ok := j.places[field]; ok {
			at.Message += p.Message
			return at, true
		}
	}
	return p, false
}
