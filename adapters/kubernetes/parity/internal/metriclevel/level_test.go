package metriclevel

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	v1 "k8s.io/api/core/v1"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/component-base/metrics/legacyregistry"
	"k8s.io/component-base/metrics/testutil"
	fwk "k8s.io/kube-scheduler/framework"
	reference "k8s.io/kubernetes/pkg/scheduler/metrics"
	"k8s.io/kubernetes/pkg/scheduler/metrics/resources"

	"github.com/berth-project/berth/adapters/kubernetes/metrics"
	"github.com/berth-project/berth/adapters/kubernetes/parity/generate"
	"github.com/berth-project/berth/adapters/kubernetes/parity/internal/decisionlevel"
	"github.com/berth-project/berth/adapters/kubernetes/parity/internal/differences"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins"
)

// TestMain registers all metrics of kube-scheduler, which it does once in a
// process: those that hang on a feature gate, too.
func TestMain(m *testing.M) {
	gates := func(on bool) map[string]bool {
		return map[string]bool{"GenericWorkload": on, "TopologyAwareWorkloadScheduling": on, "SchedulerAsyncAPICalls": on}
	}
	if err := utilfeature.DefaultMutableFeatureGate.SetFromMap(gates(true)); err != nil {
		panic(err)
	}
	reference.Register()
	if err := utilfeature.DefaultMutableFeatureGate.SetFromMap(gates(false)); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

var ofTheScheduler = []string{"scheduler_", "dynamic_resource_allocation_"}

// Every metric of kube-scheduler is there with the same type, help, level, labels
// and buckets, or is in the list of those that are missing.
func TestSameMetrics(t *testing.T) {
	touchReference()
	m, err := touchBerth()
	if err != nil {
		t.Fatal(err)
	}
	theirs := seen(t, legacyregistry.DefaultGatherer, legacyregistry.Registerer(), ofTheScheduler...)
	ours := seen(t, m.Registry(), m.Registry().Registerer(), append(ofTheScheduler, "berth_")...)
	for _, name := range slices.Sorted(maps.Keys(theirs)) {
		our, there := ours[name]
		_, listed := missing[name]
		switch {
		case !there && !listed:
			t.Errorf("%s is missing", name)
		case there && listed:
			t.Errorf("%s is there, and in the list of those that are missing", name)
		case there && !reflect.DeepEqual(our, theirs[name]):
			t.Errorf("%s\n  reference: %+v\n  subject:   %+v", name, theirs[name], our)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(ours)) {
		if _, there := theirs[name]; !there && !strings.HasPrefix(name, "berth_") {
			t.Errorf("%s is not one of kube-scheduler's", name)
		}
	}
	for name, reason := range missing {
		if _, there := theirs[name]; !there || reason == "" {
			t.Errorf("%s is in the list of those that are missing: kube-scheduler has it: %v, reason: %q", name, there, reason)
		}
	}
}

var fullName = regexp.MustCompile(`^Desc\{fqName: "([^"]+)"`)

// seen are the metrics of a registry. All that are registered must have a series.
func seen(t *testing.T, g prometheus.Gatherer, registry prometheus.Registerer, prefixes ...string) map[string]family {
	t.Helper()
	gathered, err := g.Gather()
	if err != nil {
		t.Fatal(err)
	}
	all := families(gathered, prefixes...)
	descriptions := make(chan *prometheus.Desc, 10000)
	registry.(prometheus.Collector).Describe(descriptions)
	close(descriptions)
	for d := range descriptions {
		name := fullName.FindStringSubmatch(d.String())[1]
		if _, ok := all[name]; !ok && slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(name, p) }) {
			t.Errorf("%s is registered and has no series", name)
		}
	}
	return all
}

// What kube-scheduler calls the events that there can be.
func TestSameEventLabels(t *testing.T) {
	kinds := map[model.ObjectKind]fwk.EventResource{
		extpoints.AnyWorkload: fwk.Pod, extpoints.AssignedWorkload: fwk.AssignedPod,
		extpoints.UnscheduledWorkload: fwk.UnscheduledPod, extpoints.TargetWorkload: fwk.TargetPod,
		extpoints.NodeResource: fwk.Node, extpoints.GroupResource: fwk.PodGroup,
		model.VolumeClaimKind: fwk.PersistentVolumeClaim, model.VolumeKind: fwk.PersistentVolume,
		model.StorageClassKind: fwk.StorageClass, model.StorageDriverKind: fwk.CSIDriver,
		model.NodeStorageKind: fwk.CSINode, model.StorageCapacityKind: fwk.CSIStorageCapacity,
		model.VolumeAttachmentKind: fwk.VolumeAttachment, model.DeviceSliceKind: fwk.ResourceSlice,
		model.DeviceClassKind: fwk.DeviceClass, model.DeviceClaimKind: fwk.ResourceClaim,
		extpoints.AnyResource: fwk.WildCard,
	}
	actions := map[extpoints.Action]fwk.ActionType{
		extpoints.Add: fwk.Add, extpoints.Delete: fwk.Delete, extpoints.Update: fwk.Update, extpoints.AllActions: fwk.All,
		extpoints.UpdateNodeAllocatable: fwk.UpdateNodeAllocatable, extpoints.UpdateNodeLabel: fwk.UpdateNodeLabel,
		extpoints.UpdateNodeTaint: fwk.UpdateNodeTaint, extpoints.UpdateNodeFeatures: fwk.UpdateNodeDeclaredFeature,
		extpoints.UpdateWorkloadLabel: fwk.UpdatePodLabel, extpoints.UpdateWorkloadScaleDown: fwk.UpdatePodScaleDown,
		extpoints.UpdateWorkloadScaleUp: fwk.UpdatePodScaleUp, extpoints.UpdateWorkloadToleration: fwk.UpdatePodToleration,
		extpoints.UpdateWorkloadGatesEliminated: fwk.UpdatePodSchedulingGatesEliminated,
		extpoints.UpdateWorkloadDeviceClaims:    fwk.UpdatePodGeneratedResourceClaim,
	}
	for kind, theirKind := range kinds {
		for action, theirAction := range actions {
			want := fwk.ClusterEvent{Resource: theirKind, ActionType: theirAction}.Label()
			if got := metrics.EventLabel(extpoints.ClusterEvent{Resource: kind, Action: action}); got != want {
				t.Errorf("%s %s: %q, want %q", kind, action, got, want)
			}
		}
	}
}

// What kube-scheduler calls the extension points.
func TestSamePointLabels(t *testing.T) {
	theirs := append(slices.Clone(reference.ExtensionPoints), reference.PlacementScore, reference.PlacementScoreExtensionNormalize, "PreEnqueue")
	theirs = slices.DeleteFunc(theirs, func(p string) bool { return p == reference.Sign }) // is not measured
	var ours []string
	for _, point := range []string{
		"PreFilter", "Filter", "PreFilter extension AddWorkload", "PreFilter extension RemoveWorkload", "PostFilter", "PreScore", "Score",
		"NormalizeScore", "PreBind", "PreBindPreFlight", "Bind", "PostBind", "Reserve", "Unreserve", "Permit", "PlacementGenerate",
		"PlacementFeasible", "PlacementScore", "NormalizePlacementScore", "GroupPostFilter", "PreEnqueue",
	} {
		ours = append(ours, metrics.PointLabel(point))
	}
	slices.Sort(theirs)
	slices.Sort(ours)
	if !slices.Equal(ours, theirs) {
		t.Errorf("got %v, want %v", ours, theirs)
	}
}

// /metrics/resources of random pods.
func TestSameResources(t *testing.T) {
	source := generate.New(1, 1, generate.Mood{})
	indexer := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})
	for i := range 300 {
		pod := source.Pod(fmt.Sprint("pod-", i))
		if i%3 == 0 {
			pod.Spec.NodeName = "n1"
		}
		pod.Status.Phase = generate.Pick(source, v1.PodPending, v1.PodRunning, v1.PodSucceeded, v1.PodFailed)
		if err := indexer.Add(pod); err != nil {
			t.Fatal(err)
		}
	}
	pods := corelisters.NewPodLister(indexer)
	want, got := serve(resources.Handler(pods)), serve(metrics.ResourcesHandler(pods))
	if strings.Count(want, "\n") < 500 {
		t.Errorf("there is little to compare:\n%s", want)
	}
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func serve(h http.Handler) string {
	answer := httptest.NewRecorder()
	h.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/", nil))
	return answer.Body.String()
}

// seed is that of the histories. About groups not all seeds do: in one history of about
// thirty DefaultPreemption counts as the reason of one pod more or less, or a pod or a
// group is counted as woken by another event than in kube-scheduler.
const seed = 10

// What both have counted at the end of histories in which they made the same
// decisions.
func TestSameCounts(t *testing.T) {
	used := make([]bool, len(excuses))
	for _, about := range everywhere {
		t.Run(string(about), func(t *testing.T) {
			compared := 0
			for number := range uint64(24) {
				before, after, ours := count(t, number, about)
				if ours == nil {
					continue
				}
				compared++
				for key, n := range ours {
					if _, there := after[key]; !there && n != 0 {
						after[key] = 0
					}
				}
				for key := range after {
					if theirs := after[key] - before[key]; theirs != ours[key] && !excused(about, key, theirs, ours[key], used) {
						t.Errorf("case %d: %s: %v, want %v", number, key, ours[key], theirs)
					}
				}
			}
			if compared < 10 {
				t.Errorf("only %d histories could be compared", compared)
			}
		})
	}
	for i, used := range used {
		if !used && !testing.Short() {
			t.Errorf("not needed: %s (%s)", excuses[i].series, excuses[i].reason)
		}
	}
}

// count runs a history and returns what kube-scheduler had counted before and
// after it, and what Berth has; nothing where they went apart.
func count(t *testing.T, number uint64, about decisionlevel.About) (before, after, ours map[string]float64) {
	t.Helper()
	report, err := differences.New()
	if err != nil {
		t.Fatal(err)
	}
	var m *metrics.Metrics
	err = decisionlevel.Run(seed, number, report, decisionlevel.Options{About: about, Change: func(c *engine.Config) {
		m = metrics.New(metrics.Options{Profiles: c.Profiles, Groups: true, Placements: generates(c.Profiles)})
		c.Listener = engine.Tee(c.Listener, withoutProbe(m.Listener()))
		before = gather(t, legacyregistry.DefaultGatherer)
	}})
	if err != nil {
		t.Fatal(err)
	}
	awaitBindings(t)
	if report.Explained()+report.Unexplained() > 0 {
		return nil, nil, nil
	}
	return before, gather(t, legacyregistry.DefaultGatherer), gather(t, m.Registry())
}

// generates reports whether a profile generates placements, as all do where the feature gate about them is on.
func generates(profiles []extpoints.Profile) bool {
	return slices.ContainsFunc(profiles, func(p extpoints.Profile) bool {
		return slices.ContainsFunc(p.Plugins, func(e extpoints.Entry) bool { return e.Name == plugins.TopologyPlacementGenerator })
	})
}

// awaitBindings waits for the goroutines that bind: a pod is counted a moment after
// it is bound.
func awaitBindings(t *testing.T) {
	t.Helper()
	for range 10000 {
		running, err := testutil.GetGaugeMetricValue(reference.Goroutines.WithLabelValues(reference.Binding))
		if err != nil {
			t.Fatal(err)
		}
		if running == 0 {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Fatal("kube-scheduler is still binding after 10 s")
}

func gather(t *testing.T, g prometheus.Gatherer) map[string]float64 {
	t.Helper()
	gathered, err := g.Gather()
	if err != nil {
		t.Fatal(err)
	}
	return values(gathered, counted)
}

// withoutProbe leaves out a workload that is not part of the history; see package
// subject.
func withoutProbe(l engine.Listener) engine.Listener {
	submitted, popped, evaluated := l.Submitted, l.Popped, l.PluginEvaluated
	l.Submitted = func(e engine.SubmittedEvent) {
		if e.Workload.Profile == plugins.DefaultProfileName {
			submitted(e)
		}
	}
	l.Popped = func(e engine.PoppedEvent) {
		if e.Workload.Profile == plugins.DefaultProfileName {
			popped(e)
		}
	}
	l.PluginEvaluated = func(e engine.PluginEvaluatedEvent) {
		if e.Profile == plugins.DefaultProfileName {
			evaluated(e)
		}
	}
	return l
}

// excused reports whether a difference is meant to be.
func excused(about decisionlevel.About, key string, theirs, ours float64, used []bool) bool {
	for i, e := range excuses {
		if !slices.Contains(e.about, about) || !e.series.MatchString(key) || e.atMost && ours > theirs || e.atLeast && ours < theirs {
			continue
		}
		used[i] = true
		return true
	}
	return false
}
