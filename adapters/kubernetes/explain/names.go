package explain

import (
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// names says which names objects can have, and makes them up for those that have none, pods that
// are made of templates among them: names that the body gives are theirs, wherever they stand in it.
type names struct {
	taken map[string]bool    // by nameKey: by the body, and those that have been made up
	sets  map[string]numbers // by nameKey: the numbers of a stateful set's pods
	last  map[string]int     // by nameKey of what they begin with: the last number that was tried
	// isMade reports whether the cluster has pods of what would have the name, which is not made up then.
	isMade func(kind, namespace, name string) bool
}

// numbers are those from first on that are less than end.
type numbers struct{ first, end int }

func newNames() names {
	return names{taken: map[string]bool{}, sets: map[string]numbers{}, last: map[string]int{}}
}

func nameKey(kind, namespace, name string) string { return kind + " " + namespace + "/" + name }

// generate makes up a name, as long as the API server's can be before its random end.
//
// Rule: apiserver pkg/storage/names/generate.go (MaxGeneratedNameLength), v0.37.1.
func (n *names) generate(kind, namespace, prefix string) string {
	prefix = prefix[:min(len(prefix), maxPrefix)]
	from := nameKey(kind, namespace, prefix)
	for {
		n.last[from]++
		name := prefix + strconv.Itoa(n.last[from])
		if key := nameKey(kind, namespace, name); !n.taken[key] && !n.isInSet(key) && !n.isMade(kind, namespace, name) {
			n.taken[key] = true
			return name
		}
	}
}

// maxPrefix is how long what a generated name begins with can be, and randomEnd how long its end is.
const maxPrefix, randomEnd = 58, 5

// isInSet reports whether the key is that of a pod of a stateful set.
func (n *names) isInSet(key string) bool {
	dash := strings.LastIndexByte(key, '-')
	if dash < 0 {
		return false
	}
	set, known := n.sets[key[:dash]]
	number, err := strconv.Atoi(key[dash+1:])
	return known && err == nil && set.first <= number && number < set.end
}

// takeSet keeps for the pods of a stateful set their names. One that has too many is refused.
func (n *names) takeSet(namespace string, w *owner) {
	if w.count <= maxPods {
		n.sets[nameKey("Pod", namespace, w.name)] = numbers{w.first, w.first + int(w.count)}
	}
}

// checkName reports a name that the API server would not take.
//
// Rules: kube-apiserver pkg/apis/apps/validation/validation.go (ValidateStatefulSetName) and
// pkg/apis/batch/validation/validation.go (ValidateJobCreate, ValidateCronJobCreate), 1.37.1. Others
// of the kinds that are known have names that are subdomains.
func (p *problems) checkName(at place, kind string, m *metav1.ObjectMeta) {
	check := validation.NameIsDNSSubdomain
	if kind == "StatefulSet" {
		check = validation.NameIsDNSLabel
	}
	switch {
	case m.Name == "" && m.GenerateName == "":
		p.add(at.field("metadata.name"), "is missing")
	case m.Name == "":
		p.addEach(at.field("metadata.generateName"), check(m.GenerateName, true))
	default:
		p.addEach(at.field("metadata.name"), check(m.Name, false))
	}
	most := map[string]int{"Job": 63, "CronJob": 52}[kind]
	switch {
	case most == 0:
	case len(m.Name) > most:
		p.add(at.field("metadata.name"), "must be no more than %d characters", most)
	case m.Name == "" && min(len(m.GenerateName), maxPrefix)+randomEnd > most:
		p.add(at.field("metadata.generateName"), "must be no more than %d characters: the API server adds %d", most-randomEnd, randomEnd)
	}
	if m.Namespace != "" {
		p.addEach(at.field("metadata.namespace"), validation.ValidateNamespaceName(m.Namespace, false))
	}
}

// checkLastName reports a name, which may be made up, with which the name of the last of the pods that are named
// by number would not be one of a host.
//
// Rule: kube-apiserver pkg/apis/batch/validation/validation.go (validateNameAllowsCompletions), 1.37.1.
func (p *problems) checkLastName(at place, kind, name, last string) {
	switch {
	case len(name) > maxHost:
	case len(last) > maxHost:
		p.add(at.field("metadata.name"), "is too long: its last pod would be %q, and a pod that is named by number can have %d characters", last, maxHost)
	case strings.Contains(last, ".") && kind == "Job":
		p.add(at.field("metadata.name"), "must not contain dots: its last pod would be the host %q", last)
	}
}

// maxHost is how long the name of a host can be.
const maxHost = 63
