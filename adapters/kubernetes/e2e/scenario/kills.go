package scenario

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/berth-project/berth/adapters/kubernetes/e2e/controlplane"
	"github.com/berth-project/berth/model/modeltest"
)

// kills is about schedulers that are killed, again and again. It takes a minute and a
// half on two cores, and is not left out of short runs.
var kills = []Scenario{
	{Name: "kills/a hundred at random moments leave nothing undone", Run: killedAtRandom},
}

const (
	killTimes = 100
	// killStarting is the time within which one that starts is killed, and killBindings
	// the most bindings that one is left to do.
	killStarting = time.Second
	killBindings = 30
)

func killedAtRandom(t *testing.T, e *Env) {
	seed := modeltest.Seed(t)
	c := newChurn(t, e, seed)
	c.begin(t)
	random := rand.New(rand.NewPCG(seed, 0))
	idle := 0
	for range killTimes {
		before := c.Bindings()
		killOne(t, c, random)
		if c.Bindings() == before {
			idle++
		}
	}
	c.end(t)
	t.Logf("%d schedulers were killed, %d of them before they bound a pod; %d pods were bound", killTimes, idle, c.Bindings())
	e.Schedule(t, "")
	c.settle(t)
}

// killOne starts a scheduler and kills it, while it starts, or when it has bound some
// pods.
func killOne(t *testing.T, c *churn, random *rand.Rand) {
	t.Helper()
	s, err := controlplane.RunScheduler(t.Context(), controlplane.SchedulerOptions{
		Kind: c.Kind, Kubeconfig: c.Plane.Kubeconfig(controlplane.SchedulerUser),
	})
	must(t, err)
	defer s.Remove()
	if random.IntN(3) == 0 {
		timer := time.NewTimer(time.Duration(random.Int64N(int64(killStarting))))
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-t.Context().Done():
		}
	} else {
		enough := c.Bindings() + 1 + random.IntN(killBindings)
		c.Await(t, "the scheduler binds pods", func() error {
			if n := c.Bindings(); n < enough {
				return fmt.Errorf("%d are bound, want %d\n%s", n, enough, s.Tail(logLines))
			}
			return nil
		})
	}
	s.Kill()
	code, err := s.Wait(t.Context())
	if portTaken := strings.Contains(s.Log(), "address already in use"); (err != nil || code != -1) && !portTaken {
		t.Fatalf("it ended by itself, with exit code %d, error %v\n%s", code, err, s.Tail(logLines))
	}
}
