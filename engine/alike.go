package engine

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"time"

	"github.com/berth-project/berth/engine/internal/decide"
	"github.com/berth-project/berth/extpoints"
)

// classOf is the class of a workload that was rejected, see [queue.Item].Class: that of all for which the
// attempt would have come to the same. Those have in common what the filters go by, and what the order,
// the reservations, the quotas and preemption go by. Empty where there is none.
func (s scheduling) classOf(now time.Time, a *decide.Attempt) string {
	c := a.Lone()
	w := c.Info.Workload
	if !s.strict() || !c.Result.IsRejected() || w.Group != "" || s.rooms.inVain(w.ID, now) ||
		len(w.VolumeClaims)+len(w.Disks)+len(w.DeviceClaims) > 0 {
		return ""
	}
	key := fmt.Appendf(nil, "%q %d %v %d %d %v %v|", c.Framework.Name(), w.Priority, w.MayPreempt(), w.Limit, w.MinLimit, w.Requests, w.Devices)
	if s.cfg.Order == OrderByQueues {
		key = fmt.Appendf(key, "%q %q|", w.Queue, w.Principal)
	}
	key, ok := a.AlikeKey(key)
	if !ok {
		return ""
	}
	sum := sha256.Sum256(key)
	return base64.RawStdEncoding.EncodeToString(sum[:15])
}

// strict reports whether order is: what was rejected keeps its turn.
func (c *core) strict() bool {
	return c.cfg.Compat == extpoints.Improved && (c.plan != nil || c.cfg.Order == OrderByQueues)
}
