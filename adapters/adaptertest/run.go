package adaptertest

import (
	"testing"
	"testing/synctest"
)

// Check proves one thing.
type Check struct {
	// Name is the subtest's name.
	Name string
	// Proves says, in words, what an adapter that passes does.
	Proves string

	run func(w *world)
}

// Run proves the adapter: it runs every check as a subtest of its own, in real
// time. The checks wait for what they expect and do not sleep; one that waits
// for half a minute in vain fails.
func Run(t *testing.T, newHarness NewHarness) {
	t.Helper()
	for _, c := range Checks() {
		t.Run(c.Name, func(t *testing.T) { c.Run(t, newHarness) })
	}
}

// RunInBubble is Run for adapters whose whole world is in this process: each
// check runs in a bubble of [testing/synctest], where time passes only when
// nothing else is to do. So a run takes no time, and goroutines that outlive
// their check are found.
func RunInBubble(t *testing.T, newHarness NewHarness) {
	t.Helper()
	for _, c := range Checks() {
		t.Run(c.Name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { c.Run(t, newHarness) })
		})
	}
}

// Run runs the check on a new harness. It calls tb.Fatalf or tb.Errorf if what
// the check proves is not so, and may be called on any goroutine that Fatalf
// may end.
func (c Check) Run(tb TB, newHarness NewHarness) {
	tb.Helper()
	w := newWorld(tb, newHarness)
	c.run(w)
	w.settled()
}

// Checks lists the checks in the order in which Run runs them: first what is
// easily understood, so that the first failure is the one to look at.
func Checks() []Check {
	return []Check{
		{"Place", "what waits is started, whenever it and its node came", checkPlace},
		{"Finish", "a run that ends frees its room, and is not started again", checkFinish},
		{"BindTwice", "Bind may be called again for what runs: it succeeds, and starts nothing", checkBindTwice},
		{"BindElsewhere", "Bind to another node of what runs already fails, and starts nothing", checkBindElsewhere},
		{"BindConcurrently", "of calls of Bind at the same time one starts the workload, and all succeed", checkBindConcurrently},
		{"BindEnded", "Bind with a context that has ended answers at once, and truly", checkBindEnded},
		{"BindFails", "a bind that failed is tried again, and its room is free meanwhile", checkBindFails},
		{"BindAnswerLost", "a workload that was started although Bind failed is found, and started once", checkBindAnswerLost},
		{"BindErrors", "no kind of failure, panics included, loses a workload or starts it twice", checkBindErrors},
		{"Evict", "an evicted workload leaves, and then its room is used", checkEvict},
		{"EvictTwice", "Evict may be called again, also for what has left, and hurts nobody else", checkEvictTwice},
		{"EvictWhileBinding", "an eviction asked for while the bind is under way is made when it is done", checkEvictWhileBinding},
		{"NodeDies", "what ran on a node that disappears is started on another", checkNodeDies},
		{"NodeReturns", "a node that comes back under its name is used again", checkNodeReturns},
		{"NodeDiesWhileBinding", "a bind to a node that has gone fails, and the workload goes elsewhere", checkNodeDiesWhileBinding},
		{"Restart", "a new engine adopts what runs, also what was just being bound, and starts the rest", checkRestart},
		{"RestartAfterChanges", "a new engine learns what happened while there was none", checkRestartAfterChanges},
		{"SlowBinds", "while Config.MaxBindings binds are under way no other begins", checkSlowBinds},
		{"Drain", "an engine that stops lets binds under way finish", checkDrain},
		{"DrainTimeout", "a bind that takes too long at the end is cancelled with engine.ErrStopped", checkDrainTimeout},
		{"Devices", "what is written for a workload that is not bound is not given to another; see DeviceHarness", checkDevices},
		{"Storm", "many at once, with every fault in between, all end up running once", checkStorm},
	}
}
