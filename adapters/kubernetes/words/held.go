package words

import (
	"fmt"
	"regexp"
	"strconv"

	"github.com/berth-project/berth/adapters/kubernetes/convert"
	"github.com/berth-project/berth/adapters/kubernetes/queueing"
	"github.com/berth-project/berth/queue"
)

// HeldBy says which quota or limit holds pods back, or what is not there that they need. It is
// true for as long as that does.
func HeldBy(h *queue.Held) string {
	switch {
	case h.Absent != "" && h.Queue != "":
		return h.Absent + ", which the namespace's label " + queueing.NamespaceLabel + " names"
	case h.Absent != "":
		return Text(h.Absent)
	case h.Limit != "":
		return fmt.Sprintf("limit %q", h.Limit)
	case h.Quota == queue.QuotaLend:
		return fmt.Sprintf("queue %q: what is left is guaranteed to queue %q", h.Queue, h.Lender)
	}
	return fmt.Sprintf("queue %q: %s", h.Queue, h.Quota)
}

// Held says what holds pods back, and by how much the one with the name is too much: amounts
// are quantities, and what is used over time is in hours, as the configuration has it.
func Held(h *queue.Held, pod string) string {
	if h.Absent != "" {
		return HeldBy(h)
	}
	when := " now"
	if h.Never {
		when = ", whatever else runs"
	}
	return fmt.Sprintf("%s: %q %s%s", HeldBy(h), pod, excess(h), when)
}

// excess says by how much something is too much.
func excess(h *queue.Held) string {
	const hour = 3600
	switch {
	case h.Endless:
		return fmt.Sprintf("has no activeDeadlineSeconds, and the limit is of %s times hours", h.Resource)
	case h.Resource == "":
		return fmt.Sprintf("is %d too many", h.Missing)
	case h.Seconds:
		return fmt.Sprintf("asks for %s %s-hours too much", quantity(h.Resource, h.Missing/hour+min(h.Missing%hour, 1)), h.Resource)
	}
	return fmt.Sprintf("asks for %s %s too much", quantity(h.Resource, h.Missing), h.Resource)
}

func quantity(name string, n int64) string {
	q := convert.Quantity(name, n)
	return q.String()
}

// quoted is a text in quotation marks.
var quoted = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)

// Named is the text with names in the place of the IDs in quotation marks that the function has
// names for; it returns others as they are.
func Named(text string, name func(id string) string) string {
	return quoted.ReplaceAllStringFunc(text, func(q string) string {
		id, err := strconv.Unquote(q)
		if err != nil {
			return q
		}
		return strconv.Quote(name(id))
	})
}
