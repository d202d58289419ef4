package loadwatcher

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/berth-project/berth/model"
)

// window is the time that Prometheus is asked about.
const window = 15 * time.Minute

// ratios are the recording rules that load-watcher asks for, by resource: parts of what a node has, by its name
// in the label "instance".
var ratios = map[string]string{model.CPU: "instance:node_cpu:ratio", model.Memory: "instance:node_memory_utilisation:ratio"}

// vector is an answer of Prometheus' API of queries.
type vector struct {
	Data struct {
		Result []struct {
			Metric map[string]string
			Value  [2]json.RawMessage // the time, and the number in quotes
		}
	}
}

// readPrometheus asks Prometheus, for each resource by itself: what it does not have is left out.
func readPrometheus(o *Options) (func(context.Context, time.Time) ([]*model.NodeLoad, error), error) {
	u, err := baseURL(o.Address)
	if err != nil {
		return nil, err
	}
	u = u.JoinPath("api", "v1", "query")
	ask := func(ctx context.Context, now time.Time, query string) (map[string]float64, error) {
		at := *u
		at.RawQuery = url.Values{"query": {query}, "time": {strconv.FormatFloat(float64(now.UnixMilli())/1000, 'f', 3, 64)}}.Encode()
		var v vector
		err := ask(ctx, o.Client, at.String(), &v)
		if err == nil && len(v.Data.Result) == 0 {
			err = errors.New("the answer has no node; is there no such recording rule?")
		}
		values, problems := v.percentages()
		if err = errors.Join(err, problems); err != nil {
			err = fmt.Errorf("%s: %w", query, err)
		}
		return values, err
	}
	return func(ctx context.Context, now time.Time) ([]*model.NodeLoad, error) {
		now = now.Truncate(time.Millisecond).UTC()
		of := map[string]*model.NodeLoad{}
		var problems error
		for _, name := range slices.Sorted(maps.Keys(ratios)) {
			averages, err1 := ask(ctx, now, overWindow("avg", name))
			if problems = errors.Join(problems, err1); len(averages) == 0 {
				continue
			}
			deviations, err2 := ask(ctx, now, overWindow("stddev", name))
			problems = errors.Join(problems, err2)
			for node, average := range averages {
				if of[node] == nil {
					of[node] = &model.NodeLoad{Node: node, At: now, Source: string(Prometheus)}
				}
				of[node].Resources = append(of[node].Resources, model.ResourceLoad{Name: name, Window: window, Average: average, StdDev: deviations[node]})
			}
		}
		var list []*model.NodeLoad
		for _, node := range slices.Sorted(maps.Keys(of)) {
			list = append(list, of[node])
		}
		return list, problems
	}, nil
}

// overWindow is the query for what a function makes of the resource's ratios over the window.
func overWindow(function, resource string) string {
	return fmt.Sprintf("%s_over_time(%s[%dm])", function, ratios[resource], int(window.Minutes()))
}

// percentages are the values by node. A port behind the name is that of who measures. The error says what is left out.
func (v *vector) percentages() (of map[string]float64, problems error) {
	of = map[string]float64{}
	for i := range v.Data.Result {
		r := &v.Data.Result[i]
		node, _, _ := strings.Cut(r.Metric["instance"], ":")
		value, err := strconv.ParseFloat(strings.Trim(string(r.Value[1]), `"`), 64)
		switch {
		case node == "":
			err = errors.New("a value has no label instance")
		case err != nil:
			err = fmt.Errorf("node %s: %w", node, err)
		default:
			err = believable(node, value*100)
		}
		if err != nil {
			problems = errors.Join(problems, err)
			continue
		}
		of[node] = value * 100
	}
	return of, problems
}

// believable says what is wrong with a percentage.
func believable(node string, percent float64) error {
	if math.IsNaN(percent) || percent < 0 || percent > absurd {
		return fmt.Errorf("node %s: %v %% is no load", node, percent)
	}
	return nil
}
