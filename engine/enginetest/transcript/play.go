package transcript

import (
	"strings"

	"github.com/berth-project/berth/engine"
)

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
