package loadwatcher

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/berth-project/berth/model"
)

// answer is what the service says: WatcherMetrics of load-watcher, pkg/watcher/watcher.go.
type answer struct {
	Window struct {
		Duration string `json:"duration"` // "15m"
		Start    int64  `json:"start"`    // seconds since 1970, as End
		End      int64  `json:"end"`
	} `json:"window"`
	Source string `json:"source"`
	Data   struct {
		NodeMetricsMap map[string]struct {
			Metrics []metric `json:"metrics"`
		}
	} `json:"data"`
}

// metric is one measurement of a node, in percent.
type metric struct {
	Type     string  `json:"type"`     // "CPU", "Memory", and others that nobody asks for
	Operator string  `json:"operator"` // "AVG", empty for the same, "STD", "Latest"
	Value    float64 `json:"value"`
}

// resources are those that are asked for, by the type of a metric.
var resources = map[string]string{"CPU": model.CPU, "Memory": model.Memory}

// ends is when the measurements do. A report of nothing has no such time.
func (a *answer) ends(now time.Time) (time.Time, error) {
	at := time.Unix(a.Window.End, 0).UTC()
	switch {
	case len(a.Data.NodeMetricsMap) == 0:
		return time.Time{}, errors.New("the answer has no node")
	case a.Window.End <= 0:
		return time.Time{}, errors.New("the answer has no window.end")
	case at.After(now.Add(tolerance)):
		return time.Time{}, fmt.Errorf("the answer is of %s, which is yet to come", at.Format(time.RFC3339))
	}
	return at, nil
}

// window is the time that averages are over, 0 where the answer does not say it.
func (a *answer) window() time.Duration {
	if d, err := time.ParseDuration(a.Window.Duration); err == nil && d > 0 {
		return d
	}
	return time.Duration(max(0, a.Window.End-a.Window.Start)) * time.Second
}

// loads are the reports of the nodes, by name. The error says what was left out.
func (a *answer) loads(at time.Time) (list []*model.NodeLoad, problems error) {
	for _, node := range slices.Sorted(maps.Keys(a.Data.NodeMetricsMap)) {
		l := &model.NodeLoad{Node: node, At: at, Source: "load-watcher"}
		if a.Source != "" {
			l.Source += ": " + a.Source
		}
		l.Resources = loadsOf(a.Data.NodeMetricsMap[node].Metrics, a.window())
		if err := l.Validate(); err != nil {
			problems = errors.Join(problems, err)
		} else if len(l.Resources) > 0 {
			list = append(list, l)
		}
	}
	return list, problems
}

// loadsOf are the measurements of a node: of each resource the average over the window and
// the latest, as far as they are there, with the deviation at the first of them. Of several
// of a kind the last counts.
func loadsOf(metrics []metric, window time.Duration) (list []model.ResourceLoad) {
	for _, kind := range slices.Sorted(maps.Keys(resources)) {
		of := map[string]*float64{}
		for i := range metrics {
			m := &metrics[i]
			if m.Type == kind && (m.Operator != "" || of["AVG"] == nil) {
				of[operator(m.Operator)] = &m.Value
			}
		}
		before := len(list)
		if average := of["AVG"]; average != nil {
			list = append(list, model.ResourceLoad{Name: resources[kind], Window: window, Average: *average})
		}
		if latest := of["Latest"]; latest != nil && (of["AVG"] == nil || window > 0) {
			list = append(list, model.ResourceLoad{Name: resources[kind], Average: *latest})
		}
		if deviation := of["STD"]; deviation != nil && len(list) > before {
			list[before].StdDev = *deviation
		}
	}
	return list
}

// operator is the name of what an operator asks for.
func operator(name string) string {
	if name == "" {
		return "AVG" // services of old do not say it
	}
	return name
}
