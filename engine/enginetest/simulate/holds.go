package simulate

import (
	"cmp"
	"fmt"
	"time"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/engine/enginetest/faults"
	"github.com/berth-project/berth/model"
)

// inputHold sets nodes aside for some minutes around now, or takes that back.
func inputHold(s *sim) string {
	ref := model.ObjectRef{Kind: model.HoldKind, ID: fmt.Sprintf("h%d", s.rng.IntN(2))}
	ch := engine.RemoveObject(ref)
	if _, there := s.raw.View().Object(ref); !there || s.chance(30) {
		ch = engine.PutObject(s.newHold(ref.ID))
	}
	what := ch.String()
	s.apply(ch)
	return what
}

func (s *sim) newHold(name string) *model.Hold {
	h := &model.Hold{Name: name, Flex: s.chance(30), From: s.now.Add(time.Duration(s.rng.IntN(180)-60) * time.Second)}
	h.Until = h.From.Add(time.Duration(1+s.rng.IntN(180)) * time.Second)
	for range 1 + s.rng.IntN(3) {
		h.Nodes = append(h.Nodes, faults.NodeName(s.rng.IntN(s.o.Nodes)))
	}
	if s.chance(40) {
		h.Amounts.CPU = 100 * int64(1+s.rng.IntN(20))
	}
	if s.chance(50) {
		h.Users = model.SelectLabels(map[string]string{"app": pickOf(s, simApps)})
	}
	return h
}

// limit gives some workloads a limit, and some of these take a shorter one.
func (s *sim) limit(w *model.Workload) {
	if s.chance(30) {
		w.Limit = time.Duration(1+s.rng.IntN(240)) * time.Second
		if w.MinLimit = 0; s.chance(50) {
			w.MinLimit = 1 + time.Duration(s.rng.Int64N(int64(w.Limit)))
		}
	}
}

// checkHeld: a workload that has just been put on a node runs into no hold on it, and was
// granted no less than it takes.
func (o *observed) checkHeld(row *model.WorkloadRecord) (p problems) {
	limit := row.Limit
	if row.GrantedLimit != 0 {
		if limit = row.GrantedLimit; limit < row.MinLimit || limit >= row.Limit || row.MinLimit == 0 {
			p.add("%s was granted %v, and takes %v to %v", row.ID, limit, row.MinLimit, row.Limit)
		}
	}
	start, end := row.PlacedAt, row.PlacedAt.Add(limit)
	if limit == 0 {
		end = start.Add(1000 * time.Hour)
	}
	node := o.nodes[row.Node]
	for _, h := range o.holds {
		if node == nil || !h.Covers(node) || !start.Before(h.Until) || !h.From.Before(end) {
			continue
		}
		inside := h.Flex || !start.Before(h.From) && !end.After(h.Until)
		switch {
		case h.Users.Matches(row.Labels) && inside:
		case h.Amounts.IsZero():
			p.add("%s was put on %s for %v, which %s holds", row.ID, row.Node, limit, h.Name)
		default:
			p = append(p, o.checkAmounts(row, node, h)...)
		}
	}
	return p
}

// checkAmounts: with a workload that has just been put on a node and whom a hold does not let in there is
// room for what the hold keeps there and was not taken yet, now or when it begins.
func (o *observed) checkAmounts(put *model.WorkloadRecord, node *model.Node, h *model.Hold) (p problems) {
	at := o.at
	if h.From.After(at) {
		at = h.From
	}
	var used, theirs int64
	for _, id := range o.ids {
		row := o.rows[id]
		limit := cmp.Or(row.GrantedLimit, row.Limit)
		end := row.PlacedAt.Add(limit)
		ends := limit > 0 && end.After(o.at) && !end.After(at)
		if row.Node != node.Name || !row.Phase.TakesRoom() || ends {
			continue
		}
		used += row.Requests.CPU
		inside := h.Flex || !row.PlacedAt.Before(h.From) && limit > 0 && !end.After(h.Until)
		if h.Users.Matches(row.Labels) && inside {
			theirs += row.Requests.CPU
		}
	}
	if kept := max(h.Amounts.CPU-theirs, 0); put.Requests.CPU > 0 && used+kept > node.Allocatable.CPU {
		p.add("%s was put on %s, where %d is used and %d is kept by %s", put.ID, node.Name, used, kept, h.Name)
	}
	return p
}
