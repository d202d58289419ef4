package transcript

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// epoch is when transcripts begin.
var epoch = time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)

// env is an engine with everything around it that a transcript commands.
type env struct {
	t   *testing.T
	now time.Time

	cfg        engine.Config
	registered map[string][]extpoints.EventHint
	made       bool
	raw        *engine.Raw // nil until the first verb that needs it
	deaf       bool        // extenders must not be asked
	configured []line      // the verbs that said what the engine is made of

	script   *script
	handles  map[string]extpoints.Handle // by plugin
	latest   map[string]*model.Workload
	nodes    map[string]*model.Node
	tasks    []*task
	branches map[string]*engine.Branch

	tape   tape
	events []string

	mu   sync.Mutex // guards out: plugins write to it from binding goroutines
	out  []string
	side int // how many lines at the end of out are from calls side by side
}

func newEnv(t *testing.T, workers int) *env {
	e := &env{
		t: t, now: epoch,
		registered: map[string][]extpoints.EventHint{},
		script:     newScript(),
		handles:    map[string]extpoints.Handle{},
		latest:     map[string]*model.Workload{},
		nodes:      map[string]*model.Node{},
		branches:   map[string]*engine.Branch{},
	}
	e.cfg.Workers = workers
	e.script.note = e.note
	return e
}

// play does the commands of one block and returns the answer.
func (e *env) play(commands string) string {
	e.out = nil
	for text := range strings.Lines(commands) {
		if text = strings.TrimSpace(text); text == "" || text[0] == '#' {
			continue
		}
		l := parseLine(text)
		if e.scripted(l); e.configure(l) || l.verb == "plugin" || l.verb == "orchestrator" {
			continue
		}
		e.make()
		if !e.change(l) && !e.drive(l) && !e.show(l) {
			e.fail(l, "there is no such verb")
		}
	}
	if len(e.out) == 0 {
		return "ok"
	}
	return strings.Join(e.out, "\n")
}

// scripted does the verbs that tell plugins and orchestrator what to answer.
func (e *env) scripted(l line) {
	text := ""
	switch l.verb {
	case "plugin":
		// plugin NAME POINT [WORKLOAD] [NODE] => CODE ["REASON"] [OPTION]...:
		// what the plugin answers at the point from now on, in place of ok. The
		// workload and the node may be patterns. CODE may also be panic, or a
		// score. The options are those of answer.setOption.
		text = strings.TrimPrefix(l.text, "plugin ")
	case "orchestrator":
		// orchestrator bind|evict [WORKLOAD] [NODE] => ok|Error "TEXT" [block]:
		// what the orchestrator answers from now on.
		text = l.text
	default:
		return
	}
	if err := e.script.add(text); err != nil {
		e.fail(l, err.Error())
	}
	e.tape.steps = append(e.tape.steps, step{script: l})
}

// make makes the engine.
func (e *env) make() {
	if e.made {
		return
	}
	e.made = true
	raw, err := engine.NewRaw(e.config())
	if err != nil {
		e.t.Fatal(err)
	}
	e.raw = raw
}

func (e *env) fail(l line, why string) {
	e.t.Helper()
	e.t.Fatalf("%s: %s", l.text, why)
}

// say adds a line to the answer.
func (e *env) say(format string, args ...any) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.side = 0
	e.out = append(e.out, fmt.Sprintf(format, args...))
}

// note adds a plugin's call to the answer. Calls side by side are sorted, since
// any order is right.
func (e *env) note(call string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.out = append(e.out, "  "+call)
	if e.side++; !strings.HasPrefix(call, sideBySide) {
		e.side = 0
	}
	slices.Sort(e.out[len(e.out)-e.side:])
}

// line is a command: a verb, words and name=value pairs.
type line struct {
	text, verb string
	words      []string
	args       map[string]string
}

func parseLine(text string) line {
	l := line{text: text, args: map[string]string{}}
	for i, token := range tokens(text) {
		name, value, pair := strings.Cut(token, "=")
		switch {
		case i == 0:
			l.verb = token
		case token[0] != '"' && pair:
			l.args[name] = strings.Trim(value, `"`)
		default:
			l.words = append(l.words, strings.Trim(token, `"`))
		}
	}
	return l
}

// word is the i-th word, empty where there are not so many.
func (l *line) word(i int) string {
	if i < len(l.words) {
		return l.words[i]
	}
	return ""
}

func number(s string) int64 {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		panic(err)
	}
	return n
}

func duration(s string) time.Duration {
	d, err := time.ParseDuration(s)
	if err != nil {
		panic(err)
	}
	return d
}

// since prints a time as an offset from the beginning.
func since(t time.Time) string { return t.Sub(epoch).String() }
