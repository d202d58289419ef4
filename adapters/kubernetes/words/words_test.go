package words

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// example is a phrase with something for each name in it.
func example(phrase string) string {
	given := 0
	return verb.ReplaceAllStringFunc(phrase, func(v string) string {
		given++
		return map[string]string{"%q": `"a \"name\" of workloads"`, "%s": fmt.Sprintf("ns/claim-%d", given), "%d": fmt.Sprint(-given)}[v]
	})
}

// rendered is what a row makes of the example of its phrase.
func (r row) rendered() string {
	named := verb.FindAllString(r.neutral, -1)
	if strings.Contains(r.kube, "%[1]s") {
		return strings.ReplaceAll(r.kube, "%[1]s", "ns/claim-1")
	}
	if !slices.Equal(named, verb.FindAllString(r.kube, -1)) {
		return fmt.Sprintf("%q and %q do not name the same", r.neutral, r.kube)
	}
	return example(r.kube)
}

// Each row is rendered: by itself, in each place where a message has one, and from an
// error.
func TestTable(t *testing.T) {
	for _, r := range table {
		ours, theirs := example(r.neutral), r.rendered()
		for _, around := range []string{"%s", "binding rejected: %s", "Filter, %s", "[%s]", "first\n%s", "0/1 nodes are available: %s. preemption: x"} {
			if got, want := Text(fmt.Sprintf(around, ours)), fmt.Sprintf(around, theirs); got != want {
				t.Errorf("%q becomes %q, want %q", fmt.Sprintf(around, ours), got, want)
			}
		}
		if got := Text(theirs); got != theirs {
			t.Errorf("%q, of kube-scheduler, becomes %q", theirs, got)
		}
	}
}

// No phrase has two renderings, and no two have the same: what is counted apart stays
// apart.
func TestNothingTwice(t *testing.T) {
	ours, theirs := map[string]bool{}, map[string]bool{}
	for _, r := range table {
		if ours[r.neutral] || theirs[r.kube] || ours[r.kube] || theirs[r.neutral] {
			t.Errorf("one side of %q occurs twice", r)
		}
		ours[r.neutral], theirs[r.kube] = true, true
	}
}

func TestText(t *testing.T) {
	for _, c := range []struct{ name, neutral, kube string }{
		{"nothing", "", ""},
		{"the same in both", "0/2 nodes are available: 2 Insufficient cpu.", "0/2 nodes are available: 2 Insufficient cpu."},
		{
			"counts and preemption",
			"0/3 nodes are available: 1 Insufficient cpu, 1 Too many workloads, 3 Insufficient memory. " +
				"preemption: 0/3 nodes are available: 2 No preemption victims found for incoming workload, 1 Preemption is not helpful for scheduling.",
			"0/3 nodes are available: 1 Insufficient cpu, 1 Too many pods, 3 Insufficient memory. " +
				"preemption: 0/3 nodes are available: 2 No preemption victims found for incoming pod, 1 Preemption is not helpful for scheduling.",
		},
		{
			"counts that sort in another way",
			"0/4 nodes are available: 1 node(s) didn't match the requested node name, 1 node(s) didn't match workload affinity rules, " +
				"1 node(s) didn't match workload's node affinity/selector, 10 device claim not available on the node.",
			"0/4 nodes are available: 1 node(s) didn't match Pod's node affinity/selector, 1 node(s) didn't match pod affinity rules, " +
				"1 node(s) didn't match the requested node name, 10 resourceclaim not available on the node.",
		},
		{
			"with what is said behind it",
			"0/4 nodes are available: 4 node(s) didn't match workload topology spread constraints (missing required label).",
			"0/4 nodes are available: 4 node(s) didn't match pod topology spread constraints (missing required label).",
		},
		{
			"a group in a tree",
			"group is unschedulable, group is unschedulable, 0/1 placements are available, first placement status: " +
				"minCount (2) cannot be satisfied: 1 scheduled, 0 remaining, group preemption: No preemption victims found for incoming preemptor",
			"pod group is unschedulable, pod group is unschedulable, 0/1 placements are available, first placement status: " +
				"minCount (2) cannot be satisfied: 1 scheduled, 0 remaining, pod group preemption: No preemption victims found for incoming preemptor",
		},
		{
			"errors in errors",
			`failed to schedule other workload from a group: preemption: [expected at least one victim on node "a", expected at least one victim on node "b"]`,
			`failed to schedule other pod from a pod group: preemption: [expected at least one victim pod on node "a", expected at least one victim pod on node "b"]`,
		},
		{
			"a phrase within the name of another",
			`looking up volume claim ns/data: volume claim "data" not found`, `looking up PVC ns/data: persistentvolumeclaim "data" not found`,
		},
		{
			"the longer of two", "all workloads in a single group should have the same preemption policy as the group's preemption policy, got Never and Lower",
			"all pods in a single pod group should have the same preemption policy as the pod group's preemption policy, got Never and Lower",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := Text(c.neutral); got != c.kube {
				t.Errorf("got  %q\nwant %q", got, c.kube)
			}
		})
	}
}

// Names, and what plugins of users say, stay as they are, also where the engine's words
// are in them.
func TestHostileNames(t *testing.T) {
	const (
		phrase = "Too many workloads"
		quoted = `volume claim "Too many workloads, group is unschedulable" not found`
	)
	for neutral, kube := range map[string]string{
		`could not find device claim "workload"`:                            `could not find ResourceClaim "workload"`,
		`device claim group is not in the same namespace as workload claim`: `ResourceClaim group is not in the same namespace as Pod claim`,
		quoted: strings.Replace(quoted, "volume claim", "persistentvolumeclaim", 1),
		`node "x: ` + phrase + `, 1 ` + phrase + `" is gone`:                                "",
		`extender "http://workload: group preemption: x" chooses node "workload"`:           "",
		"a workload of the group has no claim":                                              "",
		phrase + " of one tenant":                                                           "",
		"0/1 nodes are available: 1 " + phrase + " of tenant a.":                            "",
		"0/3 nodes are available: 1 the node is closed. Ask again, 2 not this one.":         "",
		"0/3 nodes are available: 2 b, 1 a.":                                                "",
		`an inch is 1", ` + phrase:                                                          `an inch is 1", Too many pods`,
		"the device claim in use is not ours":                                               "",
		"waiting on permit for workloads":                                                   "",
		"0/2 nodes are available: 1 Insufficient workload.io/pod, 1 Insufficient pod.io/x.": "",
		`volume "data" not found`:                                                           "",
		"100% of %q and %s are " + phrase:                                                   "",
	} {
		if kube == "" {
			kube = neutral
		}
		if got := Text(neutral); got != kube {
			t.Errorf("%q becomes %q, want %q", neutral, got, kube)
		}
	}
}

func TestError(t *testing.T) {
	cause := errors.New("no nodes available to schedule workloads")
	err := Error(fmt.Errorf("attempt 1: %w", cause))
	if got, want := err.Error(), "attempt 1: no nodes available to schedule pods"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if !errors.Is(err, cause) {
		t.Error("it does not wrap what it renders")
	}
	if err := Error(nil); err != nil {
		t.Errorf("nil becomes %v", err)
	}
}

// FuzzText: whatever is said, rendering ends, and what has nothing of the table is left
// alone.
func FuzzText(f *testing.F) {
	for _, r := range table {
		f.Add(example(r.neutral))
		f.Add("0/2 nodes are available: 1 " + r.neutral + ", 1 " + r.kube + ".")
	}
	f.Fuzz(func(t *testing.T, text string) {
		if slices.ContainsFunc(phrases, func(p phrase) bool { return p.begins != "" && strings.Contains(text, p.begins) }) {
			Text(text)
			return
		}
		if got := Text(text); got != text {
			t.Errorf("%q becomes %q", text, got)
		}
	})
}

// A message of a common kind.
func BenchmarkText(b *testing.B) {
	const text = "0/5000 nodes are available: 12 node(s) didn't match workload's node affinity/selector, 4988 Insufficient cpu. preemption: " +
		"0/5000 nodes are available: 12 Preemption is not helpful for scheduling, 4988 No preemption victims found for incoming workload."
	for b.Loop() {
		Text(text)
	}
}
