package configlevel

import (
	"bytes"
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	configv1 "k8s.io/kube-scheduler/config/v1"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/scheme"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/validation"
)

// kube takes the file as far as kube-scheduler does, in the way of its command
// (cmd/kube-scheduler/app/options and app.Setup, 1.37.1).
func kube(file []byte) (*result, error) {
	object, kind, err := scheme.Codecs.UniversalDecoder().Decode(file, nil, nil)
	if err != nil {
		return stopped(loading, err.Error()), nil
	}
	cfg, ok := object.(*config.KubeSchedulerConfiguration)
	if !ok {
		return stopped(loading, fmt.Sprintf("couldn't decode as KubeSchedulerConfiguration, got %s", kind)), nil
	}
	cfg.APIVersion = kind.GroupVersion().String()
	loaded, err := encode(cfg)
	if err != nil {
		return nil, err
	}
	if err := validation.ValidateKubeSchedulerConfiguration(cfg); err != nil {
		var texts []string
		for _, e := range err.Errors() {
			texts = append(texts, e.Error())
		}
		r := stopped(validating, texts...)
		r.loaded = loaded
		return r, nil
	}
	r := makeScheduler(cfg)
	r.loaded = loaded
	if r.refused() {
		return r, nil
	}
	r.numbers = numbers{int(cfg.Parallelism), *cfg.PercentageOfNodesToScore, cfg.PodInitialBackoffSeconds, cfg.PodMaxBackoffSeconds}
	r.written, err = encode(cfg)
	return r, err
}

// encode writes the configuration as kube-scheduler does.
func encode(cfg runtime.Object) (string, error) {
	info, _ := runtime.SerializerInfoForMediaType(scheme.Codecs.SupportedMediaTypes(), runtime.ContentTypeYAML)
	var out bytes.Buffer
	err := scheme.Codecs.EncoderForVersion(info.Serializer, configv1.SchemeGroupVersion).Encode(cfg, &out)
	return out.String(), err
}

// makeScheduler makes a scheduler and says what it is made of. The profiles of the
// configuration are replaced by what the scheduler makes of them.
func makeScheduler(cfg *config.KubeSchedulerConfiguration) *result {
	ctx, cancel := context.WithCancel(klog.NewContext(context.Background(), klog.Logger{}))
	defer cancel()
	client := fake.NewClientset()
	var completed []config.KubeSchedulerProfile
	s, err := scheduler.New(ctx, client, informers.NewSharedInformerFactory(client, 0), nil,
		func(string) events.EventRecorderLogger { return &events.FakeRecorder{} },
		scheduler.WithComponentConfigVersion(cfg.APIVersion),
		scheduler.WithProfiles(cfg.Profiles...),
		scheduler.WithPercentageOfNodesToScore(cfg.PercentageOfNodesToScore),
		scheduler.WithFrameworkOutOfTreeRegistry(kubePlugins()),
		scheduler.WithPodMaxBackoffSeconds(cfg.PodMaxBackoffSeconds),
		scheduler.WithPodInitialBackoffSeconds(cfg.PodInitialBackoffSeconds),
		scheduler.WithExtenders(cfg.Extenders...),
		scheduler.WithParallelism(cfg.Parallelism),
		scheduler.WithBuildFrameworkCapturer(func(p config.KubeSchedulerProfile) { completed = append(completed, p) }),
	)
	if err != nil {
		return stopped(making, err.Error())
	}
	defer s.SchedulingQueue.Close()
	cfg.Profiles = completed
	r := &result{stage: taken}
	for _, p := range completed {
		f := s.Profiles[p.SchedulerName]
		r.profiles = append(r.profiles, profile{
			name: p.SchedulerName, percentage: percentage(f.PercentageOfNodesToScore()),
			points: listed(f.ListPlugins()), args: argsThatCount(p.PluginConfig),
		})
	}
	return r
}

// listed are the plugins of every point.
func listed(sets *config.Plugins) map[string][]string {
	points := map[string][]string{}
	v := reflect.ValueOf(*sets)
	for i := range v.NumField() {
		name := v.Type().Field(i).Name
		name = strings.ToLower(name[:1]) + name[1:]
		for _, plugin := range v.Field(i).Interface().(config.PluginSet).Enabled {
			points[name] = append(points[name], withWeight(name, plugin.Name, int64(plugin.Weight)))
		}
	}
	return points
}

func withWeight(point, plugin string, weight int64) string {
	if point != "score" && point != "placementScore" {
		return plugin
	}
	return fmt.Sprintf("%s=%d", plugin, weight)
}

// argsThatCount are the plugins that have arguments and look at them.
func argsThatCount(list []config.PluginConfig) []string {
	var names []string
	for _, entry := range list {
		_, unknown := entry.Args.(*runtime.Unknown)
		if _, own := kubePlugins()[entry.Name]; !unknown || own {
			names = append(names, entry.Name)
		}
	}
	slices.Sort(names)
	return names
}
