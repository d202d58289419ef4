package extpoints

import (
	"errors"
	"fmt"
	"slices"
)

// Profile is one way of scheduling. A workload chooses it by name. It is a recipe:
// the same value may be used for several engines, each of which makes plugins of
// its own. A copy and its original can be changed without changing each other, as
// long as that is done with [Use] and the methods of Profile.
type Profile struct {
	// Name is what [model.Workload].Profile says. Unique in an engine.
	Name string
	// Plugins are in the order in which they are asked at each point. One that
	// sorts the queue and at least one that binds must be among them; there is
	// no default for either. See [Use] for how to add one.
	Plugins []Entry
	// PercentageOfNodesToScore overrides the engine's value. Nil: the
	// engine's. 0: adaptive.
	PercentageOfNodesToScore *int32

	// problems are those of changes that could not be made.
	problems []error
}

// Entry is a line of a profile: a plugin, how it is made, and what it is asked.
//
// An entry without Points stands for all points that its plugin serves. A further
// entry of the same name, with Points and without New, is about these points only:
// there the plugin has this place and this weight instead. With such entries every
// order of every point can be had.
type Entry struct {
	// Name is the plugin's. Where New is given and Name is empty, it is what the
	// plugin that New makes calls itself; otherwise both must be the same.
	Name string
	// New makes the plugin. Each name has it in exactly one entry.
	New Factory
	// Args are the arguments of New.
	Args any
	// Made is called with the plugin when the engine that it belongs to has been
	// made; not where that fails, and not for the engine of a replay. It is
	// called on the goroutine that makes the engine. Default: nobody is told.
	Made func(Plugin)
	// Weight multiplies the plugin's scores at Score and PlacementScore. It means
	// nothing at other points. Default 1; must not be negative.
	Weight int32
	// Points are those that the entry is about. The plugin must serve them.
	// Default: all that it serves, but for Except and those that other entries
	// of the plugin are about.
	Points []Point
	// Except are points at which the plugin is not asked, though it may serve
	// them. Only in an entry without Points.
	Except []Point
}

// At lists the entries that the point has, in the order in which their plugins are
// asked. Those without Points count as far as their plugins serve the point.
func (p *Profile) At(point Point) []Entry {
	var list []Entry
	for i := range p.Plugins {
		e := &p.Plugins[i]
		here := slices.Contains(e.Points, point)
		if len(e.Points) == 0 {
			here = !slices.Contains(e.Except, point) && !slices.ContainsFunc(p.Plugins, func(other Entry) bool {
				return e.Name != "" && other.Name == e.Name && slices.Contains(other.Points, point)
			})
		}
		if here {
			list = append(list, *e)
		}
	}
	return list
}

// Remove takes plugins out of the profile, all entries of each. Removing one that is
// not there is a problem that [Profile.Validate] reports, and so does the engine.
func (p *Profile) Remove(names ...string) {
	for _, name := range names {
		if !p.has(name) {
			p.problem("remove plugin %q: the profile has none of the name", name)
		}
	}
	p.Plugins = slices.DeleteFunc(slices.Clone(p.Plugins), func(e Entry) bool { return slices.Contains(names, e.Name) })
}

func (p *Profile) has(name string) bool { return p.index(name) >= 0 }

// index is the first entry with the name, -1 for none.
func (p *Profile) index(name string) int {
	return slices.IndexFunc(p.Plugins, func(e Entry) bool { return e.Name == name })
}

// problem notes one; of a change it is reported with the profile's own.
func (p *Profile) problem(format string, args ...any) {
	p.problems = append(slices.Clip(p.problems), fmt.Errorf(format, args...))
}

// Validate lists every problem that can be seen without making the plugins: changes
// that could not be made, and entries that contradict themselves or each other. The
// engine calls it, and then looks at the plugins.
func (p *Profile) Validate() error {
	seen := *p
	if v := p.PercentageOfNodesToScore; v != nil && (*v < 0 || *v > 100) {
		seen.problem("percentageOfNodesToScore: %d is not in [0, 100]", *v)
	}
	for i := range p.Plugins {
		seen.checkEntry(i)
	}
	problems := make([]error, len(seen.problems))
	for i, err := range seen.problems {
		problems[i] = fmt.Errorf("profile %q: %w", p.Name, err)
	}
	return errors.Join(problems...)
}

func (p *Profile) checkEntry(i int) {
	e := &p.Plugins[i]
	what := fmt.Sprintf("plugin %q", e.Name)
	if e.Name == "" {
		what = fmt.Sprintf("plugin %d", i)
	}
	earlier := Profile{Plugins: p.Plugins[:i]}
	makes := func(other Entry) bool { return other.Name == e.Name && other.New != nil }
	switch {
	case e.Name == "" && e.New == nil:
		p.problem("%s: has neither a name nor a function that makes it", what)
	case e.Name != "" && !slices.ContainsFunc(p.Plugins, makes):
		p.problem("%s: has no function that makes it", what)
	case e.Name != "" && e.New != nil && slices.ContainsFunc(earlier.Plugins, makes):
		p.problem("%s: is listed twice", what)
	case e.New == nil && len(e.Points) == 0:
		p.problem("%s: has an entry without New that does not say at which points", what)
	}
	if e.Weight < 0 {
		p.problem("%s: weight %d is negative", what, e.Weight)
	}
	if len(e.Points) > 0 && len(e.Except) > 0 {
		p.problem("%s: an entry has either Points or Except", what)
	}
	for _, point := range slices.Concat(e.Points, e.Except) {
		if _, known := point.contract(); !known {
			p.problem("%s: there is no point %q; the points are %v", what, point, Points())
		}
	}
	for _, point := range e.Points {
		if e.Name != "" && slices.ContainsFunc(earlier.Plugins, func(other Entry) bool {
			return other.Name == e.Name && slices.Contains(other.Points, point)
		}) {
			p.problem("%s: %s: is listed twice", what, point)
		}
	}
}
