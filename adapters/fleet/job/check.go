package job

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// ID is the number of the job that it names; ok is false where it names none, or
// one by "@" and its name.
func (d *Dependency) ID() (id ID, ok bool) {
	n, err := strconv.ParseUint(d.Job, 10, 64)
	return ID(n), err == nil && n > 0 && strconv.FormatUint(n, 10) == d.Job
}

// Name is the name of the job of the same submission that it names; ok is false
// where it names one by its number.
func (d *Dependency) Name() (name string, ok bool) {
	name, ok = strings.CutPrefix(d.Job, "@")
	return name, ok && name != ""
}

// Check returns all that is wrong with jobs that are submitted together, as a
// *ValidationError whose fields begin with "jobs[0]"; nil where nothing is.
// Besides what Validate looks at, names after "@" must each be those of one of the
// jobs, and jobs may not wait for each other in a circle.
func Check(specs []Spec) error {
	var all checker
	if len(specs) == 0 {
		all.report("jobs", "there are none")
	}
	all.atMost("jobs", len(specs), MaxJobs, "jobs")
	for i := range specs {
		var c checker
		specs[i].validate(&c)
		for _, p := range c.problems {
			all.report(fmt.Sprintf("jobs[%d].%s", i, p.Field), "%s", p.Message)
		}
	}
	after := references(&all, specs)
	if circle := findCircle(after); circle != nil {
		names := make([]string, len(circle))
		for i, j := range circle {
			names[i] = "@" + specs[j].Name
		}
		all.report(fmt.Sprintf("jobs[%d].after", circle[0]), "the jobs wait for each other in a circle: %s", strings.Join(names, " -> "))
	}
	return all.err()
}

// CheckRead is Check of jobs that were read with an error of Parse or Decode, nil for none. It
// returns the problems of both together, without what Check says of fields that could not be
// read: they do not have the values that were meant.
func CheckRead(specs []Spec, read error) error {
	if read == nil {
		return Check(specs)
	}
	var unread, wrong *ValidationError
	if len(specs) == 0 || !errors.As(read, &unread) || !errors.As(Check(specs), &wrong) {
		return read
	}
	all := checker{problems: slices.Clone(unread.Problems)}
	for _, p := range wrong.Problems {
		if !slices.ContainsFunc(unread.Problems, func(u Problem) bool { return within(p.Field, u.Field) || within(u.Field, p.Field) }) {
			all.report(p.Field, "%s", p.Message)
		}
	}
	return all.err()
}

// within reports whether a field is the other one, or a part of it.
func within(field, other string) bool {
	rest, ok := strings.CutPrefix(field, other)
	return ok && other != "" && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// Resolve is the place, among the jobs that are submitted together, of the one that
// the dependency names; ok is false where it names one by its number, or there is
// not exactly one with the name.
func Resolve(specs []Spec, d *Dependency) (index int, ok bool) {
	name, ok := d.Name()
	if !ok {
		return 0, false
	}
	index, found := 0, 0
	for i := range specs {
		if specs[i].Name == name {
			index = i
			found++
		}
	}
	return index, found == 1
}

// references are the jobs that each waits for, among those submitted together. It
// reports names that name none, or several.
func references(c *checker, specs []Spec) [][]int {
	byName := map[string][]int{}
	for i := range specs {
		byName[specs[i].Name] = append(byName[specs[i].Name], i)
	}
	after := make([][]int, len(specs))
	for i := range specs {
		for k := range specs[i].After {
			d := &specs[i].After[k]
			name, ok := d.Name()
			if !ok {
				continue
			}
			field := fmt.Sprintf("jobs[%d].after[%d].job", i, k)
			switch there := byName[name]; len(there) {
			case 0:
				c.report(field, "no job of this submission has the name %s", quote(name))
			case 1:
				after[i] = append(after[i], there[0])
				checkCorr(c, field, d.Kind, &specs[i], &specs[there[0]])
			default:
				c.report(field, "%d jobs of this submission have the name %s", len(there), quote(name))
			}
		}
	}
	return after
}

// checkCorr reports an aftercorr between arrays of different indices: an element
// would wait for one that there is not.
func checkCorr(c *checker, field string, kind DependencyKind, s, other *Spec) {
	if kind == AfterCorr && s.Array.Indexes.String() != other.Array.Indexes.String() {
		c.report(field, "aftercorr needs two arrays of the same indices, these have %s and %s",
			quote(s.Array.Indexes.String()), quote(other.Array.Indexes.String()))
	}
}

// findCircle is a circle of the graph, its first place repeated at its end; nil
// where there is none.
func findCircle(after [][]int) []int {
	const (
		unseen = iota
		onPath
		done
	)
	seen := make([]int, len(after))
	var walked []int
	var walk func(i int) []int
	walk = func(i int) []int {
		switch seen[i] {
		case done:
			return nil
		case onPath:
			for walked[0] != i {
				walked = walked[1:]
			}
			return append(walked, i)
		}
		seen[i] = onPath
		walked = append(walked, i)
		for _, next := range after[i] {
			if circle := walk(next); circle != nil {
				return circle
			}
		}
		walked = walked[:len(walked)-1]
		seen[i] = done
		return nil
	}
	for i := range after {
		if circle := walk(i); circle != nil {
			return circle
		}
	}
	return nil
}
