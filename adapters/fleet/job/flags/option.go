package flags

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/berth-project/berth/adapters/fleet/job"
)

// Origin is what options are read against.
type Origin struct {
	// Now is what "now+1h" and "16:00" count from, in the zone of the times that
	// have none.
	Now time.Time
	// Environ are the variables of who submits, "NAME=value". Only --export and
	// --env NAME look at them.
	Environ []string
	// Dir and Host are the directory and the machine where jobs are submitted. A job
	// without a working directory gets Dir, and one with a relative one that below
	// it. Without Dir the jobs stay as they are.
	Dir, Host string
	// Umask is that of who submits, "0077", which jobs without one get. Empty: it is
	// not known.
	Umask string
}

// option is one option. Set gets its value, "true" where a bool has none.
type option struct {
	name    string
	short   string
	aliases []string
	usage   string // a name in back quotes stands for the value
	isBool  bool
	// bare, where not empty, is what the option means without a value. A value
	// must follow it with "=" then.
	bare   string
	hidden bool // from the usage
	// set is nil where there is only a word to say about it.
	set func(r *reading, value string) error
}

// names are all names of the option.
func (o *option) names() []string { return append([]string{o.name}, o.aliases...) }

// reading fills a Job from the options of one place: the command line, or the
// directives of one kind.
type reading struct {
	Origin
	job *Job
	// spec is that of job.
	spec *job.Spec
	// given are the lists that this place has begun. The first value replaces what
	// other places said.
	given map[string]bool
	// name is that of the option that is being read, and gpusBy of the one that said last
	// which devices a task gets.
	name, gpusBy string
	// named are the variables that this place has set one by one.
	named map[string]bool
	// mark is that of directives, and line is the present one.
	mark string
	line int
	// slurm: values are as Slurm reads them.
	slurm bool
}

func newReading(o Origin, j *Job, mark string) *reading {
	return &reading{Origin: o, job: j, spec: &j.Spec, mark: mark, slurm: mark == slurmMark}
}

// use reads a value of an option, under one of its names.
func (r *reading) use(o *option, name, value string) error {
	r.name = name
	r.job.forget(o.name)
	if w, ok := wordsByName[name]; ok {
		r.say(w, o.name, name, value)
	}
	switch {
	case o.set == nil:
		return nil
	case value == "": // as of a variable that is not set: it would be one GPU, or any queue
		return errors.New("it is empty: give it a value, or leave it out")
	}
	if field, ok := fields[o.name]; ok {
		r.fills(field)
	}
	return o.set(r, value)
}

// at is a problem of the option that is being read. Its message is to be completed.
func (r *reading) at(name string) job.Problem {
	if r.mark == "" {
		return job.Problem{Field: "--" + name}
	}
	return job.Problem{Line: r.line, Field: r.mark, Message: "--" + name + ": "}
}

// warn adds a warning about the option that is being read.
func (r *reading) warn(name, format string, args ...any) {
	p := r.at(name)
	p.Message += fmt.Sprintf(format, args...)
	r.job.Warnings = append(r.job.Warnings, p)
}

// begin empties a list where this is the first value for it at this place.
func begin[T any](r *reading, field string, list *[]T) {
	if r.given == nil {
		r.given = map[string]bool{}
	}
	if !r.given[field] {
		r.given[field] = true
		*list = nil
	}
}

// Set are the options of a command line. Its methods are for one goroutine.
type Set struct {
	origin Origin
	values []value
}

// value is an option that was given, and the name that it was given by.
type value struct {
	option     *option
	name, text string
}

// New is a set of options without values.
func New(o Origin) *Set { return &Set{origin: o} }

// AddTo adds the options to a flag set. A value that cannot be read fails when the
// flag set parses it. Other names of options are hidden from its usage.
func (s *Set) AddTo(fs *pflag.FlagSet) {
	scratch := newReading(s.origin, &Job{}, "")
	addAll(fs, berthOptions, func(o *option, name, text string) error {
		s.values = append(s.values, value{o, name, text})
		return scratch.use(o, name, text)
	})
}

// Apply fills a job with the values that were given, over what is in it, and
// completes it. Where an option cannot be had, or a line of a script cannot be read, the
// error is a *job.ValidationError with all of them; the job is complete but for those.
func (s *Set) Apply(j *Job) error {
	r := newReading(s.origin, j, "")
	for _, v := range s.values {
		if err := r.use(v.option, v.name, v.text); err != nil {
			return fmt.Errorf("--%s: %w", v.name, err)
		}
	}
	return j.complete(s.origin)
}

// addAll adds options, whose values are handed to use, and those that there is only a
// word to say about.
func addAll(fs *pflag.FlagSet, options []*option, use func(o *option, name, text string) error) {
	for _, o := range slices.Concat(options, otherOptions(options)) {
		for i, name := range o.names() {
			short := o.short
			if i > 0 {
				short = ""
			}
			f := func(text string) error { return use(o, name, text) }
			usage := o.usage
			if len(o.aliases) > 0 {
				usage += " (also --" + strings.Join(o.aliases, ", --") + ")"
			}
			if o.isBool {
				fs.BoolFuncP(name, short, usage, f)
			} else {
				fs.FuncP(name, short, usage, f)
			}
			flag := fs.Lookup(name)
			flag.Hidden = i > 0 || o.hidden
			if o.bare != "" {
				flag.NoOptDefVal = o.bare
			}
		}
	}
}

// merged is base with options that replace those of the same name.
func merged(base, over []*option) []*option {
	out := slices.Clone(over)
	for _, o := range base {
		if !slices.ContainsFunc(over, func(p *option) bool { return p.name == o.name }) {
			out = append(out, o)
		}
	}
	return out
}
