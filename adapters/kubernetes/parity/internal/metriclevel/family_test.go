package metriclevel

import (
	"fmt"
	"slices"
	"strings"

	dto "github.com/prometheus/client_model/go"
)

// family is what dashboards and alerts rely on of a metric. The help has the
// level in front.
type family struct {
	kind, help string
	labels     []string
	buckets    []float64
}

// families are the metrics that have series, by name; those whose names begin
// with none of the prefixes are left out.
func families(gathered []*dto.MetricFamily, prefixes ...string) map[string]family {
	all := map[string]family{}
	for _, f := range gathered {
		if !slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(f.GetName(), p) }) {
			continue
		}
		one := family{kind: f.GetType().String(), help: f.GetHelp()}
		for _, l := range f.Metric[0].Label {
			one.labels = append(one.labels, l.GetName())
		}
		for _, b := range f.Metric[0].GetHistogram().GetBucket() {
			one.buckets = append(one.buckets, b.GetUpperBound())
		}
		all[f.GetName()] = one
	}
	return all
}

// values are the values of series: of histograms the number of observations, and
// their sum where it is no time.
func values(gathered []*dto.MetricFamily, names []string) map[string]float64 {
	all := map[string]float64{}
	for _, f := range gathered {
		if !slices.Contains(names, f.GetName()) {
			continue
		}
		for _, m := range f.Metric {
			key := f.GetName() + labels(m)
			switch {
			case m.Histogram != nil:
				all[key] = float64(m.Histogram.GetSampleCount())
				if !strings.HasSuffix(f.GetName(), "_seconds") {
					all["sum of "+key] = m.Histogram.GetSampleSum()
				}
			case m.Counter != nil:
				all[key] = m.Counter.GetValue()
			case m.Gauge != nil:
				all[key] = m.Gauge.GetValue()
			}
		}
	}
	return all
}

func labels(m *dto.Metric) string {
	var list []string
	for _, l := range m.Label {
		list = append(list, fmt.Sprintf("%s=%q", l.GetName(), l.GetValue()))
	}
	return "{" + strings.Join(list, ",") + "}"
}
