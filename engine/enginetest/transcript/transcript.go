package transcript

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/berth-project/berth/engine"
)

// Run plays the transcript in the file and compares the answers; with update it
// writes them into the file instead. See the package comment for what else is
// compared.
func Run(t *testing.T, file string, update bool) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	tr := parse(string(text))
	first := tr.play(t, 1)
	for _, workers := range []int{2, 16} {
		if i, got := differs(first.answers, tr.play(t, workers).answers); i >= 0 {
			t.Fatalf("%s\n---- with 1 worker\n%s\n---- with %d\n%s", tr.blocks[i].commands, first.answers[i], workers, got)
		}
	}
	if tr.replayed {
		first.replay(t)
	}
	if update {
		if err := os.WriteFile(file, []byte(tr.with(first.answers)), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if i, want := differs(first.answers, tr.answers()); i >= 0 {
		t.Fatalf("%s: %s\n---- want\n%s\n---- got\n%s", filepath.Base(file), tr.blocks[i].commands, want, first.answers[i])
	}
}

// Play plays commands on a new engine and returns the answer, for tests that make
// their commands up.
func Play(t *testing.T, commands string) string {
	t.Helper()
	return newEnv(t, 1).play(commands)
}

// transcript is a file in parts.
type transcript struct {
	blocks   []block
	replayed bool
}

// block is a paragraph: prose, or commands with their answer.
type block struct {
	commands string
	answer   string
	prose    bool
}

func parse(text string) *transcript {
	tr := &transcript{replayed: true}
	for _, p := range strings.Split(strings.TrimSpace(text), "\n\n") {
		commands, answer, ok := strings.Cut(p, "\n----")
		if strings.HasPrefix(p, "No replay:") {
			tr.replayed = false
		}
		tr.blocks = append(tr.blocks, block{commands, strings.TrimPrefix(answer, "\n"), !ok})
	}
	return tr
}

func (tr *transcript) answers() []string {
	list := make([]string, len(tr.blocks))
	for i := range tr.blocks {
		list[i] = tr.blocks[i].answer
	}
	return list
}

// with is the file's text with other answers.
func (tr *transcript) with(answers []string) string {
	parts := make([]string, len(tr.blocks))
	for i, b := range tr.blocks {
		if parts[i] = b.commands; !b.prose {
			parts[i] += "\n----\n" + answers[i]
		}
	}
	return strings.Join(parts, "\n\n") + "\n"
}

// differs returns the first place where the lists differ, -1 for none, and what
// the second has there.
func differs(a, b []string) (int, string) {
	for i := range a {
		if a[i] != b[i] {
			return i, b[i]
		}
	}
	return -1, ""
}

// played is what came of a transcript.
type played struct {
	env     *env
	answers []string
}

// play plays all blocks on a new engine.
func (tr *transcript) play(t *testing.T, workers int) *played {
	t.Helper()
	e := newEnv(t, workers)
	p := &played{env: e, answers: make([]string, len(tr.blocks))}
	for i := range tr.blocks {
		if !tr.blocks[i].prose {
			p.answers[i] = e.play(tr.blocks[i].commands)
		}
	}
	return p
}

// replay gives the inputs that were recorded to a new engine and wants the same
// events, the same state at the end, and the same recording.
func (p *played) replay(t *testing.T) {
	t.Helper()
	e := newEnv(t, 2)
	e.deaf = true
	for _, l := range p.env.configured {
		e.configure(l)
	}
	e.made = true
	r, err := engine.Replay(e.config(), &tapeReader{tape: &p.env.tape, scripted: e.scripted})
	if err != nil {
		t.Fatalf("replay: %v", err)
	}
	e.raw, e.now = r, p.env.now
	if !slices.Equal(p.env.events, e.events) {
		t.Fatalf("replayed events\n---- want\n%s\n---- got\n%s", strings.Join(p.env.events, "\n"), strings.Join(e.events, "\n"))
	}
	if want, got := p.env.play("store\nqueue"), e.play("store\nqueue"); want != got {
		t.Fatalf("state after the replay\n---- want\n%s\n---- got\n%s", want, got)
	}
	if want, got := p.env.tape.inputs(), e.tape.inputs(); want != got {
		t.Fatalf("recording of the replay\n---- want\n%s\n---- got\n%s", want, got)
	}
}
