package simulate

import (
	"math/big"
	"time"

	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/queue"
)

func (p *portion) name() partName {
	if p.queue != nil {
		return partName{queue: p.queue.Name}
	}
	return partName{p.of, p.principal}
}

// remember notes what the engine remembers of the past of parts, which the twin of its books checks.
func (o *observed) remember(levels []queue.Level) {
	o.past = map[partName]map[string]int64{}
	for _, l := range levels {
		o.past[partName{l.Queue, l.Principal}] = l.Past
	}
}

// hadLessBefore reports whether one part of the queue above uses less than it is guaranteed, and another does not, or
// has used less for its weight, for certain: until the next interval of the books ends, for which the order stands, it cannot have used as
// much as the other has even if that decays by half or more.
func (o *observed) hadLessBefore(above *model.Queue, x, y *portion) bool {
	if a, b := o.shareOf(x), o.shareOf(y); a.below != b.below {
		return a.below
	}
	if x.isNamedAsItsQueue() || y.isNamedAsItsQueue() {
		return false
	}
	interval := max(above.HalfLife/2016, time.Second) + time.Second
	most, known := o.usageOf(x, func(past, runs int64) int64 {
		return past + 1 + runs*int64(interval/time.Second+1)
	})
	least, certain := o.usageOf(y, func(past, _ int64) int64 {
		return past >> (interval/above.HalfLife + 1)
	})
	return known && certain && compareShares(most, x.weight, least, y.weight) < 0
}

// isNamedAsItsQueue: what is remembered of those without a principal cannot be told from that of all in the queue.
func (p *portion) isNamedAsItsQueue() bool { return p.queue == nil && p.principal == "" }

// usageOf is the share of the resource of which the part has used most, of amounts that the function has from what
// it had and what runs. False: it has used some of which there is nothing.
func (o *observed) usageOf(p *portion, amount func(past, runs int64) int64) (*big.Rat, bool) {
	past, runs, most := o.past[p.name()], o.usedBy(p), new(big.Rat)
	for _, used := range []map[string]int64{past, runs} {
		for r := range used {
			if most = larger(most, o.shareOfAll(r, amount(past[r], runs[r]))); most == nil {
				return nil, false
			}
		}
	}
	return most, true
}
