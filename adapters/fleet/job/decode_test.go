package job

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParse(t *testing.T) {
	const file = `
name: train
command: [python, train.py, 10, true]
env: {PORT: 8080, DEBUG: yes, FLOAT: 1e3}
labels:
  team: physics
resources:
  cpu: 1.5
  memory: 4Gi
  gpus: {count: 2, models: [a100]}
  other: {licence: 1}
array: 0-99:2%10
preferences:
- label: zone
  values: [a]
  weight: 10
begin: 2026-01-31T18:00:00+01:00
after:
- {kind: afterok, job: 17}
timeLimit: 1h30m
warn: {before: 60}
killGrace: 0
retry: {limit: 3, on: ["exit:75"], backoff: 5s}
hold: true
`
	specs, err := Parse(strings.NewReader(file))
	require.NoError(t, err)
	require.Len(t, specs, 1)
	s := specs[0]
	assert.Equal(t, []string{"python", "train.py", "10", "true"}, s.Command)
	assert.Equal(t, map[string]string{"PORT": "8080", "DEBUG": "yes", "FLOAT": "1e3"}, s.Env)
	assert.Equal(t, map[string]string{"team": "physics"}, s.Labels)
	assert.Equal(t, MilliCPU(1500), s.Resources.CPU)
	assert.Equal(t, Bytes(4<<30), s.Resources.Memory)
	assert.Equal(t, &GPUs{Count: 2, Models: []string{"a100"}}, s.Resources.GPUs)
	assert.Equal(t, map[string]int64{"licence": 1}, s.Resources.Other)
	assert.Equal(t, "0-98:2%10", s.Array.String())
	assert.Equal(t, []Preference{{Constraint: Constraint{Label: "zone", Values: []string{"a"}}, Weight: 10}}, s.Preferences)
	assert.True(t, s.Begin.Equal(time.Date(2026, 1, 31, 17, 0, 0, 0, time.UTC)))
	assert.Equal(t, []Dependency{{Kind: AfterOK, Job: "17"}}, s.After)
	assert.Equal(t, Duration(90*time.Minute), s.TimeLimit)
	assert.Equal(t, &Warning{Before: Duration(time.Minute)}, s.Warn)
	assert.Equal(t, Duration(0), *s.KillGrace)
	assert.Equal(t, Duration(5*time.Second), *s.Retry.Backoff)
	assert.True(t, s.Hold)
	assert.NoError(t, Check(specs))
}

// A zero that would stand for the default is refused: it is not what was meant.
func TestParseZeros(t *testing.T) {
	for file, want := range map[string]string{
		"resources: {cpu: 0}":             "line 2: jobs[0].resources.cpu: must be above 0; without the field it is 1",
		"resources: {cpu: 0m}":            "line 2: jobs[0].resources.cpu: must be above 0; without the field it is 1",
		"tasks: 0":                        "line 2: jobs[0].tasks: must be above 0; without the field it is 1",
		"resources: {gpus: {count: 0}}":   "line 2: jobs[0].resources.gpus.count: must be above 0; without the field it is 1",
		"resources: {cpu: x}":             `line 2: jobs[0].resources.cpu: "x" is no amount of CPU`,
		"resources: {cpu: null}":          "",
		"resources: {memory: 0}":          "",
		"resources: {other: {tape: 0}}":   "",
		"retry: {limit: 0}\nkillGrace: 0": "",
	} {
		_, err := Parse(strings.NewReader("command: [x]\n" + file))
		if want == "" {
			assert.NoError(t, err, file)
			continue
		}
		assert.ErrorContains(t, err, want, file)
	}
}

func TestParseSeveral(t *testing.T) {
	for name, file := range map[string]string{
		"list":      "jobs:\n- {name: a, command: [\"true\"]}\n- {name: b, command: [\"true\"]}\n",
		"documents": "name: a\ncommand: [\"true\"]\n---\n---\nname: b\ncommand: [\"true\"]\n",
		"json":      "{\"jobs\": [\n\t{\"name\": \"a\", \"command\": [\"true\"]},\n\t{\"name\": \"b\", \"command\": [\"true\"]}]}",
	} {
		specs, err := Parse(strings.NewReader(file))
		require.NoError(t, err, name)
		require.Len(t, specs, 2, name)
		assert.Equal(t, "a", specs[0].Name, name)
		assert.Equal(t, "b", specs[1].Name, name)
	}
}

// JSON has escapes, tabs and numbers that YAML reads in other ways.
func TestParseJSON(t *testing.T) {
	specs, err := Parse(strings.NewReader("{\t\"name\":\t\"\\ud83d\\ude00 \\/\", \"command\": [\"a\", 1.50],\n \"resources\": {\"memory\": 1024}, \"hold\": false, \"user\": null}"))
	require.NoError(t, err)
	assert.Equal(t, "😀 /", specs[0].Name)
	assert.Equal(t, []string{"a", "1.50"}, specs[0].Command)
	assert.Equal(t, Bytes(1024), specs[0].Resources.Memory)
}

func TestParseProblems(t *testing.T) {
	for _, c := range []struct {
		name, file string
		want       []string
	}{
		{"all at once", "nmae: x\ncommand: sleep 10\ntimeLimit: 10x\nresources:\n  cpus: 2\n  memory: [1]\n", []string{
			`line 1: jobs[0].nmae: there is no such field`,
			`line 2: jobs[0].command: must be a list, such as ["a", "b"], it is "sleep 10"`,
			`line 3: jobs[0].timeLimit: "10x" is no duration: "x" is no unit, or not smaller than the one before; ` + durationHint,
			`line 5: jobs[0].resources.cpus: there is no such field`,
			`line 6: jobs[0].resources.memory: must be a text or a number, it is a list`,
		}},
		{"json has lines, too", "{\n\"name\": \"a\",\n\"hold\":\n 1, \"tasks\": 1.5}", []string{
			`line 4: jobs[0].hold: "1" is neither true nor false`,
			`line 4: jobs[0].tasks: "1.5" is no whole number, or too large`,
		}},
		{"what is meant", "time_limit: 1h\n", []string{`line 1: jobs[0].time_limit: there is no such field, "timeLimit" is meant`}},
		{"twice", "name: a\nname: b\n", []string{`line 2: jobs[0].name: is there twice`}},
		{"aliases", "name: &a x\nuser: *a\n", []string{
			`line 1: jobs[0].name: anchors and aliases are not read, write the value itself`,
			`line 2: jobs[0].user: anchors and aliases are not read, write the value itself`,
		}},
		{"array as a count", "array: 5\n", []string{`line 1: jobs[0].array: the number 5 alone may be an index or a count: write the indices as a string, "0-5" or "5"`}},
		{"too large", "tasks: 99999999999\n", []string{`line 1: jobs[0].tasks: "99999999999" is no whole number, or too large`}},
		{"time", "begin: tomorrow\n", []string{`line 1: jobs[0].begin: must be a time with its zone, such as "2026-01-31T18:00:00+01:00"`}},
		{"kinds", "name: {a: b}\nresources: 5\nenv: []\n? [x]\n: y\n", []string{
			`line 1: jobs[0].name: must be one value, it is fields with values`,
			`line 2: jobs[0].resources: must be fields with values, it is "5"`,
			`line 3: jobs[0].env: must be fields with values, it is a list`,
			`line 4: jobs[0]: the name of a field must be a text`,
		}},
		{"beside jobs", "jobs: []\nname: x\n", []string{`line 2: name: nothing may stand beside "jobs"`}},
		{"no list", "jobs: 1\n", []string{`line 1: jobs: must be a list`}},
		{"nothing", "# only a comment\n", []string{`jobs: there are none in the file`}},
		{"second job", "jobs:\n- name: a\n- hold: maybe\n", []string{`line 3: jobs[1].hold: "maybe" is neither true nor false`}},
	} {
		_, err := Parse(strings.NewReader(c.file))
		var invalid *ValidationError
		require.ErrorAs(t, err, &invalid, c.name)
		assert.ErrorIs(t, err, ErrInvalid)
		var got []string
		for _, p := range invalid.Problems {
			got = append(got, p.String())
		}
		assert.Equal(t, c.want, got, c.name)
	}
}

// What is wrong with values is told together with what could not be read, which is not told twice.
func TestParseAndCheck(t *testing.T) {
	const file = "jobs:\n- command: [x]\n  nmae: a\n  tasks: -1\n  priority: high\n  resources: {cpu: 1, memory: lots, gpus: {count: -2}}\n" +
		"  after: [{kind: later, job: 12}, {kind: [x], job: x}]\n- command: {x: y}\n  output: out\n"
	specs, read := Parse(strings.NewReader(file))
	var invalid *ValidationError
	require.ErrorAs(t, CheckRead(specs, read), &invalid)
	var got []string
	for _, p := range invalid.Problems {
		got = append(got, p.String())
	}
	assert.Equal(t, []string{
		`line 3: jobs[0].nmae: there is no such field`,
		`line 5: jobs[0].priority: "high" is no whole number, or too large`,
		`line 6: jobs[0].resources.memory: "lots" is no amount of bytes: ` + byteHint,
		`line 7: jobs[0].after[1].kind: must be one value, it is a list`,
		`line 8: jobs[1].command: must be a list, such as ["a", "b"], it is fields with values`,
		`jobs[0].resources.gpus.count: -2 is not between 0 and 1024`,
		`jobs[0].tasks: -1 is not between 0 and 10000`,
		`jobs[0].after[0].kind: "later" is not one of afterok, afternotok, afterany, aftercorr, after`,
		`jobs[0].after[1].job: "x" is neither the number of a job nor "@" and a name`,
		`jobs[1].output: "out" would be in the task's own folder, which is removed with the task: write a path that begins with "/", or a working directory (dir)`,
	}, got)

	specs, read = Parse(strings.NewReader("name: a\nhold: maybe\ncommand: [x]\n"))
	assert.Equal(t, read, CheckRead(specs, read), "nothing else is wrong")
	specs, read = Parse(strings.NewReader("{"))
	assert.Equal(t, read, CheckRead(specs, read), "there is nothing to check")
	assert.NoError(t, CheckRead([]Spec{{Command: []string{"x"}}}, nil))
	assert.ErrorIs(t, CheckRead([]Spec{{}}, nil), ErrInvalid)
}

func TestParseLimits(t *testing.T) {
	_, err := Parse(io.LimitReader(endless{}, MaxFileSize+10))
	assert.ErrorIs(t, err, ErrTooLarge)

	_, err = Parse(strings.NewReader("jobs:\n" + strings.Repeat("- {}\n", MaxJobs+1)))
	assert.ErrorContains(t, err, "there are more than 1000")

	_, err = Parse(strings.NewReader(strings.Repeat(`{"a":`, 50_000)))
	assert.ErrorIs(t, err, ErrInvalid, "deep nesting")

	_, err = Parse(strings.NewReader("name: [\n"))
	assert.ErrorIs(t, err, ErrInvalid)

	broken := errors.New("broken pipe")
	_, err = Parse(iotest.ErrReader(broken))
	assert.ErrorIs(t, err, broken)

	_, err = Parse(strings.NewReader(strings.Repeat("- x\n", 3*maxProblems)))
	var invalid *ValidationError
	require.ErrorAs(t, err, &invalid)
	assert.LessOrEqual(t, len(invalid.Problems), maxProblems)
}

// endless is a file of spaces.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

func ExampleParse() {
	specs, err := Parse(strings.NewReader(`
jobs:
- name: prepare
  command: [./prepare, --all]
- name: run
  script: |
    #!/bin/sh
    ./run "$BERTH_ELEMENT"
  array: 0-99%10
  resources: {cpu: 4, memory: 8Gi}
  timeLimit: 2h
  after: [{kind: afterok, job: "@prepare"}]
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(len(specs), specs[1].Array, specs[1].Resources.Memory, Check(specs))

	_, err = Parse(strings.NewReader("command: [sleep, 10]\ntimelimit: 1h\n"))
	fmt.Println(err)
	// Output:
	// 2 0-99%10 8Gi <nil>
	// invalid job: line 2: jobs[0].timelimit: there is no such field, "timeLimit" is meant
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("name: a\ncommand: [sleep, 10]\nresources: {cpu: 500m}\n"))
	f.Add([]byte("jobs:\n- {script: '#!/bin/sh', array: 0-9%2}\n- after: [{kind: afterok, job: '@a'}]\n"))
	f.Add([]byte(`{"jobs": [{"name": "a", "env": {"A": "1"}, "retry": {"limit": 1}}]}`))
	f.Add([]byte("a: &a [*a]\n---\n<<: {b: c}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		specs, err := Parse(strings.NewReader(string(data)))
		if err != nil {
			require.True(t, errors.Is(err, ErrInvalid) || errors.Is(err, ErrTooLarge), err)
			return
		}
		if Check(specs) != nil {
			return
		}
		checkWritten(t, specs)
	})
}
