package job

import (
	"path"
	"slices"
	"strings"
	"time"
)

// Defaults of Retry.
const (
	DefaultBackoff    = Duration(10 * time.Second)
	DefaultMaxBackoff = Duration(10 * time.Minute)
)

// DefaultSignal is that of a Warning.
const DefaultSignal = "USR1"

// WithDefaults is a copy in which every field has its value. What depends on the
// queue or on who submits (TimeLimit, User) is left as it is, and so is what is
// empty by default. It does not change s, and may share maps and lists with it.
func (s *Spec) WithDefaults() Spec {
	out := *s
	if out.Name == "" {
		out.Name = s.defaultName()
	}
	orDefault(&out.Queue, DefaultQueue)
	if out.Dir == OwnDir {
		out.Dir = ""
	}
	orDefault(&out.Error, out.Output)
	if out.Error != "" {
		orDefault(&out.OpenMode, OpenTruncate)
	}
	orDefault(&out.Resources.CPU, 1000)
	if g := s.Resources.GPUs; g != nil {
		gpus := *g
		orDefault(&gpus.Count, 1)
		orDefault(&gpus.Share, 1000)
		out.Resources.GPUs = &gpus
	}
	orDefault(&out.Tasks, 1)
	out.Constraints = slices.Clone(s.Constraints)
	for i := range out.Constraints {
		out.Constraints[i] = out.Constraints[i].WithDefaults()
	}
	out.Preferences = slices.Clone(s.Preferences)
	for i := range out.Preferences {
		out.Preferences[i].Operator = out.Preferences[i].operator()
	}
	out.Spread = slices.Clone(s.Spread)
	for i := range out.Spread {
		orDefault(&out.Spread[i].MaxSkew, 1)
	}
	if s.Warn != nil {
		warn := *s.Warn
		orDefault(&warn.Signal, DefaultSignal)
		out.Warn = &warn
	}
	if s.KillGrace == nil {
		grace := DefaultKillGrace
		out.KillGrace = &grace
	}
	if len(s.Retry.On) == 0 {
		out.Retry.On = []string{RetryFailed}
	}
	backoff, most := s.Retry.pauses()
	out.Retry.Backoff, out.Retry.MaxBackoff = &backoff, &most
	return out
}

// defaultName is a valid name, whatever the command is.
func (s *Spec) defaultName() string {
	name := "script"
	if len(s.Command) > 0 {
		name = path.Base(s.Command[0])
	}
	name = strings.Map(func(r rune) rune {
		if unprintable(r) || r == '\uFFFD' {
			return -1
		}
		return r
	}, name)
	name = strings.TrimSpace(strings.TrimLeft(name, "@ "))
	for len(name) > MaxName {
		name = name[:len(name)-1]
	}
	name = strings.TrimSpace(strings.ToValidUTF8(name, ""))
	if name == "" {
		return "job"
	}
	return name
}

// orDefault sets a field that has its zero value.
func orDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// WithDefaults is the constraint with its operator.
func (k Constraint) WithDefaults() Constraint {
	k.Operator = k.operator()
	return k
}
