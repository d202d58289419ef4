package configlevel

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	utilfeature "k8s.io/apiserver/pkg/util/feature"
)

// Outcome is what happened to a file.
type Outcome struct {
	// Kube and Berth are the errors of each side, with the stage at which they came
	// up; none where it takes the file.
	Kube, Berth []string
	// Differences are those that there are, each on a line.
	Differences []string
}

// Compare takes the file all the way on both sides. Whether Berth may refuse a file
// that kube-scheduler takes is for the caller to say: that alone is no difference.
func Compare(file []byte, mistake Mistake) (o *Outcome, err error) {
	restore, err := setGates(file)
	if err != nil {
		return nil, err
	}
	defer func() {
		if e := restore(); err == nil {
			err = e
		}
	}()
	k, err := kube(file)
	if err != nil {
		return nil, fmt.Errorf("kube-scheduler: %w", err)
	}
	b, err := berth(file, mistake)
	if err != nil {
		return nil, fmt.Errorf("berth: %w", err)
	}
	o = &Outcome{Kube: k.problems(), Berth: b.problems()}
	if k.stage != b.stage && k.refused() {
		o.report("stage", k.stage, b.stage)
		return o, nil
	}
	o.compareText("loaded", k.loaded, b.loaded)
	switch k.stage {
	case loading, validating:
		o.report("errors", strings.Join(withoutValues(k.errors), "\n"), strings.Join(withoutValues(b.errors), "\n"))
	case taken:
		if !b.refused() {
			o.compareTaken(k, b)
		}
	}
	return o, nil
}

func (r *result) problems() []string {
	var list []string
	for _, text := range r.errors {
		list = append(list, r.stage+": "+text)
	}
	return list
}

// schemeName is what a library calls a scheme: by the place that made it.
var schemeName = regexp.MustCompile(`in scheme "[^"]*"`)

// unprinted are errors whose value kube-scheduler prints as Go or JSON of its own
// types: a path, a set of plugins, arguments. Here they are as in a file.
var unprinted = regexp.MustCompile(`(schedulerName: Duplicate value|plugins\.queueSort: Invalid value|pluginConfig(?:\[\d+\])?\.args: Invalid value|\.shape: Invalid value): .*?(: unexpected field.*|: must be the same for all profiles|: has to match plugin args|: queueSort must be .*|$)`)

// withoutValues are the errors without what the two sides write differently.
func withoutValues(errs []string) []string {
	var list []string
	for _, text := range errs {
		text = schemeName.ReplaceAllString(text, "in scheme")
		list = append(list, unprinted.ReplaceAllString(text, "$1$2"))
	}
	slices.Sort(list)
	return list
}

func (o *Outcome) report(what, kube, berth string) {
	if kube != berth {
		o.Differences = append(o.Differences, fmt.Sprintf("%s:\n  kube-scheduler: %s\n  berth:          %s", what, kube, berth))
	}
}

// compareText reports the first line that is not the same.
func (o *Outcome) compareText(what, kube, berth string) {
	a, b := strings.Split(kube, "\n"), strings.Split(berth, "\n")
	for i := range max(len(a), len(b)) {
		if line, other := at(a, i), at(b, i); line != other {
			o.report(fmt.Sprintf("%s, line %d", what, i+1), line, other)
			return
		}
	}
}

func at(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return "(the end)"
}

func (o *Outcome) compareTaken(k, b *result) {
	o.compareText("written", k.written, b.written)
	o.report("numbers", fmt.Sprintf("%+v", k.numbers), fmt.Sprintf("%+v", b.numbers))
	o.report("profiles", fmt.Sprint(len(k.profiles)), fmt.Sprint(len(b.profiles)))
	for i := range min(len(k.profiles), len(b.profiles)) {
		a, c := &k.profiles[i], &b.profiles[i]
		o.report("profile", fmt.Sprint(a.name, " ", a.percentage), fmt.Sprint(c.name, " ", c.percentage))
		o.report("arguments of "+a.name, fmt.Sprint(a.args), fmt.Sprint(c.args))
		names := map[string]bool{}
		for name := range a.points {
			names[name] = true
		}
		for name := range c.points {
			names[name] = true
		}
		for _, name := range slices.Sorted(maps.Keys(names)) {
			o.report(a.name+" "+name, fmt.Sprint(without(a.points[name], idle(name)...)), fmt.Sprint(without(c.points[name], ours[name]...)))
		}
	}
}

// ours are points that Berth's plugins serve and kube-scheduler's do not: what the
// latter does for each node is done once.
var ours = map[string][]string{"preScore": {"ImageLocality"}}

// idle are the plugins of kube-scheduler's that do nothing at the point.
func idle(point string) []string {
	if utilfeature.DefaultFeatureGate.Enabled("InPlacePodVerticalScalingSchedulerPreemption") {
		return nil
	}
	list := []string{"DeferredPodScheduling"}
	if point == "preFilter" {
		list = append(list, "NodeUnschedulable", "TaintToleration")
	}
	return list
}

func without(list []string, names ...string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(name string) bool { return slices.Contains(names, name) })
}
