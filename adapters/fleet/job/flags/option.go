package flags

import (
	"fmt"
	"slices"
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
}

// option is one option. Set gets its value, "true" where a bool has none.
type option struct {
	name    string
	short   string
	aliases []string
	usage   string // a name in back quotes stands for the value
	isBool  bool
	set     func(r *reading, value string) error
}

// reading fills a Spec from the options of one place: the command line, or the
// directives of one kind.
type reading struct {
	Origin
	spec *job.Spec
	// given are the lists that this place has begun. The first value replaces what
	// other places said.
	given map[string]bool
	// slurm: values are as Slurm reads them.
	slurm bool
	// later are for when all options are read.
	memoryPerCPU, jobGPUs string
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

// value is an option that was given.
type value struct {
	option *option
	text   string
}

// New is a set of options without values.
func New(o Origin) *Set { return &Set{origin: o} }

// AddTo adds the options to a flag set. A value that cannot be read fails when the
// flag set parses it. Other names of options are hidden from its usage.
func (s *Set) AddTo(fs *pflag.FlagSet) {
	scratch := &reading{Origin: s.origin, spec: &job.Spec{}}
	addAll(fs, berthOptions, func(o *option, text string) error {
		s.values = append(s.values, value{o, text})
		return o.set(scratch, text)
	})
}

// Apply fills a spec with the values that were given, over what is in it.
func (s *Set) Apply(spec *job.Spec) error {
	r := &reading{Origin: s.origin, spec: spec}
	for _, v := range s.values {
		if err := v.option.set(r, v.text); err != nil {
			return fmt.Errorf("--%s: %w", v.option.name, err)
		}
	}
	return nil
}

// addAll adds options, whose values are handed to set.
func addAll(fs *pflag.FlagSet, options []*option, set func(o *option, text string) error) {
	for _, o := range options {
		for i, name := range append([]string{o.name}, o.aliases...) {
			short := o.short
			if i > 0 {
				short = ""
			}
			f := func(text string) error { return set(o, text) }
			if o.isBool {
				fs.BoolFuncP(name, short, o.usage, f)
			} else {
				fs.FuncP(name, short, o.usage, f)
			}
			if i > 0 {
				fs.Lookup(name).Hidden = true
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
