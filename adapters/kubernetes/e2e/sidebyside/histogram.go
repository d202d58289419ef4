package sidebyside

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// attemptMetric is how long attempts take, by result.
const attemptMetric = "scheduler_scheduling_attempt_duration_seconds"

// attempts reads from a scheduler's metrics how long attempts took that placed a pod:
// the median, and what one in a hundred exceeds. Between the bounds of a bucket it is
// read off a line.
func attempts(text string) (p50, p99 time.Duration, err error) {
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(text))
	if err != nil {
		return 0, 0, fmt.Errorf("read the metrics: %w", err)
	}
	family := families[attemptMetric]
	if family == nil {
		return 0, 0, errors.New("there is no metric " + attemptMetric)
	}
	for _, m := range family.Metric {
		for _, l := range m.Label {
			if l.GetName() == "result" && l.GetValue() == "scheduled" {
				return quantile(m.Histogram, 0.5), quantile(m.Histogram, 0.99), nil
			}
		}
	}
	return 0, 0, errors.New("no attempt has placed a pod")
}

func quantile(h *dto.Histogram, q float64) time.Duration {
	want := q * float64(h.GetSampleCount())
	lower, below := 0.0, 0.0
	for _, b := range h.Bucket {
		upper, count := b.GetUpperBound(), float64(b.GetCumulativeCount())
		if count >= want && count > below {
			if math.IsInf(upper, 1) {
				break
			}
			return time.Duration((lower + (upper-lower)*(want-below)/(count-below)) * float64(time.Second))
		}
		lower, below = upper, count
	}
	return time.Duration(lower * float64(time.Second))
}
