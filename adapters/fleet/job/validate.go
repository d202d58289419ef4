package job

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"
)

// Limits of a Spec. Sizes are in bytes.
const (
	MaxScript     = 256 << 10
	MaxArguments  = 4096      // of a command or a script
	MaxArgument   = 128 << 10 // what Linux takes
	MaxCommand    = 256 << 10 // all arguments together
	MaxVariables  = 1000
	MaxVariable   = 128 << 10 // name and value
	MaxEnv        = 256 << 10 // all variables together
	MaxPath       = 4096 - 1
	MaxLabels     = 64
	MaxTasks      = 10_000
	MaxGPUs       = 1024
	MaxNodeNames  = 10_000
	MaxConditions = 64 // constraints, preferences, affinities and spreads, of each
	MaxValues     = 1000
	MaxAfter      = 1000
	MaxRetries    = 1000
)

// maxFirstLine is what Linux reads of the first line of a script, in bytes.
const maxFirstLine = 255

// The largest amounts, which leave room for sums over all tasks of a job.
const (
	maxCPU      = MilliCPU(1_000_000 * 1000)
	maxBytes    = Bytes(1 << 49)
	maxOther    = int64(1_000_000_000_000)
	maxTime     = Duration(3650 * day)
	maxKillTime = Duration(day)
)

// Validate returns all that is wrong with the job by itself as a *ValidationError
// whose fields are those of the job ("retry.on[0]"); nil where it is valid. It
// does not look at other jobs: see Check.
func (s *Spec) Validate() error {
	var c checker
	s.validate(&c)
	return c.err()
}

// validate goes through the fields in their order.
func (s *Spec) validate(c *checker) {
	c.text("name", s.Name, MaxName)
	if strings.HasPrefix(s.Name, "@") || strings.TrimSpace(s.Name) != s.Name {
		c.report("name", `%s may not begin with "@", nor begin or end with a space`, quote(s.Name))
	}
	if s.Queue != "" {
		c.name("queue", s.Queue)
	}
	c.labels("labels", s.Labels)
	s.validateProgram(c)
	s.validateResources(c)
	s.validateTasks(c)
	s.validatePlace(c)
	s.validateTimes(c)
	s.validateRetry(c)
}

// validateProgram looks at what is run.
func (s *Spec) validateProgram(c *checker) {
	switch {
	case len(s.Command) == 0 && s.Script == "":
		c.report("command", "there is neither a command nor a script")
	case len(s.Command) > 0 && s.Script != "":
		c.report("script", "there is a command, too; only one of them can be run")
	case strings.HasPrefix(s.Script, "\uFEFF#!"):
		c.report("script", `begins with a byte order mark, which cannot be seen, in front of "#!": save it as UTF-8 without one`)
	case s.Script != "" && !strings.HasPrefix(s.Script, "#!"):
		c.report("script", `must begin with "#!" and its interpreter, such as "#!/bin/sh"`)
	}
	switch first, _, _ := strings.Cut(s.Script, "\n"); {
	case len(first) > maxFirstLine:
		c.report("script", "its first line has %d bytes, and Linux reads %d", len(first), maxFirstLine)
	case strings.HasPrefix(first, "#!") && strings.HasSuffix(first, "\r"):
		c.report("script", "its lines end in CR LF, as Windows writes them, and Linux takes the CR for a part of the interpreter's name: convert it, for example with dos2unix")
	}
	if len(s.Command) > 0 && s.Command[0] == "" {
		c.report("command[0]", "must not be empty")
	}
	c.arguments("command", s.Command)
	c.raw("script", s.Script, MaxScript)
	c.arguments("args", s.Args)
	if len(s.Args) > 0 && s.Script == "" {
		c.report("args", "are those of a script; those of a command stand in it")
	}
	c.env("env", s.Env)
	_, err := ParseUmask(s.Umask)
	c.check("umask", err)
	if s.Dir != OwnDir {
		c.folder("dir", s.Dir)
	}
	c.folder("submitDir", s.SubmitDir)
	c.text("submitHost", s.SubmitHost, 256)
	if s.User != "" {
		c.name("user", s.User)
		if strings.Trim(s.User, "0123456789") == "" {
			c.report("user", "%s is a number, write the account's name", quote(s.User))
		}
	}
	s.validateOutput(c, "output", s.Output)
	if s.Error != s.Output { // which has been looked at
		s.validateOutput(c, "error", s.Error)
	}
	if s.OpenMode != "" {
		oneOf(c, "openMode", s.OpenMode, []OpenMode{OpenTruncate, OpenAppend})
	}
}

// validateOutput looks at a file that output goes to. One in the task's own folder
// would be removed with it, and its user would look for it in vain.
func (s *Spec) validateOutput(c *checker, field, pattern string) {
	if pattern == "" {
		return
	}
	c.raw(field, pattern, MaxPath)
	if strings.HasSuffix(pattern, "/") {
		c.report(field, "%s is a folder: write the name of a file after it", quote(pattern))
	}
	name := s.Name
	if name == "" {
		name = s.defaultName()
	}
	_, err := ExpandPath(pattern, TaskID{}, PathNames{Node: "node", User: "user", Job: name})
	c.check(field, err)
	if !path.IsAbs(pattern) && (s.Dir == "" || s.Dir == OwnDir) {
		c.report(field, `%s would be in the task's own folder, which is removed with the task: write a path that begins with "/", or a working directory (dir)`,
			quote(pattern))
	}
}

// arguments looks at those of a program.
func (c *checker) arguments(field string, args []string) {
	if !c.atMost(field, len(args), MaxArguments, "arguments") {
		return
	}
	sum := 0
	for i, a := range args {
		c.raw(fmt.Sprintf("%s[%d]", field, i), a, MaxArgument)
		sum += len(a) + 1
	}
	c.atMost(field, sum, MaxCommand, "bytes")
}

// env looks at variables.
func (c *checker) env(field string, env map[string]string) {
	if !c.atMost(field, len(env), MaxVariables, "variables") {
		return
	}
	sum := 0
	for _, name := range slices.Sorted(maps.Keys(env)) {
		sum += len(name) + len(env[name]) + 2
		at := cut(join(field, name))
		c.check(at, CheckVariable(name))
		c.raw(at, env[name], MaxVariable-len(name))
	}
	c.atMost(field, sum, MaxEnv, "bytes")
}

// path looks at a path on a node.
func (c *checker) path(field, p string) {
	c.raw(field, p, MaxPath)
	if slices.Contains(strings.Split(p, "/"), "..") {
		c.report(field, `%s has ".." in it, write where it leads to`, quote(p))
	}
}

// folder looks at an absolute path, where there is one.
func (c *checker) folder(field, p string) {
	c.path(field, p)
	if p != "" && !path.IsAbs(p) {
		c.report(field, `%s does not begin with "/"`, quote(p))
	}
}

// labels looks at labels.
func (c *checker) labels(field string, labels map[string]string) {
	if !c.atMost(field, len(labels), MaxLabels, "labels") {
		return
	}
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		c.check(field, CheckLabel(key, labels[key]))
	}
}

// validateResources looks at what each task gets.
func (s *Spec) validateResources(c *checker) {
	r := &s.Resources
	between(c, "resources.cpu", r.CPU, 0, maxCPU)
	between(c, "resources.memory", r.Memory, 0, maxBytes)
	between(c, "resources.disk", r.Disk, 0, maxBytes)
	if g := r.GPUs; g != nil {
		between(c, "resources.gpus.count", g.Count, 0, MaxGPUs)
		between(c, "resources.gpus.share", g.Share, 0, 1000)
		if g.Share%1000 != 0 && g.Count > 1 {
			c.report("resources.gpus.count", "%d devices cannot be had with a share of one", g.Count)
		}
		c.words("resources.gpus.models", g.Models)
	}
	c.atMost("resources.other", len(r.Other), MaxConditions, "resources")
	for _, name := range slices.Sorted(maps.Keys(r.Other)) {
		field := cut("resources.other." + name)
		c.name(field, name)
		between(c, field, r.Other[name], 1, maxOther)
	}
}

// words looks at a list of texts, none of them empty.
func (c *checker) words(field string, words []string) {
	c.atMost(field, len(words), MaxValues, "values")
	for i, w := range words {
		at := fmt.Sprintf("%s[%d]", field, i)
		if w == "" {
			c.report(at, "must not be empty")
		}
		c.text(at, w, 256)
	}
}

// validateTasks looks at gangs and arrays. An Array that was read is right.
func (s *Spec) validateTasks(c *checker) {
	between(c, "tasks", s.Tasks, 0, MaxTasks)
	if s.SameLabel != "" {
		c.check("sameLabel", CheckLabel(s.SameLabel, ""))
	}
	between(c, "array", s.Array.Limit, 0, MaxIndex)
}

// validateTimes looks at priority, times and dependencies.
func (s *Spec) validateTimes(c *checker) {
	between(c, "priority", s.Priority, MinPriority, MaxPriority)
	c.year("begin", s.Begin)
	c.year("deadline", s.Deadline)
	if !s.Begin.IsZero() && !s.Deadline.IsZero() && !s.Deadline.After(s.Begin) {
		c.report("deadline", "is not after begin")
	}
	c.atMost("after", len(s.After), MaxAfter, "dependencies")
	for i, a := range s.After {
		at := fmt.Sprintf("after[%d]", i)
		oneOf(c, at+".kind", a.Kind, []DependencyKind{AfterOK, AfterNotOK, AfterAny, AfterCorr, AfterStart})
		_, number := a.ID()
		_, name := a.Name()
		if !number && !name {
			c.report(at+".job", `%s is neither the number of a job nor "@" and a name`, quote(a.Job))
		}
	}
	between(c, "timeLimit", s.TimeLimit, 0, maxTime)
	if w := s.Warn; w != nil {
		if w.Signal != "" {
			c.check("warn.signal", checkCatchable(w.Signal))
		}
		between(c, "warn.before", w.Before, 1, maxTime)
		if s.TimeLimit > 0 && w.Before >= s.TimeLimit {
			c.report("warn.before", "%s is not shorter than the time limit, %s", w.Before, s.TimeLimit)
		}
	}
	if s.KillGrace != nil {
		between(c, "killGrace", *s.KillGrace, 0, maxKillTime)
	}
}

// year reports a time that could not be written down.
func (c *checker) year(field string, t time.Time) {
	if y := t.UTC().Year(); !t.IsZero() && (y < 1970 || y >= 9999) {
		c.report(field, "the year %d is not between 1970 and 9998", y)
	}
}
