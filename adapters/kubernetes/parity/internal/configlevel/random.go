package configlevel

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/berth-project/berth/adapters/kubernetes/config/configtest"
	"github.com/berth-project/berth/extpoints"
)

// source draws random files.
type source struct {
	*rand.Rand
	// serving are the plugins that serve each point on kube-scheduler's side.
	serving map[string][]string
	all     []string // the names of plugins
}

// newSource asks kube-scheduler which plugins it has, and at which points.
func newSource() (*source, error) {
	everything := []byte("# gates: GenericWorkload=true,TopologyAwareWorkloadScheduling=true\n" +
		"apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n")
	restore, err := setGates(everything)
	if err != nil {
		return nil, err
	}
	k, err := kube(everything)
	if err != nil || k.refused() {
		return nil, fmt.Errorf("kube-scheduler's own plugins: %v %w", k, err)
	}
	s := &source{serving: map[string][]string{}}
	for point, list := range k.profiles[0].points {
		for _, plugin := range list {
			name, _, _ := strings.Cut(plugin, "=")
			s.serve(point, name)
		}
	}
	for _, plugin := range slices.Sorted(maps.Keys(configtest.Points)) {
		for _, point := range configtest.Points[plugin] {
			s.serve(point, plugin)
		}
	}
	slices.Sort(s.all)
	return s, restore()
}

func (s *source) serve(point, plugin string) {
	s.serving[point] = append(s.serving[point], plugin)
	if !slices.Contains(s.all, plugin) {
		s.all = append(s.all, plugin)
	}
}

// chance is true once in n times.
func (s *source) chance(n int) bool { return s.IntN(n) == 0 }

func pick[T any](s *source, list ...T) T { return list[s.IntN(len(list))] }

type object = map[string]any

// file is the random file of the seed and the number. Most of them make sense.
func (s *source) file(seed, number uint64) []byte {
	s.Rand = rand.New(rand.NewPCG(seed, number))
	cfg := object{"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
	s.maybe(cfg, 3, "parallelism", func() any { return 1 + s.IntN(64) })
	s.maybe(cfg, 3, "percentageOfNodesToScore", func() any { return s.IntN(103) - 1 })
	s.maybe(cfg, 3, "podMaxBackoffSeconds", func() any { return 1 + s.IntN(100) })
	var profiles []object
	for i := range pick(s, 0, 1, 1, 1, 2, 3) {
		profiles = append(profiles, s.profile(i))
	}
	if profiles != nil {
		cfg["profiles"] = profiles
	}
	if s.chance(5) {
		cfg["extenders"] = s.extenders()
	}
	text, err := json.MarshalIndent(cfg, "", " ")
	if err != nil {
		panic(err)
	}
	return append([]byte(s.gates()), text...)
}

// maybe sets the key once in n times.
func (s *source) maybe(o object, n int, key string, value func() any) {
	if s.chance(n) {
		o[key] = value()
	}
}

// gates asks for some feature gates, none of them without those that it needs.
func (s *source) gates() string {
	var list []string
	for _, gate := range []string{"StorageCapacityScoring", "DRASchedulerFilterTimeout", "DRADeviceBindingConditions", "SchedulerAsyncPreemption"} {
		if s.chance(5) {
			list = append(list, gate+"=false")
		}
	}
	if s.chance(3) {
		list = append(list, "GenericWorkload=true")
		if s.chance(2) {
			list = append(list, "TopologyAwareWorkloadScheduling=true")
		}
	}
	if list == nil {
		return ""
	}
	return "# gates: " + strings.Join(list, ",") + "\n"
}

func (s *source) profile(i int) object {
	p := object{}
	if i > 0 || s.chance(2) {
		p["schedulerName"] = fmt.Sprint("profile-", pick(s, i, i, i, i, i, 0))
	}
	s.maybe(p, 4, "percentageOfNodesToScore", func() any { return s.IntN(101) })
	plugins := object{}
	for _, pt := range extpoints.Points() {
		if name := inFile(pt); name != "" {
			s.maybe(plugins, 4, name, func() any { return s.set(name) })
		}
	}
	s.maybe(plugins, 2, "multiPoint", func() any { return s.multiPoint() })
	if len(plugins) > 0 {
		p["plugins"] = plugins
	}
	if s.chance(2) {
		p["pluginConfig"] = s.pluginConfig()
	}
	return p
}

// set is that of one point.
func (s *source) set(point string) object {
	set := object{}
	serving := s.serving[point]
	if len(serving) > 0 && !s.chance(4) {
		set["enabled"] = s.refs(serving, 4)
	}
	if s.chance(3) {
		set["disabled"] = s.names(serving)
	}
	if point == "queueSort" { // there must be one in the end
		set = object{"enabled": s.refs(serving, 1), "disabled": []object{{"name": "*"}}}
	}
	if s.chance(60) { // of all plugins: most do not serve the point
		set["enabled"] = s.refs(s.all, 2)
	}
	return set
}

// multiPoint seldom leaves a profile without a binder or an order.
func (s *source) multiPoint() object {
	set := object{}
	extra := slices.DeleteFunc(slices.Clone(s.all), func(name string) bool { return name == "Sorter" || name == "Coscheduling" || name == "Everything" })
	if s.chance(20) {
		extra = append(s.all, "NoSuchPlugin")
	}
	enabled := onlyOnce(s.refs(extra, 6))
	if s.chance(30) { // it serves so many points that it is not overridden at all of them
		enabled = append(enabled, object{"name": "NodeResourcesFit"}, object{"name": "NodeResourcesFit"})
	}
	switch {
	case s.chance(4):
		set["disabled"] = []object{{"name": "*"}}
		enabled = append(enabled, object{"name": "PrioritySort"}, object{"name": "DefaultBinder"})
		s.Shuffle(len(enabled), func(i, j int) { enabled[i], enabled[j] = enabled[j], enabled[i] })
		enabled = onlyOnce(enabled)
	case s.chance(2):
		set["disabled"] = s.names(slices.DeleteFunc(slices.Clone(s.all), func(name string) bool { return name == "PrioritySort" || name == "DefaultBinder" }))
	}
	if len(enabled) > 0 {
		set["enabled"] = enabled
	}
	return set
}

// refs are some of the plugins, each once most of the time.
func (s *source) refs(from []string, most int) []object {
	var list []object
	for range 1 + s.IntN(most) {
		ref := object{"name": pick(s, from...)}
		s.maybe(ref, 2, "weight", func() any { return s.IntN(6) })
		list = append(list, ref)
	}
	if s.chance(20) {
		return list
	}
	return onlyOnce(list)
}

// onlyOnce keeps the first of each name.
func onlyOnce(list []object) []object {
	var kept []object
	for _, ref := range list {
		if !slices.ContainsFunc(kept, func(o object) bool { return o["name"] == ref["name"] }) {
			kept = append(kept, ref)
		}
	}
	return kept
}

func (s *source) names(from []string) []object {
	if s.chance(4) || len(from) == 0 {
		return []object{{"name": "*"}}
	}
	var list []object
	for range 1 + s.IntN(3) {
		list = append(list, object{"name": pick(s, from...)})
	}
	return list
}

func (s *source) extenders() []object {
	var list []object
	for i := range 1 + s.IntN(3) {
		x := object{"urlPrefix": fmt.Sprint("http://extender-", s.IntN(2)), "filterVerb": "filter", "ignorable": s.chance(2)}
		s.maybe(x, 3, "httpTimeout", func() any { return fmt.Sprint(1+s.IntN(9), "s") })
		s.maybe(x, 6, "bindVerb", func() any { return "bind" })
		if s.chance(2) {
			x["prioritizeVerb"], x["weight"] = "prioritize", s.IntN(8)
		}
		s.maybe(x, 2, "managedResources", func() any {
			return []object{{"name": fmt.Sprint("example.com/r", pick(s, i, i, i, 0)), "ignoredByScheduler": s.chance(2)}}
		})
		list = append(list, x)
	}
	return list
}
