package job

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// RetryFailed is the end that Retry.On names where it is empty.
const RetryFailed = "failed"

// Counts reports whether an attempt that ended so counts for a retry, were there
// any left. Exit is the exit code, signal the name of the signal that ended it,
// where one did. Ends that are not the job's own doing (NODE_FAIL, PREEMPTED) are
// never covered: they are requeued, unless NoRequeue is set. A Retry that is not
// valid covers nothing by what is wrong in it.
func (r *Retry) Counts(end State, exit int, signal string) bool {
	if len(r.On) == 0 {
		return end == Failed
	}
	for _, on := range r.On {
		if c, err := parseRetryOn(on); err == nil && c.covers(end, exit, signal) {
			return true
		}
	}
	return false
}

// NamesExit reports whether an entry of On names the exit code.
func (r *Retry) NamesExit(code int) bool {
	return slices.ContainsFunc(r.On, func(on string) bool {
		c, err := parseRetryOn(on)
		return err == nil && c.last > 0 && c.covers(Failed, code, "")
	})
}

// retryOn is an entry of Retry.On.
type retryOn struct {
	end State
	// first and last are exit codes, 0 where any will do.
	first, last int
	// signalled: a signal has ended it; signal, where not empty, is which.
	signalled bool
	signal    string
}

func (o retryOn) covers(end State, exit int, signal string) bool {
	switch {
	case end != o.end:
		return false
	case o.last > 0:
		return signal == "" && exit >= o.first && exit <= o.last
	case o.signalled:
		return signal != "" && (o.signal == "" || o.signal == signal)
	}
	return true
}

// parseRetryOn reads an entry of Retry.On.
func parseRetryOn(s string) (retryOn, error) {
	kind, value, hasValue := strings.Cut(s, ":")
	switch {
	case s == RetryFailed:
		return retryOn{end: Failed}, nil
	case s == "oom":
		return retryOn{end: OutOfMemory}, nil
	case s == "timeout":
		return retryOn{end: Timeout}, nil
	case s == "signal":
		return retryOn{end: Failed, signalled: true}, nil
	case kind == "signal" && hasValue:
		return retryOn{end: Failed, signalled: true, signal: value}, CheckSignal(value)
	case kind == "exit" && hasValue:
		firstText, lastText, isRange := strings.Cut(value, "-")
		if !isRange {
			lastText = firstText
		}
		first, err1 := strconv.ParseUint(firstText, 10, 8)
		last, err2 := strconv.ParseUint(lastText, 10, 8)
		if err1 != nil || err2 != nil || first < 1 || last < first {
			return retryOn{}, fmt.Errorf("%s has no exit codes from 1 to 255", quote(s))
		}
		return retryOn{end: Failed, first: int(first), last: int(last)}, nil
	}
	return retryOn{}, fmt.Errorf(`%s is not one of "failed", "exit:N", "exit:N-M", "signal", "signal:NAME", "oom", "timeout"`, quote(s))
}

// validateRetry looks at retries.
func (s *Spec) validateRetry(c *checker) {
	r := &s.Retry
	between(c, "retry.limit", r.Limit, 0, MaxRetries)
	c.atMost("retry.on", len(r.On), MaxConditions, "entries")
	for i, on := range r.On {
		_, err := parseRetryOn(on)
		c.check(fmt.Sprintf("retry.on[%d]", i), err)
	}
	if r.Backoff != nil {
		between(c, "retry.backoff", *r.Backoff, 0, maxTime)
	}
	if r.MaxBackoff != nil {
		between(c, "retry.maxBackoff", *r.MaxBackoff, 0, maxTime)
	}
	backoff, most := r.pauses()
	if backoff > most {
		c.report("retry.backoff", "%s is longer than maxBackoff, %s", backoff, most)
	}
}

// pauses are the pause before the first retry and the longest, with their
// defaults.
func (r *Retry) pauses() (backoff, most Duration) {
	backoff, most = DefaultBackoff, DefaultMaxBackoff
	if r.Backoff != nil {
		backoff = *r.Backoff
		most = max(most, backoff)
	}
	if r.MaxBackoff != nil {
		most = *r.MaxBackoff
		if r.Backoff == nil {
			backoff = min(backoff, most)
		}
	}
	return backoff, most
}
