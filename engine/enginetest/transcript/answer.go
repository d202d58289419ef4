package transcript

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/berth-project/berth/extpoints"
)

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
	nominate *extpoints.PostFilterResult // from postfilter

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
		a.nominate = &extpoints.PostFilterResult{Nominate: value, Clear: value == ""}
	case "leave": // the nomination as it is
		a.nominate = &extpoints.PostFilterResult{}
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

// outside is what an extender answers, beside the code and the reasons of an
// error.
type outside struct {
	pass    []string // from filter: these, in this order; passes is set
	passes  bool
	fail    map[string]string // NODE:REASON
	never   map[string]string // the same, where displacing would not help
	bare    bool
	points  map[string]int64    // NODE:POINTS
	victims map[string][]string // NODE:ID+ID
}

// set understands an extender's option; false where it is none.
func (o *outside) set(name string, list []string) bool {
	switch name {
	case "pass":
		o.pass, o.passes = list, true
	case "fail":
		o.fail = pairs(list, func(s string) string { return s })
	case "never":
		o.never = pairs(list, func(s string) string { return s })
	case "bare":
		o.bare = true
	case "points":
		o.points = pairs(list, func(s string) int64 {
			n, _ := strconv.ParseInt(s, 10, 64)
			return n
		})
	case "victims":
		o.victims = pairs(list, func(s string) []string {
			return strings.FieldsFunc(s, func(r rune) bool { return r == '+' })
		})
	default:
		return false
	}
	return true
}

func pairs[V any](list []string, value func(string) V) map[string]V {
	m := map[string]V{}
	for _, item := range list {
		node, v, _ := strings.Cut(item, ":")
		m[node] = value(v)
	}
	return m
}
