package config

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins"
	"github.com/berth-project/berth/plugins/loadawarescheduling"
	"github.com/berth-project/berth/plugins/loadvariationriskbalancing"
	"github.com/berth-project/berth/plugins/lowriskovercommitment"
	"github.com/berth-project/berth/plugins/peaks"
	"github.com/berth-project/berth/plugins/targetloadpacking"
)

// trimaranSpec is TrimaranSpec of scheduler-plugins, apis/config/v1, commit 903da7df: where
// the plugins that go by measured load get it.
type trimaranSpec struct {
	MetricProvider struct {
		Type               string  `json:"type"`
		Address            *string `json:"address"`
		Token              *string `json:"token"`
		InsecureSkipVerify *bool   `json:"insecureSkipVerify"`
	} `json:"metricProvider"`
	WatcherAddress string `json:"watcherAddress"`
}

// check refuses what cannot be read. As upstream, watcherAddress comes before metricProvider, and a metrics server
// is asked where there is neither.
func (t *trimaranSpec) check() error {
	if t.WatcherAddress != "" {
		return checkWatcher(t.WatcherAddress)
	}
	switch p := &t.MetricProvider; p.Type {
	case "", metricsServer:
		return nil
	case prometheus:
		return checkURL("metricProvider.address", ptr.Deref(p.Address, ""), "Prometheus")
	default:
		return fmt.Errorf("metricProvider.type: %q is neither %q nor %q; of others run load-watcher as a service and set watcherAddress", p.Type, metricsServer, prometheus)
	}
}

// source is where the loads for the plugin come from; none where that is not said, or no good.
func (t *trimaranSpec) source(plugin string) []LoadSource {
	p := &t.MetricProvider
	switch byProvider := plugin != plugins.Peaks && plugin != plugins.LoadAwareScheduling; {
	case t.WatcherAddress != "":
		return []LoadSource{{Address: t.WatcherAddress}}
	case !byProvider || t.check() != nil:
		return nil
	case p.Type == prometheus:
		return []LoadSource{{Provider: prometheus, Address: *p.Address, Token: ptr.Deref(p.Token, ""), Unverified: ptr.Deref(p.InsecureSkipVerify, true)}}
	}
	return []LoadSource{{Provider: metricsServer}}
}

func checkWatcher(address string) error {
	return checkURL("watcherAddress", address, "a load-watcher service")
}

func checkURL(field, address, of string) error {
	if address == "" {
		return fmt.Errorf("%s: must be set, to the URL of %s", field, of)
	}
	if u, err := url.Parse(address); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return fmt.Errorf("%s: %q is no URL of a service", field, address)
	}
	return nil
}

// targetLoadPackingArgs are TargetLoadPackingArgs of scheduler-plugins, apis/config/v1, commit
// 903da7df.
type targetLoadPackingArgs struct {
	metav1.TypeMeta           `json:",inline"`
	trimaranSpec              `json:",inline"`
	DefaultRequests           v1.ResourceList `json:"defaultRequests"`
	DefaultRequestsMultiplier *string         `json:"defaultRequestsMultiplier"`
	TargetUtilization         *int64          `json:"targetUtilization"`
}

func (a targetLoadPackingArgs) translate() (targetloadpacking.Args, error) {
	var args targetloadpacking.Args
	problems := []error{a.check()}
	if a.TargetUtilization != nil {
		args.Target = max(*a.TargetUtilization, 0) // there what is not positive is the default
	}
	if q, ok := a.DefaultRequests[v1.ResourceCPU]; ok {
		args.DefaultRequest = new(q.MilliValue())
	}
	if a.DefaultRequestsMultiplier != nil {
		m, err := strconv.ParseFloat(*a.DefaultRequestsMultiplier, 64)
		if err != nil {
			problems = append(problems, fmt.Errorf("defaultRequestsMultiplier: %q is no number", *a.DefaultRequestsMultiplier))
		}
		args.Multiplier = &m
	}
	return args, errors.Join(problems...)
}

// loadVariationArgs are LoadVariationRiskBalancingArgs of scheduler-plugins, apis/config/v1,
// commit 903da7df.
type loadVariationArgs struct {
	metav1.TypeMeta         `json:",inline"`
	trimaranSpec            `json:",inline"`
	SafeVarianceMargin      *float64 `json:"safeVarianceMargin"`
	SafeVarianceSensitivity *float64 `json:"safeVarianceSensitivity"`
}

func (a loadVariationArgs) translate() (loadvariationriskbalancing.Args, error) {
	return loadvariationriskbalancing.Args{
		Margin: notNegative(a.SafeVarianceMargin), Sensitivity: notNegative(a.SafeVarianceSensitivity),
	}, a.check()
}

// notNegative is nil, for the default, in place of what is negative, as it is there.
func notNegative(x *float64) *float64 {
	if x != nil && *x < 0 {
		return nil
	}
	return x
}

// lowRiskArgs are LowRiskOverCommitmentArgs of scheduler-plugins, apis/config/v1, commit
// 903da7df.
type lowRiskArgs struct {
	metav1.TypeMeta     `json:",inline"`
	trimaranSpec        `json:",inline"`
	SmoothingWindowSize *int64             `json:"smoothingWindowSize"`
	RiskLimitWeights    map[string]float64 `json:"riskLimitWeights"`
}

func (a lowRiskArgs) translate() (lowriskovercommitment.Args, error) {
	var args lowriskovercommitment.Args
	if a.SmoothingWindowSize != nil {
		args.Smoothing = max(*a.SmoothingWindowSize, 0) // there what is not positive is the default
	}
	for name, w := range a.RiskLimitWeights {
		// There others than these two are never looked at, and a weight that is none is
		// the default.
		if (name == model.CPU || name == model.Memory) && w >= 0 && w <= 1 {
			if args.LimitWeights == nil {
				args.LimitWeights = map[string]float64{}
			}
			args.LimitWeights[name] = w
		}
	}
	return args, a.check()
}

// peaksArgs are PeaksArgs of scheduler-plugins, apis/config/v1, commit 903da7df, with the names
// that their documentation has; the tags there are broken.
type peaksArgs struct {
	metav1.TypeMeta `json:",inline"`
	WatcherAddress  string `json:"watcherAddress"`
	NodePowerModel  map[string]struct {
		K0 float64 `json:"k0"` // what is drawn in any case
		K1 float64 `json:"k1"`
		K2 float64 `json:"k2"`
	} `json:"nodePowerModel"`
}

func (a peaksArgs) translate() (peaks.Args, error) {
	args := peaks.Args{Models: map[string]peaks.PowerModel{}}
	for name, m := range a.NodePowerModel {
		args.Models[name] = peaks.PowerModel{K1: m.K1, K2: m.K2}
	}
	var problem error
	if len(args.Models) == 0 {
		problem = errors.New("nodePowerModel: must not be empty; the file of NODE_POWER_MODEL is not read here")
	}
	return args, errors.Join(problem, checkWatcher(a.WatcherAddress))
}

// loadAwareArgs are LoadAwareSchedulingArgs of Koordinator, pkg/scheduler/apis/config/v1,
// commit a7a1b76b, as far as they are built, and the address of a load-watcher service.
type loadAwareArgs struct {
	metav1.TypeMeta                      `json:",inline"`
	WatcherAddress                       string               `json:"watcherAddress"`
	FilterExpiredNodeMetrics             *bool                `json:"filterExpiredNodeMetrics"`
	NodeMetricExpirationSeconds          *int64               `json:"nodeMetricExpirationSeconds"`
	EnableScheduleWhenNodeMetricsExpired *bool                `json:"enableScheduleWhenNodeMetricsExpired"`
	ResourceWeights                      map[string]int64     `json:"resourceWeights"`
	DominantResourceWeight               int64                `json:"dominantResourceWeight"`
	UsageThresholds                      map[string]int64     `json:"usageThresholds"`
	EstimatedScalingFactors              map[string]int64     `json:"estimatedScalingFactors"`
	EstimatedSecondsAfterPodScheduled    *int64               `json:"estimatedSecondsAfterPodScheduled"`
	Aggregated                           *loadAwareAggregated `json:"aggregated"`
}

type loadAwareAggregated struct {
	UsageThresholds         map[string]int64 `json:"usageThresholds"`
	UsageAggregationType    string           `json:"usageAggregationType"`
	UsageAggregatedDuration metav1.Duration  `json:"usageAggregatedDuration"`
	ScoreAggregationType    string           `json:"scoreAggregationType"`
	ScoreAggregatedDuration metav1.Duration  `json:"scoreAggregatedDuration"`
}

func (a loadAwareArgs) translate() (loadawarescheduling.Args, error) {
	args := loadawarescheduling.Args{
		KeepExpired:    a.FilterExpiredNodeMetrics != nil && !*a.FilterExpiredNodeMetrics,
		AllowExpired:   a.EnableScheduleWhenNodeMetricsExpired != nil && *a.EnableScheduleWhenNodeMetricsExpired,
		Thresholds:     a.UsageThresholds,
		Weights:        a.ResourceWeights,
		DominantWeight: a.DominantResourceWeight,
		ScalingFactors: a.EstimatedScalingFactors,
	}
	var problem error
	if s := a.NodeMetricExpirationSeconds; s != nil {
		if *s <= 0 {
			problem = fmt.Errorf("nodeMetricExpirationSeconds: %d is not greater than 0", *s)
		}
		args.MaxAge = time.Duration(*s) * time.Second
	}
	if s := a.EstimatedSecondsAfterPodScheduled; s != nil {
		args.AfterPlaced = time.Duration(*s) * time.Second
	}
	if g := a.Aggregated; g != nil {
		args.Aggregated = &loadawarescheduling.Aggregated{
			Thresholds: g.UsageThresholds,
			Filter:     loadawarescheduling.Measure{Type: g.UsageAggregationType, Window: g.UsageAggregatedDuration.Duration},
			Score:      loadawarescheduling.Measure{Type: g.ScoreAggregationType, Window: g.ScoreAggregatedDuration.Duration},
		}
	}
	return args, errors.Join(problem, checkWatcher(a.WatcherAddress))
}
