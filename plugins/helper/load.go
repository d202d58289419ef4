package helper

import (
	"time"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// DefaultLoadAge is how old a report of a node's load may be where the arguments of a plugin
// do not say it: some polls of a watcher that reports every minute may fail.
const DefaultLoadAge = 5 * time.Minute

// FreshLoad returns what was measured on the node, nil where nothing was, or where it is
// older than the age, see [extpoints.CycleState.TooOld].
func FreshLoad(s *extpoints.CycleState, node string, age time.Duration) *model.NodeLoad {
	l := s.View().NodeLoad(node)
	if l == nil || s.TooOld(l.At, age) {
		return nil
	}
	return l
}

// LoadAge is the age to give to [FreshLoad] for that of a plugin's arguments, where 0 is
// [DefaultLoadAge]. To be like scheduler-plugins is to go by reports of any age.
func LoadAge(age time.Duration, compat extpoints.Compat) time.Duration {
	switch {
	case compat == extpoints.KubeScheduler137:
		return 0
	case age == 0:
		return DefaultLoadAge
	}
	return age
}

// CheckLoadAge notes what is wrong with the age of a plugin's arguments.
func CheckLoadAge(p *Problems, age time.Duration) {
	if age < 0 {
		p.Addf("maxAge", "%v is negative", age)
	}
}

// LongestWindow returns the measurement of the resource over the longest window, nil where
// there is none.
func LongestWindow(l *model.NodeLoad, name string) (longest *model.ResourceLoad) {
	if l == nil {
		return nil
	}
	for i := range l.Resources {
		if m := &l.Resources[i]; m.Name == name && (longest == nil || m.Window > longest.Window) {
			longest = m
		}
	}
	return longest
}

// CapacityOf is what the load of a resource on the node is a percentage of.
func CapacityOf(n *model.Node, name string) int64 {
	if amount := n.Capacity.Get(name); amount > 0 {
		return amount
	}
	return n.Allocatable.Get(name)
}

// Part is the number, or the nearest from 0 to 1.
func Part(x float64) float64 { return min(max(x, 0), 1) }
