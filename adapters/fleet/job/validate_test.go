package job

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// checkWritten writes valid jobs, with and without their defaults, reads them
// again, and finds them as they were.
func checkWritten(t *testing.T, specs []Spec) {
	t.Helper()
	for _, s := range specs {
		full := s.WithDefaults()
		require.NoError(t, full.Validate(), "with defaults")
		require.Equal(t, full, full.WithDefaults(), "defaults of defaults")
		for _, one := range []Spec{s, full} {
			data, err := json.Marshal(one)
			require.NoError(t, err)
			var back Spec
			require.NoError(t, json.Unmarshal(data, &back))
			again, err := json.Marshal(back)
			require.NoError(t, err)
			require.JSONEq(t, string(data), string(again))
			if len(data) > MaxFileSize {
				continue
			}
			parsed, err := Parse(strings.NewReader(string(data)))
			require.NoError(t, err)
			again, err = json.Marshal(parsed[0])
			require.NoError(t, err)
			require.JSONEq(t, string(data), string(again))
		}
	}
}

func TestValidate(t *testing.T) {
	long := strings.Repeat("x", 300)
	negative := Duration(-1)
	second := Duration(time.Second)
	gpus := func(count, share int64, models ...string) func(*Spec) {
		return func(s *Spec) { s.Resources.GPUs = &GPUs{Count: count, Share: share, Models: models} }
	}
	for name, c := range map[string]struct {
		change func(*Spec)
		want   string // field and part of the message; "" where it is valid
	}{
		"as it is":             {func(*Spec) {}, ""},
		"long name":            {func(s *Spec) { s.Name = long }, "name: has 300 bytes"},
		"name with @":          {func(s *Spec) { s.Name = "@x" }, `name: "@x" may not begin with "@"`},
		"name with escape":     {func(s *Spec) { s.Name = "a\x1b[31m" }, "name: \"a\\x1b[31m\" has characters that cannot be shown"},
		"name no UTF-8":        {func(s *Spec) { s.Name = "\xff" }, "name: \"\\xff\" is not valid UTF-8"},
		"name of people":       {func(s *Spec) { s.Name = "größte Rechnung 3" }, ""},
		"queue":                {func(s *Spec) { s.Queue = "a/b" }, `queue: "a/b" may only have letters`},
		"label key":            {func(s *Spec) { s.Labels = map[string]string{"a b": "1"} }, `labels: "a b" may only have`},
		"label edge":           {func(s *Spec) { s.Labels = map[string]string{"-a": "1"} }, `labels: "-a" may not begin or end with "-"`},
		"label value":          {func(s *Spec) { s.Labels = map[string]string{"a": long} }, "labels: the value of a has 300 bytes"},
		"no program":           {func(s *Spec) { s.Command = nil }, "command: there is neither"},
		"two programs":         {func(s *Spec) { s.Script = "#!/bin/sh" }, "script: there is a command, too"},
		"empty program":        {func(s *Spec) { s.Command[0] = "" }, "command[0]: must not be empty"},
		"zero byte":            {func(s *Spec) { s.Command[1] = "a\x00b" }, "command[1]: has a zero byte"},
		"large argument":       {func(s *Spec) { s.Command[1] = strings.Repeat("x", MaxArgument+1) }, "command[1]: has 131073 bytes"},
		"large command":        {func(s *Spec) { s.Command = strings.Split(strings.Repeat(long+" ", 1000), " ") }, "command: has 301001 bytes"},
		"many arguments":       {func(s *Spec) { s.Command = make([]string, MaxArguments+1) }, "command: has 4097 arguments"},
		"script":               {func(s *Spec) { s.Command, s.Script, s.Args = nil, "#!/bin/sh\ntrue\n", []string{"a"} }, ""},
		"script without #!":    {func(s *Spec) { s.Command, s.Script = nil, "true" }, `script: must begin with "#!"`},
		"script of Windows":    {func(s *Spec) { s.Command, s.Script = nil, "#!/bin/sh\r\ntrue\r\n" }, "script: its lines end in CR LF"},
		"script with a mark":   {func(s *Spec) { s.Command, s.Script = nil, "\uFEFF#!/bin/sh\n" }, `script: begins with a byte order mark, which cannot be seen, in front of "#!"`},
		"script in Latin-1":    {func(s *Spec) { s.Command, s.Script = nil, "#!/bin/sh\n# \uFFFD\n# M\xfcller\n" }, "script: is not valid UTF-8, in line 3; iconv -f latin1"},
		"script, long line":    {func(s *Spec) { s.Command, s.Script = nil, "#!/"+strings.Repeat("x", 255)+"\n" }, "script: its first line has 258 bytes, and Linux reads 255"},
		"argument in Latin-1":  {func(s *Spec) { s.Command[1] = "caf\xe9" }, "command[1]: is not valid UTF-8"},
		"large script":         {func(s *Spec) { s.Command, s.Script = nil, "#!\n"+strings.Repeat("x", MaxScript) }, "script: has 262147 bytes"},
		"args of a command":    {func(s *Spec) { s.Args = []string{"a"} }, "args: are those of a script"},
		"variable":             {func(s *Spec) { s.Env = map[string]string{"LD_PRELOAD": "x", "a1": ""} }, ""},
		"variable with =":      {func(s *Spec) { s.Env = map[string]string{"A=B": "x"} }, `env.A=B: "A=B" may only have letters`},
		"variable of ours":     {func(s *Spec) { s.Env = map[string]string{"BERTH_JOB": "x"} }, "env.BERTH_JOB: names that begin with BERTH_ are set by Berth"},
		"variable of Slurm":    {func(s *Spec) { s.Env = map[string]string{"SLURM_JOB_ID": "x"} }, "env.SLURM_JOB_ID: names that begin with SLURM_ are set by Berth"},
		"variable of slurmd":   {func(s *Spec) { s.Env = map[string]string{"SLURMD_NODENAME": "x"} }, "env.SLURMD_NODENAME: names that begin with SLURMD_ are set by Berth"},
		"function of bash":     {func(s *Spec) { s.Env = map[string]string{"BASH_FUNC_x-1::é%%": "() { :; }"} }, ""},
		"function, no name":    {func(s *Spec) { s.Env = map[string]string{"BASH_FUNC_%%": "() { :; }"} }, "may only have letters"},
		"function, bad name":   {func(s *Spec) { s.Env = map[string]string{"BASH_FUNC_a b%%": "() { :; }"} }, "may only have letters"},
		"settings of berth":    {func(s *Spec) { s.Env = map[string]string{"BERTH_ADDR": "s1:7070", "BERTH_TOKEN_FILE": "/t"} }, ""},
		"token":                {func(s *Spec) { s.Env = map[string]string{"BERTH_TOKEN": "x"} }, "env.BERTH_TOKEN: names that begin with BERTH_ are set by Berth"},
		"umask":                {func(s *Spec) { s.Umask = "0077" }, ""},
		"umask of letters":     {func(s *Spec) { s.Umask = "u=rwx" }, `umask: "u=rwx" is no umask: write octal digits, such as 0077`},
		"umask too large":      {func(s *Spec) { s.Umask = "1000" }, `umask: "1000" is no umask`},
		"umask of the owner":   {func(s *Spec) { s.Umask = "0277" }, `umask: "0277" takes rights from the owner of the files`},
		"variable with digit":  {func(s *Spec) { s.Env = map[string]string{"1A": "x"} }, "env.1A: "},
		"variable empty":       {func(s *Spec) { s.Env = map[string]string{"": "x"} }, "a variable must have a name"},
		"variable zero":        {func(s *Spec) { s.Env = map[string]string{"A": "\x00"} }, "env.A: has a zero byte"},
		"dir":                  {func(s *Spec) { s.Dir = "work" }, `dir: "work" does not begin with "/"`},
		"dir upwards":          {func(s *Spec) { s.Dir = "/work/../etc" }, `dir: "/work/../etc" has ".." in it`},
		"user":                 {func(s *Spec) { s.User = "a:b" }, "user: "},
		"user as number":       {func(s *Spec) { s.User = "0" }, `user: "0" is a number`},
		"own dir":              {func(s *Spec) { s.Dir = OwnDir }, ""},
		"submit dir":           {func(s *Spec) { s.SubmitDir = "work" }, `submitDir: "work" does not begin with "/"`},
		"submit host":          {func(s *Spec) { s.SubmitHost = "a\x1b" }, `submitHost: "a\x1b" has characters that cannot be shown`},
		"output":               {func(s *Spec) { s.Output = "/logs/%j-%a.%t-%x" }, ""},
		"output in dir":        {func(s *Spec) { s.Dir, s.Output = "/work", "logs/%j-%a.%t" }, ""},
		"output in own":        {func(s *Spec) { s.Output = "out-%j.txt" }, `output: "out-%j.txt" would be in the task's own folder, which is removed with the task: write a path that begins with "/", or a working directory (dir)`},
		"error in own, named":  {func(s *Spec) { s.Dir, s.Error = OwnDir, "./err" }, `error: "./err" would be in the task's own folder`},
		"output unknown":       {func(s *Spec) { s.Output = "/%q" }, `output: "/%q" has "%q", only %j`},
		"output wide":          {func(s *Spec) { s.Output = "/%4a" }, ""},
		"output wide unknown":  {func(s *Spec) { s.Output = "/%4q" }, `output: "/%4q" has "%4q", only %j`},
		"output folder":        {func(s *Spec) { s.Dir, s.Output = "/work", "logs/" }, `output: "logs/" is a folder: write the name of a file after it`},
		"output once":          {func(s *Spec) { s.Output, s.Error = "/%q", "/%q" }, `invalid job: output: "/%q" has "%q", only %j, %x, %a, %t, %n, %u and %% stand for something`},
		"open mode":            {func(s *Spec) { s.OpenMode = "w" }, `openMode: "w" is not one of truncate, append`},
		"output, bad name":     {func(s *Spec) { s.Name, s.Output = "a/b", "/logs/%x" }, `output: the job's name "a/b" cannot be part of a file name`},
		"error upwards":        {func(s *Spec) { s.Dir, s.Error = "/work", "../%j" }, ""},
		"cpu":                  {func(s *Spec) { s.Resources.CPU = -1 }, "resources.cpu: -0.001 is not between 0 and 1000000"},
		"memory":               {func(s *Spec) { s.Resources.Memory = 1 << 60 }, "resources.memory: 1Ei is not between 0 and 512Ti"},
		"a share":              {gpus(1, 500), ""},
		"whole ones":           {gpus(4, 1000, "a100"), ""},
		"shares of several":    {gpus(2, 500), "resources.gpus.count: 2 devices cannot be had with a share of one"},
		"large share":          {gpus(1, 1001), "resources.gpus.share: 1001 is not between 0 and 1000"},
		"empty model":          {gpus(1, 0, ""), "resources.gpus.models[0]: must not be empty"},
		"other":                {func(s *Spec) { s.Resources.Other = map[string]int64{"licence": 0} }, "resources.other.licence: 0 is not between 1"},
		"tasks":                {func(s *Spec) { s.Tasks = 10001 }, "tasks: 10001 is not between 0 and 10000"},
		"same label":           {func(s *Spec) { s.SameLabel = "a b" }, "sameLabel: "},
		"array of gangs":       {func(s *Spec) { s.Tasks = 4; s.Array, _ = ParseArray("0-9") }, ""},
		"node":                 {func(s *Spec) { s.Nodes = []string{"a", "b/c"} }, `nodes[1]: "b/c" may only`},
		"node both ways":       {func(s *Spec) { s.Nodes, s.ExcludeNodes = []string{"a"}, []string{"a"} }, `excludeNodes[0]: "a" is one of nodes, too`},
		"operator":             {func(s *Spec) { s.Constraints = []Constraint{{Label: "a", Operator: "in"}} }, `constraints[0].operator: "in" is not one of In, NotIn`},
		"no values":            {func(s *Spec) { s.Constraints = []Constraint{{Label: "a", Operator: NotIn}} }, "constraints[0].values: NotIn needs at least one"},
		"exists":               {func(s *Spec) { s.Constraints = []Constraint{{Label: "a"}} }, ""},
		"exists with values":   {func(s *Spec) { s.Constraints = []Constraint{{Label: "a", Operator: Exists, Values: []string{"b"}}} }, "constraints[0].values: Exists has none"},
		"gt":                   {func(s *Spec) { s.Constraints = []Constraint{{Label: "a", Operator: Gt, Values: []string{"b"}}} }, `constraints[0].values[0]: "b" is no whole number`},
		"weight":               {func(s *Spec) { s.Preferences = []Preference{{Constraint: Constraint{Label: "a"}}} }, "preferences[0].weight: 0 is not between 1 and 100"},
		"affinity":             {func(s *Spec) { s.Near = []Affinity{{}} }, "near[0].labels: must not be empty"},
		"spread twice":         {func(s *Spec) { s.Spread = []Spread{{}, {}} }, "spread[1].label: there is a spread over it already"},
		"priority":             {func(s *Spec) { s.Priority = 1001 }, "priority: 1001 is not between -1000 and 1000"},
		"deadline":             {func(s *Spec) { s.Begin = time.Unix(100, 0); s.Deadline = time.Unix(50, 0) }, "deadline: is not after begin"},
		"year":                 {func(s *Spec) { s.Begin = time.Date(12000, 1, 1, 0, 0, 0, 0, time.UTC) }, "begin: the year 12000"},
		"dependency":           {func(s *Spec) { s.After = []Dependency{{AfterOK, "0"}} }, `after[0].job: "0" is neither the number of a job`},
		"dependency kind":      {func(s *Spec) { s.After = []Dependency{{"afterburner", "1"}} }, `after[0].kind: "afterburner" is not one of afterok`},
		"time limit":           {func(s *Spec) { s.TimeLimit = negative }, "timeLimit: -1ns is not between"},
		"warning":              {func(s *Spec) { s.TimeLimit, s.Warn = second, &Warning{Before: second} }, "warn.before: 1s is not shorter than the time limit"},
		"warning that no one":  {func(s *Spec) { s.Warn = &Warning{Signal: "KILL", Before: second} }, "warn.signal: no program can act on KILL"},
		"signal":               {func(s *Spec) { s.Warn = &Warning{Signal: "SIGUSR1", Before: second} }, `warn.signal: "SIGUSR1" is no signal`},
		"grace":                {func(s *Spec) { s.KillGrace = &negative }, "killGrace: -1ns is not between"},
		"retries":              {func(s *Spec) { s.Retry = Retry{Limit: -1} }, "retry.limit: -1 is not between 0 and 1000"},
		"retry on":             {func(s *Spec) { s.Retry = Retry{Limit: 1, On: []string{"exit:0"}} }, `retry.on[0]: "exit:0" has no exit codes from 1 to 255`},
		"backoff":              {func(s *Spec) { s.Retry = Retry{Backoff: new(Duration(time.Hour)), MaxBackoff: &second} }, "retry.backoff: 1h is longer than maxBackoff, 1s"},
		"long backoff":         {func(s *Spec) { s.Retry = Retry{Backoff: new(Duration(time.Hour))} }, ""},
		"short maximal pauses": {func(s *Spec) { s.Retry = Retry{MaxBackoff: &second} }, ""},
	} {
		s := Spec{Command: []string{"sleep", "10"}}
		c.change(&s)
		err := s.Validate()
		if c.want == "" {
			if assert.NoError(t, err, name) {
				checkWritten(t, []Spec{s})
			}
			continue
		}
		assert.ErrorIs(t, err, ErrInvalid, name)
		assert.ErrorContains(t, err, c.want, name)
	}
}

func TestCheckSubmission(t *testing.T) {
	run := []string{"true"}
	after := func(names ...string) (list []Dependency) {
		for _, n := range names {
			list = append(list, Dependency{AfterOK, n})
		}
		return list
	}
	array, err := ParseArray("0-9")
	require.NoError(t, err)
	for name, c := range map[string]struct {
		specs []Spec
		want  string
	}{
		"none":     {nil, "jobs: there are none"},
		"too many": {make([]Spec, MaxJobs+1), "jobs: has 1001 jobs, at most 1000 are allowed"},
		"a chain": {[]Spec{{Name: "a", Command: run, After: after("@b", "17")}, {Name: "b", Command: run, After: after("@c")},
			{Name: "c", Command: run}}, ""},
		"a diamond": {[]Spec{{Name: "a", Command: run, After: after("@b", "@c")}, {Name: "b", Command: run, After: after("@d")},
			{Name: "c", Command: run, After: after("@d")}, {Name: "d", Command: run}}, ""},
		"a circle": {[]Spec{{Name: "x", Command: run, After: after("@a")}, {Name: "a", Command: run, After: after("@b")},
			{Name: "b", Command: run, After: after("@a")}},
			"jobs[1].after: the jobs wait for each other in a circle: @a -> @b -> @a"},
		"itself":    {[]Spec{{Name: "a", Command: run, After: after("@a")}}, "jobs[0].after: the jobs wait for each other in a circle: @a -> @a"},
		"unknown":   {[]Spec{{Command: run, After: after("@a")}}, `jobs[0].after[0].job: no job of this submission has the name "a"`},
		"ambiguous": {[]Spec{{Command: run, After: after("@a")}, {Name: "a", Command: run}, {Name: "a", Command: run}}, `2 jobs of this submission have the name "a"`},
		"no name":   {[]Spec{{Command: run, After: after("@")}}, `jobs[0].after[0].job: "@" is neither`},
		"aftercorr": {[]Spec{{Name: "a", Command: run, Array: array}, {Command: run, Array: array, After: []Dependency{{AfterCorr, "@a"}}}}, ""},
		"aftercorr of no array": {[]Spec{{Name: "a", Command: run, Array: array}, {Command: run, After: []Dependency{{AfterCorr, "@a"}}}},
			`jobs[1].after[0].job: aftercorr needs two arrays of the same indices, these have "" and "0-9"`},
		"two problems": {[]Spec{{}, {Command: run, Tasks: -1}}, "jobs[0].command: there is neither a command nor a script; jobs[1].tasks: -1"},
	} {
		err := Check(c.specs)
		if c.want == "" {
			assert.NoError(t, err, name)
			continue
		}
		assert.ErrorIs(t, err, ErrInvalid, name)
		assert.ErrorContains(t, err, c.want, name)
	}
}

func TestResolve(t *testing.T) {
	specs := []Spec{{Name: "a"}, {Name: "b"}, {Name: "b"}}
	index, ok := Resolve(specs, &Dependency{Job: "@a"})
	assert.True(t, ok)
	assert.Zero(t, index)
	for _, none := range []string{"@b", "@c", "1", "@"} {
		_, ok = Resolve(specs, &Dependency{Job: none})
		assert.False(t, ok, none)
	}
	id, ok := (&Dependency{Job: "17"}).ID()
	assert.True(t, ok)
	assert.Equal(t, ID(17), id)
	for _, none := range []string{"@17", "017", "0", "-1", "", "18446744073709551616"} {
		_, ok = (&Dependency{Job: none}).ID()
		assert.False(t, ok, none)
	}
}

func TestWithDefaults(t *testing.T) {
	s := Spec{
		Command:     []string{"/usr/bin/sleep", "10"},
		Resources:   Resources{GPUs: &GPUs{}},
		Constraints: []Constraint{{Label: "a"}, {Label: "b", Values: []string{"1"}}},
		Spread:      []Spread{{}},
		Warn:        &Warning{Before: 1},
	}
	before, err := json.Marshal(s)
	require.NoError(t, err)
	got := s.WithDefaults()
	assert.Equal(t, "sleep", got.Name)
	assert.Equal(t, "default", got.Queue)
	assert.Equal(t, MilliCPU(1000), got.Resources.CPU)
	assert.Equal(t, &GPUs{Count: 1, Share: 1000}, got.Resources.GPUs)
	assert.Equal(t, int32(1), got.Tasks)
	assert.Equal(t, Exists, got.Constraints[0].Operator)
	assert.Equal(t, In, got.Constraints[1].Operator)
	assert.Equal(t, int32(1), got.Spread[0].MaxSkew)
	assert.Equal(t, "USR1", got.Warn.Signal)
	assert.Equal(t, DefaultKillGrace, *got.KillGrace)
	assert.Equal(t, []string{"failed"}, got.Retry.On)
	assert.Equal(t, DefaultBackoff, *got.Retry.Backoff)
	assert.Equal(t, DefaultMaxBackoff, *got.Retry.MaxBackoff)

	after, err := json.Marshal(s)
	require.NoError(t, err)
	assert.Equal(t, string(before), string(after), "what was given is not changed")

	for command, name := range map[string]string{"@": "job", "/": "/", "@@x": "x", "a\x1bb": "ab", "./run it ": "run it", strings.Repeat("ü", 100): strings.Repeat("ü", 64)} {
		s := Spec{Command: []string{command}}
		assert.Equal(t, name, s.WithDefaults().Name, command)
	}
	s = Spec{Script: "#!/bin/sh"}
	assert.Equal(t, "script", s.WithDefaults().Name)
}

// Every field of a Spec has a name in files, so that none is left out of them.
func TestFieldsHaveNames(t *testing.T) {
	for _, f := range reflect.VisibleFields(reflect.TypeFor[Spec]()) {
		assert.NotEmpty(t, f.Tag.Get("json"), f.Name)
	}
}

func TestExpandPath(t *testing.T) {
	task := TaskID{Job: 17, Element: 3, Attempt: 1, Rank: 2}
	for _, c := range []struct{ pattern, want, err string }{
		{pattern: "/logs/%j_%a.%t@%n-%u", want: "/logs/17_3.2@n1-eve"},
		{pattern: "%x-%j.out", want: "train-17.out"},
		{pattern: "100%%", want: "100%"},
		{pattern: "", want: ""},
		{pattern: "%4j-%2a-%t-%4x-%12a", want: "0017-03-2-train-0000000003"},
		{pattern: "%0a-%01t-%99999999999999999999a", want: "3-2-0000000003"},
		{pattern: "%4", err: `ends with a lone "%"`},
		{pattern: "%", err: `ends with a lone "%"`},
		{pattern: "%b", err: "stand for something"},
	} {
		got, err := ExpandPath(c.pattern, task, PathNames{Node: "n1", User: "eve", Job: "train"})
		checkParsed(t, c.pattern, got, c.want, err, c.err)
	}
	for _, bad := range []string{"..", ".", "a/b", "a\x00"} {
		for _, pattern := range []string{"%u", "%n", "%x"} {
			_, err := ExpandPath(pattern, task, PathNames{Node: bad, User: bad, Job: bad})
			assert.ErrorContains(t, err, "cannot be part of a file name", bad)
		}
	}
}

func TestPathHas(t *testing.T) {
	for pattern, want := range map[string]bool{
		"%a": true, "out-%j_%4a": true, "a": false, "": false, "%": false, "%%a": false, "%%%a": true, "%4": false, "%ja": false,
	} {
		assert.Equal(t, want, PathHas(pattern, 'a'), pattern)
	}
}

func TestRetryCounts(t *testing.T) {
	for _, c := range []struct {
		on     string
		end    State
		exit   int
		signal string
		want   bool
	}{
		{"", Failed, 1, "", true},
		{"", Failed, -1, "SEGV", true},
		{"", Timeout, -1, "TERM", false},
		{"failed", Failed, 3, "", true},
		{"exit:75", Failed, 75, "", true},
		{"exit:75", Failed, 74, "", false},
		{"exit:70-79", Failed, 79, "", true},
		{"exit:70-79", Failed, 80, "", false},
		{"exit:1-255", Failed, -1, "KILL", false},
		{"signal", Failed, -1, "SEGV", true},
		{"signal", Failed, 1, "", false},
		{"signal:BUS", Failed, -1, "BUS", true},
		{"signal:BUS", Failed, -1, "SEGV", false},
		{"oom", OutOfMemory, -1, "KILL", true},
		{"oom", Failed, -1, "KILL", false},
		{"timeout", Timeout, -1, "TERM", true},
		{"failed", NodeFail, 0, "", false},
		{"failed", Cancelled, 0, "", false},
		{"nonsense", Failed, 1, "", false},
	} {
		var r Retry
		if c.on != "" {
			r.On = []string{"exit:254", c.on}
		}
		assert.Equal(t, c.want, r.Counts(c.end, c.exit, c.signal), "%+v", c)
	}
	for _, bad := range []string{"", "exit", "exit:", "exit:0", "exit:256", "exit:9-3", "exit:1-2-3", "signal:", "signal:SIGBUS", "OOM"} {
		_, err := parseRetryOn(bad)
		assert.Error(t, err, bad)
	}
}

func TestSignalName(t *testing.T) {
	for _, c := range []struct{ text, want, err string }{
		{text: "TERM", want: "TERM"},
		{text: "SIGTERM", want: "TERM"},
		{text: "sigterm", want: "TERM"},
		{text: "15", want: "TERM"},
		{text: "9", want: "KILL"},
		{text: "31", want: "SYS"},
		{text: "32", err: `"32" is no signal`},
		{text: "0", err: `"0" is no signal`},
		{text: "", err: "is no signal"},
	} {
		got, err := SignalName(c.text)
		checkParsed(t, c.text, got, c.want, err, c.err)
	}
}

func FuzzParseTaskID(f *testing.F) {
	f.Add("17_0.1.0")
	f.Add("17_-1.1.0")
	f.Fuzz(func(t *testing.T, s string) {
		if id, err := ParseTaskID(s); err == nil {
			require.Equal(t, s, id.String())
		}
	})
}
