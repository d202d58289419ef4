package transcript

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/berth-project/berth/extpoints"
)

// script is what the plugins and the orchestrator of a transcript are told to
// answer. It may be read by any goroutine.
type script struct {
	mu      sync.Mutex
	rules   []rule
	started map[string]chan struct{} // plugins that have begun to pre-bind
	entered chan struct{}            // a call that blocks has begun

	// note is told of every call at a point where calls are in order.
	note func(call string)
}

// rule is one line of it. The last one that fits a call counts.
type rule struct {
	plugin, point string
	about         []string // patterns, each for the workload or the node
	answer        answer
}

// answer is what a plugin says and does.
type answer struct {
	text    string // as it is written
	code    extpoints.Code
	reasons []string
	panics  bool

	score    *int64        // from score; from normalize: for every node
	wait     time.Duration // from permit
	nodes    []string      // from prefilter; narrows if narrows is set
	narrows  bool
	nominate *extpoints.NominatingInfo // from postfilter

	evict, activate, allow, reject []string
	// from postfilter: who is to lose its nomination, and whether nothing may
	// be scheduled until the evictions are accepted
	unnominate []string
	await      bool

	parallel bool   // from preflight
	meets    string // from prebind: wait until that plugin's has begun too
	block    bool   // from prebind, bind, evict: wait until told to end

	outside // from extenders
}

func newScript() *script {
	return &script{started: map[string]chan struct{}{}, entered: make(chan struct{}, 16), note: func(string) {}}
}

// add understands "PLUGIN POINT PATTERN... => ANSWER".
func (s *script) add(text string) error {
	call, says, ok := strings.Cut(text, "=>")
	words := strings.Fields(call)
	if !ok || len(words) < 2 {
		return errors.New("want PLUGIN POINT [WORKLOAD] [NODE] => ANSWER")
	}
	if !slices.Contains(points, words[1]) {
		return fmt.Errorf("there is no point %q; points are %v", words[1], points)
	}
	a, err := parseAnswer(strings.TrimSpace(says))
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rules = append(s.rules, rule{words[0], words[1], words[2:], a})
	return nil
}

// points are the names of the points in scripts; evict is the orchestrator's, the
// last two are extenders'.
var points = []string{
	"preenqueue", "hint", "prefilter", "addworkload", "filter", "postfilter", "prescore", "score", "normalize",
	"reserve", "unreserve", "permit", "preflight", "prebind", "bind", "postbind", "evict",
	"prioritize", "preempt",
}

// find returns what the plugin is to answer; where no rule fits: ok.
func (s *script) find(plugin, point, workload, node string) answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := len(s.rules) - 1; i >= 0; i-- {
		r := &s.rules[i]
		if r.plugin == plugin && r.point == point && r.isAbout(workload, node) {
			return r.answer
		}
	}
	return answer{text: "ok"}
}

func (r *rule) isAbout(workload, node string) bool {
	for _, pattern := range r.about {
		w, _ := path.Match(pattern, workload)
		n, _ := path.Match(pattern, node)
		if !w && !n {
			return false
		}
	}
	return true
}

// parseAnswer reads a code (ok, Error, Unschedulable ... or panic, or a number
// that is a score), reasons in quotes, and options.
func parseAnswer(text string) (answer, error) {
	a := answer{text: text}
	for i, token := range tokens(text) {
		switch {
		case token[0] == '"':
			a.reasons = append(a.reasons, strings.Trim(token, `"`))
		case i == 0:
			if err := a.setCode(token); err != nil {
				return a, err
			}
		default:
			if err := a.setOption(token); err != nil {
				return a, err
			}
		}
	}
	return a, nil
}

func (a *answer) setCode(token string) error {
	if n, err := strconv.ParseInt(token, 10, 64); err == nil {
		a.score = &n
		return nil
	}
	switch token {
	case "ok":
		return nil
	case "panic":
		a.panics = true
		return nil
	case "invalid":
		a.code = 99
		return nil
	}
	for c := extpoints.Success; c <= extpoints.Pending; c++ {
		if c.String() == token {
			a.code = c
			return nil
		}
	}
	return fmt.Errorf("there is no code %q", token)
}

func (a *answer) setOption(token string) error {
	name, value, _ := strings.Cut(token, "=")
	var list []string
	if value != "" {
		list = strings.Split(value, ",")
	}
	switch name {
	case "wait":
		d, err := time.ParseDuration(value)
		a.wait = d
		return err
	case "nodes":
		a.nodes, a.narrows = list, true
	case "nominate":
		a.nominate = &extpoints.NominatingInfo{Node: value, Mode: extpoints.NominatingOverride}
	case "leave": // the nomination as it is
		a.nominate = &extpoints.NominatingInfo{Mode: extpoints.NominatingNoop}
	case "evict":
		a.evict = list
	case "unnominate":
		a.unnominate = list
	case "await":
		a.await = true
	case "activate":
		a.activate = list
	case "allow":
		a.allow = list
	case "reject":
		a.reject = list
	case "parallel":
		a.parallel = true
	case "meets":
		a.meets = value
	case "block":
		a.block = true
	default:
		if a.outside.set(name, list) {
			return nil
		}
		return fmt.Errorf("there is no option %q", token)
	}
	return nil
}

// status is the answer as a status.
func (a *answer) status() *extpoints.Status {
	switch {
	case a.panics:
		panic(strings.Join(a.reasons, ", "))
	case a.code == extpoints.Success:
		return nil
	case a.code == extpoints.Error:
		return extpoints.AsStatus(errors.New(strings.Join(a.reasons, ", ")))
	}
	return extpoints.NewStatus(a.code, a.reasons...)
}

// hold says that the plugin has begun to pre-bind, and waits as the answer says;
// it fails if ctx ends before the one that it is to meet has come.
func (s *script) hold(ctx context.Context, a *answer, plugin, workload string) error {
	s.begin(plugin, workload)
	if a.block {
		s.entered <- struct{}{}
		<-ctx.Done()
		if a.code == extpoints.Error {
			return ctx.Err()
		}
	}
	if a.meets == "" {
		return nil
	}
	select {
	case <-s.begun(a.meets, workload):
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%s never came", a.meets)
	}
}

// begun is closed when the plugin has begun to pre-bind the workload.
func (s *script) begun(plugin, workload string) chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := plugin + "/" + workload
	if s.started[key] == nil {
		s.started[key] = make(chan struct{})
	}
	return s.started[key]
}

func (s *script) begin(plugin, workload string) {
	begun := s.begun(plugin, workload)
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-begun:
	default:
		close(begun)
	}
}

// tokens splits at spaces that are not between quotes; the quotes stay.
func tokens(text string) []string {
	var list []string
	var token strings.Builder
	quoted := false
	for _, c := range text {
		if c == '"' {
			quoted = !quoted
		}
		if c != ' ' || quoted {
			token.WriteRune(c)
		} else if token.Len() > 0 {
			list = append(list, token.String())
			token.Reset()
		}
	}
	if token.Len() > 0 {
		list = append(list, token.String())
	}
	return list
}
