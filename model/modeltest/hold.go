package modeltest

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/berth-project/berth/model"
)

// RandomHold returns a valid hold of an hour or less around the beginning of 2026,
// sometimes without a beginning or an end.
func RandomHold(r *rand.Rand) *model.Hold {
	h := &model.Hold{
		Name:  fmt.Sprintf("h%d", r.IntN(10)),
		From:  randomTime(r),
		Users: maybe(r, RandomSelector(r)),
		Flex:  r.IntN(2) == 0,
	}
	if r.IntN(3) == 0 {
		h.Amounts = RandomResources(r)
	}
	if r.IntN(4) > 0 {
		h.Until = h.From.Add(1 + time.Duration(r.Int64N(int64(time.Hour))))
	}
	if r.IntN(3) == 0 {
		h.NodeTerms = &model.NodeTerms{}
		for range 1 + r.IntN(2) {
			h.NodeTerms.Terms = append(h.NodeTerms.Terms, RandomNodeTerm(r))
		}
	}
	if h.NodeTerms == nil || r.IntN(2) == 0 {
		for range 1 + r.IntN(3) {
			h.Nodes = append(h.Nodes, nodeName(r.IntN(50)))
		}
	}
	return h
}
