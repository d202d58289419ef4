package config_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	utilerrors "k8s.io/apimachinery/pkg/util/errors"

	"github.com/berth-project/berth/adapters/kubernetes/config"
)

// A value of another type hides neither the others nor what is wrong with the rest.
func TestValuesOfOtherTypes(t *testing.T) {
	c, err := config.Load([]byte(head+`
parallelism: many
percentageOfNodesToScore: 101
leaderElection: {leaderElect: true, leaseDuration: 5x, renewDeadline: 10s}
profiles:
- schedulerNam: a
  pluginConfig:
  - {name: NodeResourcesFit, args: {ignoredResources: 5, scoringStrategy: {type: Some}}}
  - {name: InterPodAffinity, args: {hardPodAffinityWeight: heavy}}
  - {name: VolumeBinding, args: {bindTimeoutSeconds: -1}}
extenders: [{urlPrefix: 'http://a', tlsConfig: {caData: aGk=}, weight: w}]
`), config.DefaultGates())
	if err == nil || err.Error() != `time: unknown unit "x" in duration "5x"` || c == nil { // as kube-scheduler
		t.Fatalf("there is a configuration: %v, and %v", c != nil, err)
	}
	want := []string{
		`extenders[0].weight: "w" is not a whole number of at most 64 bits`,
		`leaderElection.leaseDuration: "5x" is not a duration, such as 90s, 10m or 168h`,
		`parallelism: "many" is not a whole number of at most 32 bits`,
		`percentageOfNodesToScore: Invalid value: 101: not in valid range [0-100]`,
		`profiles[0].pluginConfig[0].args.ignoredResources: 5 is not a list`,
		`profiles[0].pluginConfig[1].args.hardPodAffinityWeight: "heavy" is not a whole number of at most 32 bits`,
		`profiles[0].pluginConfig[2].args.bindTimeoutSeconds: Invalid value: -1: invalid BindTimeoutSeconds, should not be a negative value`,
		`profiles[0].schedulerNam: unknown field, not one of percentageOfNodesToScore, pluginConfig, plugins, schedulerName`,
	}
	var got []string
	var all utilerrors.Aggregate
	if errors.As(c.Validate(), &all) {
		for _, err := range all.Errors() {
			got = append(got, err.Error())
		}
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("it is refused with\n%s", strings.Join(got, "\n"))
	}
	rest := []string{`profiles[0].pluginConfig[0].args.scoringStrategy.type: Unsupported value: "Some": supported values: "LeastAllocated", "MostAllocated", "RequestedToCapacityRatio"`}
	if got := tried(t, c, config.DefaultRegistry(), nil); !slices.Equal(got, rest) {
		t.Errorf("it is refused with %q", got)
	}
}
