package configlevel

import "slices"

// The stages of a file's way. It stops at the first that refuses it.
const (
	loading    = "load"
	validating = "validate"
	making     = "make"
	taken      = "taken"
)

// result is what happened to a file on one side.
type result struct {
	stage  string
	errors []string // why it stopped there
	// loaded is the configuration after loading, in kube-scheduler's own writing.
	loaded string
	// written is what --write-config-to would write.
	written  string
	numbers  numbers
	profiles []profile
}

// numbers are those that are no affair of a profile's.
type numbers struct {
	Parallelism                int
	Percentage                 int32
	InitialBackoff, MaxBackoff int64 // seconds
}

// profile is what runs in one.
type profile struct {
	name       string
	percentage int32 // -1: that of all
	// points are, by point in the words of a file, the plugins in their order,
	// with the weight behind a "=" where weights mean something.
	points map[string][]string
	// args are the plugins that have arguments. Those that take none and do not look
	// at them are left out.
	args []string
}

func percentage(p *int32) int32 {
	if p == nil {
		return -1
	}
	return *p
}

func (r *result) refused() bool { return r.stage != taken }

func stopped(stage string, errs ...string) *result {
	slices.Sort(errs)
	return &result{stage: stage, errors: errs}
}
