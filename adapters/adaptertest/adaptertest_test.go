package adaptertest_test

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/berth-project/berth/adapters/adaptertest"
)

func TestMain(m *testing.M) { os.Exit(adaptertest.Main(m)) }

func TestSoundToy(t *testing.T) {
	adaptertest.Run(t, newToy(none))
}

func TestSoundToyInBubble(t *testing.T) {
	adaptertest.RunInBubble(t, newToy(none))
}

// caught says which checks must find each sin. Others may find it too.
var caught = []struct {
	sin    sin
	checks []string
}{
	{bindsAgain, []string{"BindTwice", "BindConcurrently", "Storm"}},
	{refusesAgain, []string{"BindTwice", "BindConcurrently"}},
	{bindsElsewhere, []string{"BindElsewhere"}},
	{lies, []string{"Place"}},
	{bindsLate, []string{"BindEnded"}},
	{bindsToTheDead, []string{"NodeDiesWhileBinding"}},
	{neverConfirms, []string{"Place"}},
	{confirmsWrongly, []string{"Place"}},
	{losesEvictions, []string{"Evict", "EvictTwice"}},
	{refusesEvictions, []string{"Evict", "EvictTwice"}},
	{evictsMore, []string{"EvictTwice"}},
	{freesEarly, []string{"Evict"}},
	{panicsOnEvict, []string{"EvictTwice"}},
	{ignoresEnds, []string{"Finish", "Evict"}},
	{startsFinished, []string{"Finish"}},
	{ignoresDeadNodes, []string{"NodeDies"}},
	{losesTheDead, []string{"NodeDies", "NodeReturns"}},
	{ignoresNewNodes, []string{"Place", "RestartAfterChanges"}},
	{adoptsNothing, []string{"Restart", "RestartAfterChanges"}},
	{submitsRunning, []string{"Restart"}},
	{losesWaiting, []string{"Place", "Restart"}},
	{neverEnds, []string{"Place", "Drain"}},
	{stopsAtOnce, []string{"Drain"}},
	{deniesWrites, []string{"Devices"}},
	{reportsOldClaims, []string{"Devices"}},
}

// TestBrokenToys proves that the kit finds what is wrong.
func TestBrokenToys(t *testing.T) {
	checks := adaptertest.Checks()
	for _, c := range caught {
		t.Run(strings.ReplaceAll(string(c.sin), " ", "_"), func(t *testing.T) {
			for _, name := range c.checks {
				i := slices.IndexFunc(checks, func(check adaptertest.Check) bool { return check.Name == name })
				if i < 0 {
					t.Fatalf("there is no check %q", name)
				}
				synctest.Test(t, func(t *testing.T) {
					r := &recorder{}
					r.run(func() { checks[i].Run(r, newToy(c.sin)) })
					if len(r.failures) == 0 {
						t.Errorf("check %s passes an adapter that %s", name, c.sin)
					}
					for _, f := range r.failures {
						t.Logf("%s: %s", name, f)
					}
				})
			}
		})
	}
}

// That names are missing is said at once, and not when each check has waited in vain.
func TestMissingNamesAreSaidAtOnce(t *testing.T) {
	for _, check := range adaptertest.Checks() {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			r := &recorder{}
			r.run(func() { check.Run(r, newToy(dropsNames)) })
			if len(r.failures) == 0 || !strings.Contains(r.failures[0], "without its Name") || r.failed.Sub(began) > time.Second {
				t.Errorf("check %s says after %v: %q", check.Name, r.failed.Sub(began), r.failures)
			}
		})
	}
}

// TestChecksSayWhatTheyProve: the list is also documentation.
func TestChecksSayWhatTheyProve(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range adaptertest.Checks() {
		if c.Name == "" || c.Proves == "" || seen[c.Name] {
			t.Errorf("check %q: proves %q, want a name of its own and words", c.Name, c.Proves)
		}
		seen[c.Name] = true
	}
}

// recorder is a TB that writes failures down.
type recorder struct {
	mu       sync.Mutex
	failures []string
	failed   time.Time // when there was a failure for the first time
	cleanups []func()
}

// run runs f, and then the cleanups, as the testing package would.
func (r *recorder) run(f func()) {
	apart := func(f func()) {
		done := make(chan struct{})
		go func() {
			defer close(done)
			f()
		}()
		<-done
	}
	apart(f)
	for _, cleanup := range slices.Backward(r.cleanups) {
		apart(cleanup)
	}
}

func (*recorder) Helper() {}

func (*recorder) Logf(string, ...any) {}

func (r *recorder) Errorf(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.failed.IsZero() {
		r.failed = time.Now()
	}
	r.failures = append(r.failures, fmt.Sprintf(format, args...))
}

func (r *recorder) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	runtime.Goexit()
}

func (r *recorder) Cleanup(f func()) { r.cleanups = append(r.cleanups, f) }
