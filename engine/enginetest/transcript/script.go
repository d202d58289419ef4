package transcript

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"

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
