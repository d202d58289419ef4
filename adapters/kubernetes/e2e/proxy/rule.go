package proxy

import (
	"fmt"
	"slices"
	"time"

	"k8s.io/apiserver/pkg/endpoints/request"
)

// Rule says what to do to some of the requests. Requests that are not about
// resources, such as for discovery and health, are never touched.
type Rule struct {
	Verbs     []string // such as "create" or "watch"; none means all
	Resources []string // such as "pods" or "pods/binding"; none means all
	Chance    float64  // that it is done to a request that the rule is for, 0 to 1
	Times     int      // how often it is done at most; 0 means no limit
	Do        Action   // rules are tried in order, up to the first that is drawn and is no delay
}

// Action is what is done to a request. Make one with the functions below.
type Action struct {
	kind   kind
	status int
	time   time.Duration
}

type kind string

const (
	delay     kind = "delay"
	drop      kind = "drop"
	lose      kind = "lose"
	duplicate kind = "duplicate"
	cut       kind = "cut"
	answer    kind = "answer"
)

// Delay passes the request on after a while. A request may be delayed and have
// something else done to it.
func Delay(d time.Duration) Action { return Action{kind: delay, time: d} }

// Drop breaks the request off; the API server does not see it.
func Drop() Action { return Action{kind: drop} }

// Lose passes the request on and breaks it off when the API server has answered: what
// was to be done is done, and the client does not know.
func Lose() Action { return Action{kind: lose} }

// Duplicate passes the request on twice. The client gets the second answer, as if
// somebody between had lost the first one and tried again.
func Duplicate() Action { return Action{kind: duplicate} }

// Cut passes the request on and breaks the answer off after a while, if it still goes
// on: for watches.
func Cut(after time.Duration) Action { return Action{kind: cut, time: after} }

// Answer answers with the status and does not pass the request on. The body is what
// the API server would write; 429 has the header Retry-After: 1.
func Answer(status int) Action { return Action{kind: answer, status: status} }

// String is how the action is named in [Count].
func (a Action) String() string {
	if a.kind == answer {
		return fmt.Sprintf("answer %d", a.status)
	}
	return string(a.kind)
}

// fits reports whether the rule is for the request.
func (r Rule) fits(info *request.RequestInfo) bool {
	return (len(r.Verbs) == 0 || slices.Contains(r.Verbs, info.Verb)) &&
		(len(r.Resources) == 0 || slices.Contains(r.Resources, resource(info)))
}

// resource is the name of the resource with that of the subresource.
func resource(info *request.RequestInfo) string {
	if info.Subresource != "" {
		return info.Resource + "/" + info.Subresource
	}
	return info.Resource
}

// Count is how often something was done to requests of a verb for a resource.
type Count struct {
	Verb, Resource string // as in Rule.Verbs and Rule.Resources
	Did            string // "pass", or what the action is called
	Times          int    // a request counts for each thing that was done to it
}

// Passed is what [Count] says of requests that were passed on untouched.
const Passed = "pass"
