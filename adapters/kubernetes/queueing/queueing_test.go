package queueing_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	utilerrors "k8s.io/apimachinery/pkg/util/errors"

	"github.com/berth-project/berth/adapters/kubernetes/queueing"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/model"
)

const header = "apiVersion: berth-project.github.io/v1alpha1\nkind: QueueingConfiguration\n"

// full has every field, apart from two of backfill that do not go with queues.
const full = header + `
defaultQueue: rest
queues:
- name: all
  policy: Priority
- name: research
  parent: all
  weight: 3
  priority: 2
  guaranteed: {cpu: "1.5", nvidia.com/gpu: 8, memory: 1Gi}
  max: {cpu: "4"}
  lend: {cpu: 500m}
  borrow: {memory: "0"}
  policy: FIFO
  reclaim: LowerPriority
  minRuntime: 10m
  protected: 25
- name: rest
- {name: past, policy: Usage, halfLife: 24h, prices: {cpu: 4, nvidia.com/gpu: 64}}
limits:
- {name: pods, queue: research, scope: EachNamespace, amount: 10}
- {name: gpus, namespace: team-a, scope: Subtree, resource: nvidia.com/gpu, amount: 2}
- {name: big, queue: all, scope: EachPod, resource: cpu, amount: "2"}
- {name: budget, queue: all, scope: Subtree, resource: cpu, amount: "1.5", overTime: true, halfLife: 720h}
backfill: {mode: Reservations, reservations: 3, depth: 50, pinned: true, every: 10s, overrun: 5m}
holds:
- name: maintenance
  from: "2030-01-01T00:00:00Z"
  until: "2030-01-01T02:00:00Z"
  nodes: [n1]
  nodeSelector: {rack: r1, disk: ssd}
  podSelector: {matchLabels: {team: ops}}
  flex: true
`

func load(t *testing.T, text string) *queueing.Configuration {
	t.Helper()
	c, err := queueing.Load([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestEveryField(t *testing.T) {
	c := load(t, full)
	if err := c.Validate(); err != nil {
		t.Fatal(err)
	}
	in := func(key, value string) model.Requirement {
		return model.Requirement{Key: key, Operator: model.In, Values: []string{value}}
	}
	want := []model.Object{
		&model.Queue{Name: "all", Policy: model.OrderPriority},
		&model.Queue{
			Name: "research", Parent: "all", Weight: 3, Priority: 2, Policy: model.OrderFIFO,
			Guaranteed: map[string]int64{"cpu": 1500, "nvidia.com/gpu": 8, "memory": 1 << 30},
			Max:        map[string]int64{"cpu": 4000}, Lend: map[string]int64{"cpu": 500}, Borrow: map[string]int64{"memory": 0},
			Reclaim: model.ReclaimLower, MinRuntime: 10 * time.Minute, Protected: 250_000,
		},
		&model.Queue{Name: "rest"},
		&model.Queue{Name: "past", Policy: model.OrderUsage, HalfLife: 24 * time.Hour, Prices: map[string]int64{"cpu": 4, "nvidia.com/gpu": 64}},
		&model.Limit{Name: "pods", Queue: "research", Scope: model.LimitEachPrincipal, Measure: model.LimitRunning, Amount: 10, Breach: model.LimitHold},
		&model.Limit{Name: "gpus", Principal: "team-a", Scope: model.LimitSubtree, Measure: model.LimitResource, Resource: "nvidia.com/gpu", Amount: 2, Breach: model.LimitHold},
		&model.Limit{Name: "big", Queue: "all", Scope: model.LimitEachWorkload, Measure: model.LimitResource, Resource: "cpu", Amount: 2000, Breach: model.LimitHold},
		&model.Limit{Name: "budget", Queue: "all", Scope: model.LimitSubtree, Measure: model.LimitResourceSeconds, Resource: "cpu", Amount: 5_400_000, Breach: model.LimitHold, HalfLife: 720 * time.Hour},
		&model.Hold{
			Name: "maintenance", From: time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC), Until: time.Date(2030, 1, 1, 2, 0, 0, 0, time.UTC),
			Nodes: []string{"n1"}, NodeTerms: &model.NodeTerms{Terms: []model.NodeTerm{{Labels: []model.Requirement{in("disk", "ssd"), in("rack", "r1")}}}},
			Users: model.SelectLabels(map[string]string{"team": "ops"}), Flex: true,
		},
	}
	if got := c.Objects(); text(t, got) != text(t, want) {
		t.Errorf("got\n%s\nwant\n%s", text(t, got), text(t, want))
	}
	plan := engine.Backfill{Mode: engine.Reservations, Reservations: 3, Depth: 50, Pinned: true, Every: 10 * time.Second, Overrun: 5 * time.Minute}
	if got := c.Plan(); got != plan {
		t.Errorf("the plan is %+v", got)
	}
	if got := c.Order(); got != engine.OrderByQueues {
		t.Errorf("the order is %v", got)
	}
}

// What goes by the past has a half-life, also where none is said, but for limits of each pod.
func TestDefaultHalfLife(t *testing.T) {
	c := load(t, header+`
queues: [{name: past, policy: Usage}, {name: present}]
limits:
- {name: budget, namespace: a, scope: Own, resource: cpu, amount: 1, overTime: true}
- {name: each, namespace: a, scope: EachPod, resource: cpu, amount: 1, overTime: true}
- {name: now, namespace: a, scope: Own, resource: cpu, amount: 1}
`)
	if err := c.Validate(); err != nil {
		t.Fatal(err)
	}
	want := map[string]time.Duration{"past": queueing.DefaultHalfLife, "present": 0, "budget": queueing.DefaultHalfLife, "each": 0, "now": 0}
	for _, o := range c.Objects() {
		got := reflect.ValueOf(o).Elem().FieldByName("HalfLife").Interface().(time.Duration)
		if name := model.RefOf(o).ID; got != want[name] {
			t.Errorf("%s has half-life %v", name, got)
		}
	}
}

// A limit of 0 is one that says so.
func TestLimitOfNothing(t *testing.T) {
	c := load(t, header+"queues: [{name: a}]\nlimits: [{name: l, queue: a, scope: Own, amount: 0}]")
	if err := c.Validate(); err != nil {
		t.Fatal(err)
	}
	if l, ok := c.Objects()[1].(*model.Limit); !ok || l.Amount != 0 {
		t.Errorf("got %+v", c.Objects()[1])
	}
}

func TestPlanWithoutQueues(t *testing.T) {
	c := load(t, header+"backfill: {mode: Conservative, slack: true, shortestFirst: true}")
	if err := c.Validate(); err != nil {
		t.Fatal(err)
	}
	if want, got := (engine.Backfill{Mode: engine.Conservative, Slack: true, ShortestFirst: true}), c.Plan(); got != want {
		t.Errorf("the plan is %+v", got)
	}
}

func text(t *testing.T, objects []model.Object) string {
	t.Helper()
	var b strings.Builder
	for _, o := range objects {
		if h, ok := o.(*model.Hold); ok {
			h.From, h.Until = h.From.UTC(), h.Until.UTC()
		}
		line, err := json.Marshal(o)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%T %s\n", o, line)
	}
	return b.String()
}

// The document in the README is valid.
func TestREADME(t *testing.T) {
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(readme), "---\napiVersion: "+queueing.APIVersion)
	document, _, _ := strings.Cut(rest, "```")
	c := load(t, "apiVersion: "+queueing.APIVersion+document)
	if err := c.Validate(); err != nil || len(c.Objects()) != 4 {
		t.Errorf("%d objects, %v", len(c.Objects()), err)
	}
}

// Without a document nothing is different.
func TestNone(t *testing.T) {
	var none *queueing.Configuration
	for _, c := range []*queueing.Configuration{none, load(t, header)} {
		if c.Objects() != nil || c.Order() != engine.OrderBySort || c.Plan() != (engine.Backfill{}) {
			t.Errorf("%v: %v, %v, %v", c, c.Objects(), c.Order(), c.Plan())
		}
	}
}

// engineWords are those that the document has others for, or none.
var engineWords = regexp.MustCompile(`(?i)principal|workload|node ?terms|users|measure|breach|running`)

// All that is wrong is said at once, by field, in the words of the document.
func TestInvalid(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"queues": {
			"queues: [{name: a, parent: b}, {name: b, parent: a}, {name: b, weight: -1, parent: none}, {parent: b, policy: Random, reclaim: Always, minRuntime: -1s, max: {cpu: -1, pods: 3}}]",
			[]string{
				`queues[2].name: Duplicate value: "b"`, "queues[2].weight: Invalid value", "queues[2].parent: Not found",
				"queues[3].name: Invalid value", "queues[3].policy: Invalid value", "queues[3].reclaim: Invalid value", "queues[3].minRuntime: Invalid value", `queues[3].max[cpu]: Invalid value: "-1": is less than 0`,
				`queues[3].max[pods]: Invalid value: "pods": is not a resource that the scheduler counts`,
			},
		},
		"circle": {
			"queues: [{name: a, parent: b}, {name: b, parent: c}, {name: c, parent: a}]",
			[]string{`queues[0].parent: Invalid value: "b": what is above it leads back to it`, "queues[1].parent", "queues[2].parent"},
		},
		"past": {
			"queues: [{name: a, halfLife: 1h, prices: {cpu: 1}}, {name: b, policy: Usage, halfLife: 1ms, prices: {pods: 1, cpu: -1}, protected: -1}, {name: c, protected: 101}]",
			[]string{
				"queues[0].halfLife: Invalid value: must be 0 where policy is not Usage", "queues[0].prices: Invalid value: must be empty where policy is not Usage",
				"queues[1].halfLife: Invalid value: 1ms is not between", `queues[1].prices[pods]: Invalid value: "pods": is not a resource that the scheduler counts`,
				"queues[1].prices: Invalid value: -1", "queues[1].protected: Invalid value: -1: must be from 0 to 100 percent", "queues[2].protected: Invalid value: 101",
			},
		},
		"limits over time": {
			"queues: [{name: a}]\nlimits: [{name: l, queue: a, scope: Own, amount: 1, overTime: true}, {name: m, queue: a, scope: Own, resource: memory, amount: 2Pi, overTime: true}, {name: n, queue: a, scope: EachPod, resource: cpu, amount: 1, overTime: true, halfLife: 1h}, {name: o, queue: a, scope: Own, resource: cpu, amount: 1, halfLife: 1h}]",
			[]string{
				"limits[0].resource: Required value: pods are not counted over time", `limits[1].amount: Invalid value: "2Pi": is too much over time`,
				`limits[2].halfLife: Invalid value: "1h0m0s": is for overTime`, `limits[3].halfLife: Invalid value: "1h0m0s": is for overTime`,
			},
		},
		"amounts, as they are written": {
			`queues: [{name: a, guaranteed: {cpu: "100", memory: 2Gi}, max: {cpu: 1500m, memory: 1Gi}}]`,
			[]string{
				`queues[0].max[cpu]: Invalid value: "1500m": is less than guaranteed, "100"`,
				`queues[0].max[memory]: Invalid value: "1Gi": is less than guaranteed, "2Gi"`,
			},
		},
		"names that no label can have": {
			`queues: [{name: "a b"}, {name: "a/b"}, {name: "c d"}, {name: e, parent: "c d"}, {name: "f g"}]
defaultQueue: "f g"`,
			[]string{`queues[0].name: Invalid value: "a b": namespaces name it in a label: a valid label must be`, `queues[1].name: Invalid value: "a/b"`},
		},
		"more than the queue above may use": {
			`queues: [{name: a, max: {cpu: "4"}}, {name: b, parent: a}, {name: c, parent: b, guaranteed: {cpu: 4500m, memory: 1Gi}}, {name: d, parent: a, guaranteed: {cpu: "4"}}]`,
			[]string{`queues[2].guaranteed[cpu]: Invalid value: "4500m": is more than the max of queue "a" above it, "4"`},
		},
		"bytes of what is not bytes": {
			"queues: [{name: a, max: {cpu: 8Gi}}]\nlimits: [{name: l, queue: a, scope: Own, amount: 50Gi}, {name: m, queue: a, scope: Own, resource: cpu, amount: 1Ki}]",
			[]string{
				`queues[0].max[cpu]: Invalid value: "8Gi": is not a number of cores`, `limits[0].amount: Invalid value: "50Gi": is not a number of pods`,
				`limits[1].amount: Invalid value: "1Ki": is not a number of cores`,
			},
		},
		"reservations of another mode": {"backfill: {mode: EASY, reservations: 2}", []string{"backfill.reservations: Invalid value: 2: is for mode Reservations"}},
		"flex for nobody":              {"holds: [{name: h, nodes: [n], flex: true}]", []string{"holds[0].flex: Invalid value: true: is for the pods of podSelector, and there is none"}},
		"default":                      {"queues: [{name: a}]\ndefaultQueue: b", []string{`defaultQueue: Not found: "b"`}},
		"limits without queues": {
			"limits: [{name: l, namespace: a, scope: Own, amount: 1}]",
			[]string{"queues: Required value: limits need a queue; to keep the order of pods by priority, add queues: [{name: all, policy: Priority}] and defaultQueue: all"},
		},
		"limits": {
			"queues: [{name: a}]\nlimits: [{name: l, scope: Own, amount: 1}, {name: l, queue: b, scope: All, amount: 1}, {name: m, queue: a, scope: EachPod, amount: 1}, {name: n, queue: a, scope: Own, amount: 500m}, {name: o, namespace: x, scope: EachNamespace, amount: 1}, {name: p, queue: a, scope: Own}, {name: q, queue: a, namespace: x, scope: Own, resource: cpu, amount: -1}]",
			[]string{
				`limits[0].queue: Required value: a limit is that of a queue or of a namespace`, "limits[1].name: Duplicate", "limits[1].queue: Not found",
				`limits[1].scope: Unsupported value: "All": supported values: "EachNamespace", "EachPod", "Own", "Subtree"`,
				"limits[2].resource: Required value", `limits[3].amount: Invalid value: "500m": is not a number of pods`, `limits[4].scope: Invalid value: "EachNamespace": is for the limit of a queue`,
				"limits[5].amount: Required value: the most that is allowed; 0 allows nothing",
				`limits[6].namespace: Invalid value: "x": must be empty where queue is not`, `limits[6].amount: Invalid value: "-1": is less than 0`,
			},
		},
		"backfill": {
			"backfill: {mode: Reservations, depth: -1, every: -1s, overrun: -1s}",
			[]string{"backfill.reservations", "backfill.depth", "backfill.every", "backfill.overrun"},
		},
		"slack, pinned":               {"backfill: {mode: Conservative, slack: true, pinned: true}", []string{"backfill.slack"}},
		"shortest first, with queues": {"queues: [{name: q}]\nbackfill: {mode: EASY, shortestFirst: true}", []string{"backfill.shortestFirst: Invalid value: true: does not go with queues"}},
		"slack, with queues":          {"queues: [{name: q}]\nbackfill: {mode: Conservative, slack: true}", []string{"backfill.slack"}},
		"mode":                        {"backfill: {mode: easy}", []string{`backfill.mode: Unsupported value: "easy": supported values: "Conservative", "EASY", "InOrder", "Reservations"`}},
		"holds": {
			"holds: [{name: h, nodeSelector: {}}, {name: h, nodes: [n], from: \"2030-01-02T00:00:00Z\", until: \"2030-01-01T00:00:00Z\"}, {name: i, nodes: [n], podSelector: {matchExpressions: [{key: k, operator: Near}]}}]",
			[]string{"holds[0].nodes: Required value: a hold is of nodes, by name or by nodeSelector", "holds[1].name: Duplicate", "holds[1].until", `"Near" is not an operator of a label selector`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			err := load(t, header+c.text).Validate()
			if err == nil {
				t.Fatal("it is valid")
			}
			if word := engineWords.FindString(err.Error()); word != "" {
				t.Errorf("%q is not a word of the document:\n%v", word, err)
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q is not in\n%s", want, strings.ReplaceAll(err.Error(), ", ", "\n"))
				}
			}
		})
	}
}

func TestUnreadable(t *testing.T) {
	for text, want := range map[string]string{
		"kind: Other\napiVersion: v1":         "Other of v1: not a QueueingConfiguration of berth-project.github.io/v1alpha1",
		header + "queues: []\nqueues:":        `line 4: key "queues" already set in map`,
		header + "queues: [{name: a}\nlimits": "yaml: line 3: did not find expected ',' or ']'",
	} {
		if _, err := queueing.Load([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// What cannot be decoded is said at once, with what is wrong with the rest, and without what may
// only follow from it.
func TestUndecodable(t *testing.T) {
	_, err := queueing.Load([]byte(header + `
queus: []
defaultQueue: none
queues:
- {name: a, weight: heavy, max: {cpu: lots}}
- {name: b, hold: true, minRuntime: 7d}
- c
limits:
- {name: l, queue: a, scope: Own, amountt: 3, resource: cpu}
- {name: m, queue: {a: b}, scope: Own, amount: few}
backfill: {mode: easy, depth: 1.5}
holds: [{name: h, nodes: n1, until: tomorrow}]
`))
	const want = `
queus: unknown field, not one of apiVersion, backfill, defaultQueue, elasticQuotas, holds, kind, limits, queues
queues[0].max[cpu]: "lots" is not a quantity, such as 2, 500m or 16Gi
queues[0].weight: "heavy" is not a whole number of at most 64 bits
queues[1].hold: unknown field, not one of borrow, guaranteed, halfLife, lend, max, minRuntime, name, parent, policy, prices, priority, protected, reclaim, weight
queues[1].minRuntime: "7d" is not a duration, such as 90s, 10m or 168h
queues[2]: "c" is not an object with fields
limits[0].amountt: unknown field, not one of amount, halfLife, name, namespace, overTime, queue, resource, scope
limits[0].amount: Required value: the most that is allowed; 0 allows nothing
limits[1].amount: "few" is not a quantity, such as 2, 500m or 16Gi
limits[1].queue: {"a":"b"} is not a text
backfill.depth: 1.5 is not a whole number of at most 64 bits
holds[0].nodes: "n1" is not a list
holds[0].until: "tomorrow" is not a time, such as 2030-01-31T15:04:05Z
defaultQueue: Not found: "none"
backfill.mode: Unsupported value: "easy": supported values: "Conservative", "EASY", "InOrder", "Reservations"
`
	var all utilerrors.Aggregate
	if !errors.As(err, &all) {
		t.Fatal(err)
	}
	var got []string
	for _, err := range all.Errors() {
		got = append(got, err.Error())
	}
	slices.Sort(got)
	lines := strings.Split(strings.TrimSpace(want), "\n")
	slices.Sort(lines)
	if !slices.Equal(got, lines) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(lines, "\n"))
	}
}

// Whatever is read, validating it ends, and what is valid has objects that are.
func FuzzLoad(f *testing.F) {
	f.Add(full)
	f.Add(header + "queues: [{name: a, parent: a}]")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := queueing.Load([]byte(text))
		if err != nil || c.Validate() != nil {
			return
		}
		for _, o := range c.Objects() {
			v, ok := o.(interface{ Validate() error })
			if !ok || v.Validate() != nil {
				t.Errorf("%v is not valid: %v", reflect.TypeOf(o), v.Validate())
			}
		}
	})
}

func Example() {
	c, err := queueing.Load([]byte(`
apiVersion: berth-project.github.io/v1alpha1
kind: QueueingConfiguration
queues:
- {name: research, weight: 3, guaranteed: {cpu: "100"}}
- {name: production, weight: 1, max: {cpus: "2"}}
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(c.Order())
	fmt.Println(c.Validate())
	// Output:
	// by queues
	// queues[1].max[cpus]: Invalid value: "cpus": is not a resource that the scheduler counts
}
