package scheduler

import (
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
	"github.com/berth-project/berth/adapters/fleet/state"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/queue"
)

// What has been used is the engine's to remember. A new engine, of another leader or after a
// restart, has it from the records of attempts that have ended, and from when those under way were
// placed: so nothing of it is replicated besides, and a backup has it. What the records have
// forgotten, it has forgotten too.

// pastGrain is how far apart ends of attempts are that count as one.
const pastGrain = time.Hour

// countsPast are the queues whose past counts: those that go by usage or are below one, and all
// where there is a limit over time, which may be of anybody.
func countsPast(v state.View) map[string]bool {
	all := false
	for l := range v.Limits() {
		all = all || !l.Hours.IsZero()
	}
	counts := map[string]bool{}
	for _, q := range v.Queues() {
		counts[q.Name] = all
		for at, depth := q, 0; at != nil && depth < 64; at, depth = v.Queue(at.Parent), depth+1 {
			counts[q.Name] = counts[q.Name] || at.Policy == api.PolicyUsage
		}
	}
	return counts
}

// chargePast tells a new engine what was used.
func (c *Controller) chargePast(v state.View) {
	counts := countsPast(v)
	type key struct {
		queue, owner string
		hour         int64
	}
	type sum struct {
		used  map[string]int64
		until time.Time
	}
	sums := map[key]*sum{}
	var order []key
	now := time.Now()
	for r := range v.RecordsAfter(0) {
		if !counts[r.Queue] || r.Placed.IsZero() || !r.Ended.After(r.Placed) {
			continue
		}
		until := r.Ended
		if until.After(now) {
			until = now
		}
		k := key{r.Queue, r.Owner, until.UnixNano() / int64(pastGrain)}
		s := sums[k]
		if s == nil {
			s = &sum{used: map[string]int64{}}
			sums[k] = s
			order = append(order, k)
		}
		if until.After(s.until) {
			s.until = until
		}
		millis := float64(r.Ended.Sub(r.Placed).Milliseconds()) * float64(r.Tasks)
		for name, n := range requested(&r.Requested) {
			if used := float64(n) * millis / 1000; used < math.MaxInt64/2 && s.used[name] < math.MaxInt64/2 {
				s.used[name] += int64(used)
			}
		}
	}
	for _, k := range order {
		c.ownerNamed(v, k.owner)
		c.change(engine.ChargeUsage(k.queue, userPrincipal(k.owner), sums[k].used, sums[k].until))
	}
}

// requested are the amounts that a task requests, by the engine's names of resources.
func requested(r *job.Resources) map[string]int64 {
	out := map[string]int64{model.CPU: int64(r.CPU), model.Memory: int64(r.Memory), model.EphemeralStorage: int64(r.Disk)}
	maps.Copy(out, r.Other)
	if g := r.GPUs; g != nil {
		of := model.DeviceRequest{Class: gpuClass, Count: g.Count, Share: g.Share}
		out[gpuClass] = of.Total()
	}
	maps.DeleteFunc(out, func(_ string, n int64) bool { return n <= 0 })
	return out
}

// Usage says what has been used, by queue and user (empty for the queue itself): of those whose
// queue, or the one above it, goes by usage. It is nil where none does.
func (c *Controller) Usage() map[[2]string]api.PastUse {
	levels := c.eng.Load().Queues()
	if !slices.ContainsFunc(levels, func(l queue.Level) bool { return l.PastCapacity != 0 }) {
		return nil
	}
	out := map[[2]string]api.PastUse{}
	for i := range levels {
		if u, any := usageOf(&levels[i]); any {
			out[[2]string{levels[i].Queue, userName(&levels[i])}] = u
		}
	}
	return out
}

func userName(l *queue.Level) string { return strings.TrimPrefix(l.Principal, userPrincipal("")) }

// usageOf is what a part of the tree has used of the resource that counts.
func usageOf(l *queue.Level) (api.PastUse, bool) {
	n := float64(l.Past[l.PastOf])
	byPrices := l.PastOf == "" && n > 0
	if l.PastOf == "" && !byPrices {
		return api.PastUse{}, false
	}
	u := api.PastUse{Of: l.PastOf}
	if l.PastCapacity > 0 {
		u.Fleet = n / float64(l.PastCapacity)
	}
	switch {
	case byPrices:
		u.Of = api.OfPrices
		n /= float64(pricesPer)
	case l.PastOf == model.CPU, l.PastOf == gpuClass:
		n /= 1000
	}
	u.Raw = n
	return u, true
}
