package queue

import (
	"fmt"
	"math/big"
	"slices"

	"github.com/berth-project/berth/model"
	ledgers "github.com/berth-project/berth/queue/share"
)

// twinUsage is what the parts of a queue have used, by part and resource: what runs is counted
// anew after each step. Ledgers themselves have tests of their own.
type twinUsage struct {
	ledger  *ledgers.Ledger
	numbers map[string]int
}

// remember counts what runs from now on.
func (t *orderTwin) remember(tick int64) {
	t.tick = tick
	for name := range t.usage {
		if q := t.queues[name]; q == nil || q.Policy != model.OrderUsage {
			delete(t.usage, name)
		}
	}
	for name, q := range t.queues {
		if q.Policy != model.OrderUsage {
			continue
		}
		u := t.usage[name]
		if u == nil {
			ledger, err := ledgers.NewLedger(q.HalfLife.Milliseconds(), tick, 0)
			if err != nil {
				panic(err)
			}
			u = &twinUsage{ledger, map[string]int{}}
			t.usage[name] = u
		}
		if err := u.ledger.Advance(tick); err != nil {
			panic(err)
		}
		rates := map[string]int64{}
		for _, w := range t.running {
			queues, _ := t.above(w)
			at := slices.Index(queues, q)
			if at < 0 {
				continue
			}
			part := "principal " + w.Principal
			if at > 0 {
				part = "queue " + queues[at-1].Name
			}
			for _, r := range twinResources {
				rates[part+" "+r] += requested(w, r)
			}
		}
		if len(q.Prices) > 0 {
			rates = priced(q.Prices, rates, u.numbers)
		}
		for key := range rates {
			if _, known := u.numbers[key]; !known {
				u.numbers[key] = u.ledger.AddPrincipal()
			}
		}
		for key, n := range u.numbers {
			if change := rates[key] - u.ledger.Rate(n); change != 0 {
				if err := u.ledger.AddRate(n, tick, change); err != nil {
					panic(err)
				}
			}
		}
	}
}

// priced makes one rate of all resources of a part.
func priced(prices, rates map[string]int64, known map[string]int) map[string]int64 {
	parts := map[string]bool{}
	for key := range rates {
		parts[key[:len(key)-len(lastWord(key))]] = true
	}
	cost := map[string]int64{}
	for part := range parts {
		for r, price := range prices {
			each := int64(1)
			switch r {
			case model.CPU:
				each = 1000
			case model.Memory:
				each = 1 << 30
			}
			cost[part] += rates[part+r] * price * 1000 / each
		}
	}
	return cost
}

func lastWord(key string) string {
	for i := len(key) - 1; ; i-- {
		if key[i] == ' ' {
			return key[i+1:]
		}
	}
}

// past is what the part of the queue will have used, over its weight, by the end of the next
// interval. Running may hold more than what is remembered, as a look ahead has it.
func (t *orderTwin) past(of, p twinPart, weight int64) twinShare {
	q := t.queues[of.queue]
	u := t.usage[of.queue]
	grain := max(q.HalfLife.Milliseconds()/2016, 1000)
	from := u.ledger.Renewed()
	since := from + (t.tick-from)/grain*grain
	until := since + 2*grain
	part := "principal " + p.principal
	in := func(w *model.Workload) bool { return t.queueOf(w) == of.queue && w.Principal == p.principal }
	if p.principal == "" && p.key == nil {
		part, in = "queue "+p.queue, t.within(p.queue)
	}
	usedBy := func(key string, now int64) *big.Rat {
		n, known := u.numbers[key]
		if !known {
			n = -1
		} else {
			now -= u.ledger.Rate(n)
		}
		total := u.ledger.TotalBy(n, until, now, since)
		used, ok := new(big.Rat).SetString(total.String())
		if !ok {
			panic(fmt.Sprint(total))
		}
		return used
	}
	rates := map[string]int64{}
	for _, r := range twinResources {
		rates[part+" "+r] = t.used(r, in)
	}
	most := new(big.Rat)
	if len(q.Prices) > 0 {
		for key, now := range priced(q.Prices, rates, nil) {
			most = usedBy(key, now)
		}
	} else {
		for _, r := range twinResources {
			used := usedBy(part+" "+r, rates[part+" "+r])
			if used.Sign() == 0 {
				continue
			}
			capacity := t.capacity(r)
			if capacity == 0 {
				return twinShare{}
			}
			if used.Quo(used, big.NewRat(capacity, 1)); used.Cmp(most) > 0 {
				most = used
			}
		}
	}
	return twinShare{most.Quo(most, big.NewRat(max(weight, 1), 1))}
}

// within is in, also where queues above are not there.
func (t *orderTwin) within(queue string) func(*model.Workload) bool {
	return func(w *model.Workload) bool {
		list, _ := t.above(w)
		return slices.ContainsFunc(list, func(q *model.Queue) bool { return q.Name == queue })
	}
}
