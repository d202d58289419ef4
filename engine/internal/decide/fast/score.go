package fast

import (
	"math/bits"
	"slices"

	"github.com/berth-project/berth/engine/internal/framework"
	"github.com/berth-project/berth/engine/internal/snapshot"
)

// Best is what scoring has found: the nodes that share the highest total.
type Best struct {
	Total int64
	Ties  int // how many there are, at least one
	Skips framework.Skips

	spans []span
	at    []uint64 // by span, which of its nodes they are
}

// Score finds the best of the feasible nodes, of which there are some. It reports false where
// that is for the reference to say.
func (f *Found) Score(plugins Plugins, out *Best) bool {
	if !f.class.learn(f, plugins) {
		return false
	}
	*out = Best{Skips: f.class.skips, spans: f.spans, at: out.at[:0]}
	offset, ran, ok := f.addApart(plugins)
	if !ok {
		return false
	}
	out.Skips = out.Skips.Without(ran)
	if len(f.lists.totals) > 0 {
		f.ties(f.lists.totals, out)
	} else {
		f.bestOfSpans(out)
	}
	out.Total += offset
	return true
}

// bestOfSpans finds the nodes with the highest total of those that the class knows.
func (f *Found) bestOfSpans(out *Best) {
	for i := range f.spans {
		s := &f.spans[i]
		best, at := s.bestOfMask(s.feasible)
		if at != 0 && (out.Ties == 0 || best > out.Total) {
			clear(out.at)
			out.Total, out.Ties = best, 0
		}
		if best != out.Total {
			at = 0
		}
		out.at = append(out.at, at)
		out.Ties += bits.OnesCount64(at)
	}
}

// bestOfMask is the best total of the nodes, and which of them have it.
func (b *block) bestOfMask(mask uint64) (best int64, at uint64) {
	if b.bestOf == mask && mask != 0 {
		return b.best, b.atBest
	}
	for rest := mask; rest != 0; rest &= rest - 1 {
		k := bits.TrailingZeros64(rest)
		switch total := b.totals[k]; {
		case at == 0 || total > best:
			best, at = total, 1<<k
		case total == best:
			at |= 1 << k
		}
	}
	if mask == b.ok { // most searches take all of a block
		b.best, b.atBest, b.bestOf = best, at, mask
	}
	return best, at
}

// learn asks for the scores of the feasible nodes that are not known.
func (c *Class) learn(f *Found, plugins Plugins) bool {
	nodes := f.lists.nodes[:0]
	for i := range f.spans {
		s := &f.spans[i]
		for missing := s.feasible &^ s.scored; missing != 0; missing &= missing - 1 {
			nodes = append(nodes, s.infos[bits.TrailingZeros64(missing)])
		}
	}
	if len(nodes) == 0 {
		return true
	}
	f.lists.nodes = nodes
	scores, skips, ok := plugins.Score(nodes)
	c.holds.narrow(plugins.Ages())
	if !ok || c.hasSkips && skips != c.skips {
		return false
	}
	c.skips, c.hasSkips = skips, true
	normalized := plugins.Normalized()
	totals, ok := c.sum(plugins, scores, len(nodes))
	if !ok {
		return false
	}
	n := 0
	for i := range f.spans {
		s := &f.spans[i]
		b := s.block
		for missing := s.feasible &^ s.scored; missing != 0; missing &= missing - 1 {
			k := bits.TrailingZeros64(missing)
			b.totals[k] = totals[n]
			if len(b.raw) < len(normalized) {
				b.raw = make([][snapshot.BlockSize]int64, len(normalized))
				b.same = make([]uint64, len(normalized))
			}
			clear(b.same)
			for j, p := range normalized {
				if !skips.Score(p) {
					b.raw[j][k] = scores.Normalized[p][n]
				}
			}
			b.scored |= 1 << k
			b.bestOf = 0
			n++
		}
	}
	return true
}

// sum adds up the weighted scores of the plugins that do not normalise. It reports false where
// one is out of range.
func (c *Class) sum(plugins Plugins, scores *framework.Scores, n int) ([]int64, bool) {
	totals := scores.Totals[:n]
	normalized := plugins.Normalized()
	for p, weight := range plugins.Weights() {
		if len(normalized) > 0 && normalized[0] == p {
			normalized = normalized[1:]
			continue
		}
		if c.skips.Score(p) {
			continue
		}
		for i, score := range scores.Normalized[p][:n] {
			if !framework.InRange(score) {
				return nil, false
			}
			totals[i] += score * weight
		}
	}
	return totals, true
}

// ties finds the feasible nodes that have the highest total.
func (f *Found) ties(totals []int64, out *Best) {
	out.Total = slices.Max(totals)
	rank := 0
	for i := range f.spans {
		var at uint64
		for rest := f.spans[i].feasible; rest != 0; rest &= rest - 1 {
			if totals[rank] == out.Total {
				at |= rest & -rest
			}
			rank++
		}
		out.at = append(out.at, at)
		out.Ties += bits.OnesCount64(at)
	}
}
