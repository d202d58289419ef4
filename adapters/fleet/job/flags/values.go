package flags

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/berth-project/berth/adapters/fleet/job"
)

// setGPUs reads "2", "a100" or "a100:2", and lists of models that will do:
// "a100,h100:2".
func setGPUs(r *reading, value string) error {
	models, countText, ok := strings.Cut(value, ":")
	if _, err := strconv.Atoi(value); err == nil {
		models, countText, ok = "", value, true
	}
	count := int64(1)
	if ok {
		var err error
		if count, err = strconv.ParseInt(countText, 10, 64); err != nil || count < 0 {
			return fmt.Errorf("%q is not a number of devices, nor model:number", value)
		}
	}
	var g *job.GPUs
	if count > 0 {
		g = &job.GPUs{Count: count}
		if before := r.spec.Resources.GPUs; before != nil {
			g.Share = before.Share
		}
		if models != "" {
			g.Models = strings.Split(models, ",")
		}
	}
	if r.gpusBy != "" && r.gpusBy != r.name && !reflect.DeepEqual(g, r.spec.Resources.GPUs) {
		return fmt.Errorf("--%s asks for other devices: write --gpus-per-task alone", r.gpusBy)
	}
	r.spec.Resources.GPUs, r.gpusBy = g, r.name
	return nil
}

// setGres reads "gpu:a100:2", "gpu:2", "gpu", "licence:3", with commas; "none" takes back
// what was asked for before.
func setGres(r *reading, value string) error {
	if strings.EqualFold(value, "none") {
		r.spec.Resources.GPUs, r.spec.Resources.Other, r.gpusBy = nil, nil, ""
		return nil
	}
	var names []string
	for part := range strings.SplitSeq(value, ",") {
		name, rest, ok := strings.Cut(part, ":")
		if slices.Contains(names, name) {
			return twice(name)
		}
		names = append(names, name)
		if !ok {
			rest = "1"
		}
		set, argument := setResource, name+"="+rest
		if name == "gpu" {
			set, argument = setGPUs, rest
		}
		if err := set(r, argument); err != nil {
			return err
		}
	}
	return nil
}

// twice refuses a name that --gres has twice: the second would replace the first, and Slurm
// gives both.
func twice(name string) error {
	if name == "gpu" {
		return errors.New("it has gpu twice, and a task gets devices of one kind: write --gpus-per-task=a100,h100:2 where either model will do")
	}
	return fmt.Errorf("it has %s twice: write it once, with the sum", name)
}

// nodes sets a list of node names, as expandNodes reads it.
func nodes(field string, list func(*job.Spec) *[]string) func(*reading, string) error {
	return func(r *reading, value string) error {
		names, err := expandNodes(value)
		if err != nil {
			return err
		}
		begin(r, field, list(r.spec))
		*list(r.spec) = append(*list(r.spec), names...)
		if r.slurm && field == "nodes" && len(names) > 1 {
			r.warn("nodelist", "any of the %d nodes will do; in Slurm the job gets all of them", len(names))
		}
		return nil
	}
}

// expandNodes reads names with commas between them, in which one pair of brackets
// may stand for numbers: "n[01-03,7]" is n01, n02, n03 and n7.
func expandNodes(value string) ([]string, error) {
	var names []string
	for rest := value; ; {
		end := strings.IndexAny(rest, ",[")
		if end < 0 {
			return append(names, rest), nil
		}
		if rest[end] == ',' {
			names, rest = append(names, rest[:end]), rest[end+1:]
			continue
		}
		closing := strings.IndexByte(rest, ']')
		if closing < end {
			return nil, fmt.Errorf(`%q has a "[" without its "]"`, value)
		}
		prefix, numbers := rest[:end], rest[end+1:closing]
		suffix, after, more := strings.Cut(rest[closing+1:], ",")
		if strings.ContainsAny(suffix, "[]") {
			return nil, fmt.Errorf("%q has more than one pair of brackets in a name", value)
		}
		for part := range strings.SplitSeq(numbers, ",") {
			expanded, err := expandNumbers(part)
			if err != nil {
				return nil, fmt.Errorf("%q: %w", value, err)
			}
			for _, n := range expanded {
				names = append(names, prefix+n+suffix)
			}
		}
		if len(names) > job.MaxNodeNames {
			return nil, fmt.Errorf("%q stands for more than %d nodes", value, job.MaxNodeNames)
		}
		if !more {
			return names, nil
		}
		rest = after
	}
}

// expandNumbers reads "7" or "01-03"; numbers have as many digits as the first.
func expandNumbers(s string) ([]string, error) {
	firstText, lastText, isRange := strings.Cut(s, "-")
	if !isRange {
		lastText = firstText
	}
	first, err1 := strconv.ParseUint(firstText, 10, 31)
	last, err2 := strconv.ParseUint(lastText, 10, 31)
	if err1 != nil || err2 != nil || last < first || last-first >= job.MaxNodeNames {
		return nil, fmt.Errorf("%q is no range of numbers, or too long", s)
	}
	var out []string
	for n := first; n <= last; n++ {
		out = append(out, fmt.Sprintf("%0*d", len(firstText), n))
	}
	return out, nil
}

func setConstraint(r *reading, value string) error {
	list, err := conditions(value)
	if err != nil {
		return err
	}
	begin(r, "constraints", &r.spec.Constraints)
	r.spec.Constraints = append(r.spec.Constraints, list...)
	return nil
}

func setPrefer(r *reading, value string) error {
	if r.slurm && !strings.Contains(value, ":") {
		value = "100:" + value
	}
	weightText, rest, ok := strings.Cut(value, ":")
	weight, err := strconv.ParseInt(weightText, 10, 32)
	if !ok || err != nil {
		return fmt.Errorf("%q is not weight:condition, such as 50:zone=a", value)
	}
	list, err := conditions(rest)
	if err != nil {
		return err
	}
	begin(r, "preferences", &r.spec.Preferences)
	for _, c := range list {
		r.spec.Preferences = append(r.spec.Preferences, job.Preference{Constraint: c, Weight: int32(weight)})
	}
	return nil
}

// conditions reads conditions with "&" between them.
func conditions(value string) ([]job.Constraint, error) {
	if strings.ContainsAny(value, "|[]*") {
		return nil, fmt.Errorf(`%q is not read: conditions are key=a,b key!=a key>5 key<5 key !key, with "&" between them`, value)
	}
	var list []job.Constraint
	for part := range strings.SplitSeq(value, "&") {
		c := condition(part)
		if err := c.Validate(); err != nil {
			return nil, fmt.Errorf("%q is no condition: %w", part, err)
		}
		list = append(list, c)
	}
	return list, nil
}

// condition reads one condition. What is wrong with it Validate says.
func condition(s string) job.Constraint {
	i := strings.IndexAny(s, "=!<>")
	switch {
	case i < 0:
		return job.Constraint{Label: s, Operator: job.Exists}
	case i == 0 && s[0] == '!':
		return job.Constraint{Label: s[1:], Operator: job.NotExists}
	}
	label, rest := s[:i], s[i:]
	for _, o := range []struct {
		sign     string
		operator job.Operator
	}{{"!=", job.NotIn}, {"=", job.In}, {">", job.Gt}, {"<", job.Lt}} {
		if value, ok := strings.CutPrefix(rest, o.sign); ok {
			return job.Constraint{Label: label, Operator: o.operator, Values: strings.Split(value, ",")}
		}
	}
	return job.Constraint{Label: s} // "!" without "=": no label has it
}

func setSpread(r *reading, value string) error {
	if err := job.CheckLabel(value, ""); err != nil {
		return err
	}
	begin(r, "spread", &r.spec.Spread)
	r.spec.Spread = append(r.spec.Spread, job.Spread{Label: value})
	return nil
}

func setNice(r *reading, value string) error {
	var nice int32
	if err := number(func(*job.Spec) *int32 { return &nice })(r, value); err != nil {
		return err
	}
	r.job.nice, r.job.niceAt = nice, r.at("nice")
	return nil
}

// setDependency reads Slurm's list: "afterok:12:13,afterany:14,singleton". A name
// of the same submission may stand for a number: "afterok:@prepare".
func setDependency(r *reading, value string) error {
	var list []job.Dependency
	for part := range strings.SplitSeq(value, ",") {
		if part == "singleton" {
			r.spec.Singleton = true
			continue
		}
		kind, jobs, ok := strings.Cut(part, ":")
		if !ok || strings.ContainsAny(part, "?+") {
			return fmt.Errorf(`%q is not kind:job, such as afterok:12, with ":" between jobs and "," between kinds, all of which must hold`, part)
		}
		for id := range strings.SplitSeq(jobs, ":") {
			list = append(list, job.Dependency{Kind: job.DependencyKind(kind), Job: id})
		}
	}
	begin(r, "after", &r.spec.After)
	r.spec.After = append(r.spec.After, list...)
	return nil
}

func setRetryOn(r *reading, value string) error {
	begin(r, "retry.on", &r.spec.Retry.On)
	r.spec.Retry.On = append(r.spec.Retry.On, slices.Collect(strings.SplitSeq(value, ","))...)
	return nil
}

// setSignal reads "USR1@5m", with "B:" before it where it is for the shell alone.
func setSignal(r *reading, value string) error {
	rest, shell := strings.CutPrefix(value, "B:")
	rest, overlap := strings.CutPrefix(rest, "R:")
	if overlap {
		r.warn("signal", "R: means nothing: reservations do not wait for jobs")
	}
	name, before, ok := strings.Cut(rest, "@")
	switch {
	case !ok && r.slurm:
		before = "60s"
	case !ok:
		return fmt.Errorf("%q is not signal@duration, such as USR1@5m", value)
	case r.slurm && isNumber(before):
		before += "s"
	}
	signal, err := job.SignalName(name)
	if err != nil {
		return err
	}
	d, err := job.ParseDuration(before)
	if err != nil {
		return err
	}
	r.spec.Warn = &job.Warning{Signal: signal, Before: d, Shell: shell}
	return nil
}

func isNumber(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }
