package scheduler

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/berth-project/berth/adapters/fleet/job"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/queue"
)

// Where the order is by queues, these are the fleet's words for what holds jobs back in it.

// turn says why an attempt waits that the order by queues holds back, by its position;
// false where it does not.
func turn(p *queue.Position) (job.Reason, string, bool) {
	switch {
	case p.Place == queue.Gated && p.GatingPlugin == queue.QueuesGate && p.Gate != nil:
		return job.ReasonBadConstraints, neverWords(p), true
	case p.Standing != nil && p.Standing.Held != nil:
		return job.ReasonQueueLimit, heldWords(p.Standing.Held), true
	}
	return job.ReasonNone, "", false
}

// heldWords says what holds a part of the order back.
func heldWords(h *queue.Held) string {
	if h.Absent != "" {
		return "the scheduler says: " + h.Absent
	}
	over := fmt.Sprintf("job %s is %s too many now", jobNumber(h.Workload), counted(strconv.FormatInt(h.Missing, 10), "task"))
	if h.Resource != "" {
		amount := amountWords(h.Resource, h.Missing)
		if h.Seconds {
			amount = hourWords(h.Resource, h.Missing)
		}
		over = fmt.Sprintf("job %s asks for %s too much now", jobNumber(h.Workload), amount)
	}
	switch {
	case h.Limit != "":
		return "limit " + nameOfLimit(h.Limit) + ": " + over
	case h.Quota == queue.QuotaLend:
		return fmt.Sprintf("queue %s: what is left is guaranteed to queue %s: %s", h.Queue, h.Lender, over)
	case h.Quota == queue.QuotaBorrow:
		return fmt.Sprintf("queue %s may borrow no more: %s", h.Queue, over)
	}
	return fmt.Sprintf("queue %s may use no more: %s", h.Queue, over)
}

// jobNumber is the number of the job whose task or group it is.
func jobNumber(id string) string {
	number, _, _ := strings.Cut(id, "_")
	return number
}

// amountWords is an amount in the engine's unit as people write it.
func amountWords(resource string, n int64) string {
	switch resource {
	case model.CPU:
		return counted(strconv.FormatFloat(float64(n)/1000, 'f', -1, 64), "core")
	case model.Memory:
		return bytesWords(n) + " memory"
	case model.EphemeralStorage:
		return bytesWords(n) + " disk"
	case gpuClass:
		return counted(strconv.FormatFloat(float64(n)/float64(model.WholeDevice), 'f', -1, 64), "GPU")
	}
	return fmt.Sprintf("%d %s", n, resource)
}

// bytesWords is an amount of bytes that is missing: rounded up where the exact one is long.
func bytesWords(n int64) string {
	return shortBytes(n, func(size int64) int64 { return (n-1)/size*size + size })
}

// bytesThere is an amount of bytes that is there: rounded down where the exact one is long.
func bytesThere(n int64) string {
	return shortBytes(n, func(size int64) int64 { return n / size * size })
}

// shortBytes is an amount of bytes, the exact one where that is short, as most are that users write, else
// what round makes of it, to the smallest unit that makes it short.
func shortBytes(n int64, round func(size int64) int64) string {
	const short = len("1234567")
	text := job.Bytes(n).String()
	for size := int64(1 << 10); len(text) > short; size <<= 10 {
		text = job.Bytes(round(size)).String()
	}
	return text
}

// hourWords is an amount times seconds, in hours and rounded up to thousandths.
func hourWords(resource string, n int64) string {
	each, unit := float64(secondsInHour), resource
	switch resource {
	case model.CPU:
		each, unit = 1000*each, "core"
	case model.Memory, model.EphemeralStorage:
		each, unit = each*(1<<30), "GiB"
		if resource == model.EphemeralStorage {
			unit = "disk GiB"
		}
	case gpuClass:
		each, unit = float64(model.WholeDevice)*each, "GPU"
	}
	return strconv.FormatFloat(math.Ceil(float64(n)/each*1000)/1000, 'f', -1, 64) + " " + unit + "-hours"
}

// counted is a number with its noun.
func counted(n, noun string) string {
	if n == "1" {
		return n + " " + noun
	}
	return n + " " + noun + "s"
}

// neverWords says that a job can never have its turn as queues and limits are.
func neverWords(p *queue.Position) string {
	h := p.Refused
	switch {
	case h == nil: // the definitions have just changed
		return "the scheduler says: " + strings.Join(p.Gate.Reasons(), "; ")
	case h.Absent != "":
		return heldWords(h)
	case h.Limit != "":
		return fmt.Sprintf("it asks for more than limit %s ever allows", nameOfLimit(h.Limit))
	}
	return fmt.Sprintf("it asks for more than queue %s ever allows", h.Queue)
}

// nameOfLimit is the name that the limit was made under: each of its kinds is one of the engine's.
func nameOfLimit(id string) string {
	name, _, _ := strings.Cut(id, "/")
	return name
}
