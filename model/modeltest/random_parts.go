package modeltest

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/berth-project/berth/model"
)

// RandomAmount returns an amount that is not negative: often 0 or of everyday
// size, sometimes the largest there is.
func RandomAmount(r *rand.Rand) int64 {
	switch r.IntN(8) {
	case 0, 1:
		return 0
	case 2:
		return 1
	case 3:
		return math.MaxInt64 - int64(r.IntN(2))
	case 4:
		return r.Int64()
	}
	return 100 * int64(1+r.IntN(40))
}

// RandomResources returns valid resources, as often as not without scalars.
func RandomResources(r *rand.Rand) model.Resources {
	res := model.Resources{CPU: RandomAmount(r), Memory: RandomAmount(r), EphemeralStorage: RandomAmount(r)}
	for _, s := range picks(r, 3, scalars) {
		res.Set(s, RandomAmount(r))
	}
	return res
}

// RandomLabels returns labels, sometimes none, sometimes a map that is empty but
// not nil.
func RandomLabels(r *rand.Rand) map[string]string {
	if r.IntN(5) == 0 {
		return nil
	}
	labels := map[string]string{}
	for range r.IntN(5) {
		labels[pick(r, labelKeys)] = pick(r, labelValues)
	}
	return labels
}

// RandomTaint returns a valid taint.
func RandomTaint(r *rand.Rand) model.Taint {
	return model.Taint{Key: pick(r, labelKeys), Value: pick(r, labelValues), Effect: pick(r, effects)}
}

// RandomToleration returns a valid toleration.
func RandomToleration(r *rand.Rand) model.Toleration {
	t := model.Toleration{Effect: maybe(r, pick(r, effects))}
	if r.IntN(2) == 0 {
		t.Operator = model.Exists
		t.Key = maybe(r, pick(r, labelKeys))
		return t
	}
	t.Key = pick(r, labelKeys)
	if r.IntN(4) == 0 {
		t.Operator = pick(r, []model.Operator{model.Gt, model.Lt})
		t.Value = pick(r, []string{"0", "1", "2", "-7", "9223372036854775807"})
		return t
	}
	t.Operator = maybe(r, model.Equal)
	t.Value = pick(r, labelValues)
	return t
}

// RandomRequirement returns a valid requirement on a label.
func RandomRequirement(r *rand.Rand) model.Requirement {
	q := model.Requirement{Key: pick(r, labelKeys)}
	q.Operator = pick(r, []model.Operator{model.In, model.In, model.NotIn, model.Exists, model.DoesNotExist, model.Gt, model.Lt})
	switch q.Operator {
	case model.In, model.NotIn:
		for range 1 + r.IntN(4) {
			q.Values = append(q.Values, pick(r, labelValues))
		}
	case model.Gt, model.Lt:
		q.Values = []string{pick(r, []string{"0", "1", "2", "-7", "+2", "01", "9223372036854775807"})}
	default:
		q.Values = maybe(r, []string{})
	}
	return q
}

// RandomSelector returns a valid selector: nil, without requirements, or with up
// to three.
func RandomSelector(r *rand.Rand) *model.Selector {
	if r.IntN(6) == 0 {
		return nil
	}
	return &model.Selector{Requirements: randomRequirements(r)}
}

func randomRequirements(r *rand.Rand) []model.Requirement {
	return list(r, 3, func() model.Requirement { return RandomRequirement(r) })
}

// RandomNodeTerm returns a valid term, sometimes an empty one.
func RandomNodeTerm(r *rand.Rand) model.NodeTerm {
	t := model.NodeTerm{Labels: randomRequirements(r)}
	if r.IntN(3) == 0 {
		t.Fields = list(r, 2, func() model.Requirement {
			return model.Requirement{
				Key:      model.FieldName,
				Operator: pick(r, []model.Operator{model.In, model.NotIn}),
				Values:   []string{maybe(r, nodeName(r.IntN(50)))},
			}
		})
	}
	return t
}

// RandomNodeAffinity returns a valid node affinity, sometimes without any term.
func RandomNodeAffinity(r *rand.Rand) *model.NodeAffinity {
	a := &model.NodeAffinity{}
	if r.IntN(2) == 0 {
		a.Required = &model.NodeTerms{}
		for range 1 + r.IntN(3) {
			a.Required.Terms = append(a.Required.Terms, RandomNodeTerm(r))
		}
	}
	a.Preferred = list(r, 3, func() model.PreferredNodeTerm {
		return model.PreferredNodeTerm{Weight: randomWeight(r), NodeTerm: RandomNodeTerm(r)}
	})
	return a
}

func randomWeight(r *rand.Rand) int32 { return pick(r, []int32{1, 1, 2, 50, 99, 100}) }

// RandomAffinityTerm returns a valid term.
func RandomAffinityTerm(r *rand.Rand) model.AffinityTerm {
	return model.AffinityTerm{
		Selector:          RandomSelector(r),
		Namespaces:        picks(r, 3, namespaces),
		NamespaceSelector: maybe(r, RandomSelector(r)),
		TopologyKey:       pick(r, labelKeys),
	}
}

// RandomWorkloadAffinity returns a valid affinity, sometimes without any term.
func RandomWorkloadAffinity(r *rand.Rand) *model.WorkloadAffinity {
	return &model.WorkloadAffinity{
		Required: list(r, 2, func() model.AffinityTerm { return RandomAffinityTerm(r) }),
		Preferred: list(r, 2, func() model.WeightedAffinityTerm {
			return model.WeightedAffinityTerm{Weight: randomWeight(r), AffinityTerm: RandomAffinityTerm(r)}
		}),
	}
}

// RandomSpread returns a valid spread constraint.
func RandomSpread(r *rand.Rand) model.SpreadConstraint {
	policies := []model.InclusionPolicy{"", model.Honor, model.Ignore}
	s := model.SpreadConstraint{
		TopologyKey:        pick(r, labelKeys),
		MaxSkew:            pick(r, []int32{1, 1, 1, 2, 5, math.MaxInt32}),
		Mode:               pick(r, []model.SpreadMode{model.SpreadRequired, model.SpreadPreferred}),
		Selector:           RandomSelector(r),
		NodeAffinityPolicy: pick(r, policies),
		NodeTaintsPolicy:   pick(r, policies),
	}
	if s.Mode == model.SpreadRequired {
		s.MinDomains = pick(r, []int32{0, 0, 1, 2, 10, math.MaxInt32})
	}
	if s.Selector != nil {
		s.MatchLabelKeys = picks(r, 2, labelKeys)
	}
	return s
}

// RandomDeviceRequest returns a valid request.
func RandomDeviceRequest(r *rand.Rand) model.DeviceRequest {
	q := model.DeviceRequest{Class: pick(r, classes), Count: 1, Models: picks(r, 2, models)}
	if r.IntN(2) == 0 {
		q.Share = pick(r, []int64{1, 10, 333, 500, model.WholeDevice - 1})
		return q
	}
	q.Share = model.WholeDevice
	q.Count = pick(r, []int64{1, 1, 2, 8, math.MaxInt64})
	return q
}

func randomPort(r *rand.Rand) model.HostPort {
	return model.HostPort{
		IP:       pick(r, []string{"", "", model.AllAddresses, "10.0.0.1", "::1"}),
		Protocol: pick(r, []model.Protocol{"", model.TCP, model.UDP, model.SCTP}),
		Port:     pick(r, []int32{1, 80, 443, 65535}),
	}
}

// randomDisks returns disks, as a rule none.
func randomDisks(r *rand.Rand) []model.Disk {
	if r.IntN(6) > 0 {
		return nil
	}
	return list(r, 2, func() model.Disk {
		d := model.Disk{Keys: picks(r, 2, []string{"disk-1", "disk-2", "disk-3"}), ReadOnly: r.IntN(2) == 0}
		d.Driver, d.Handle, d.Plugin = randomDriver(r)
		return d
	})
}

// randomVolumeClaims returns uses of claims, as a rule none.
func randomVolumeClaims(r *rand.Rand) []model.VolumeClaimRef {
	if r.IntN(6) > 0 {
		return nil
	}
	refs := list(r, 3, func() model.VolumeClaimRef {
		return model.VolumeClaimRef{ID: volumeClaimID(r.IntN(30)), Name: maybe(r, "data"), Generated: r.IntN(5) == 0}
	})
	return unique(refs, func(a, b model.VolumeClaimRef) bool { return a.ID == b.ID })
}

// randomDriver returns a driver, maybe with a volume of it, maybe none.
func randomDriver(r *rand.Rand) (driver, handle, plugin string) {
	if r.IntN(2) == 0 {
		return "", "", ""
	}
	driver, handle = pick(r, provisioners[2:]), maybe(r, fmt.Sprintf("handle-%d", r.IntN(30)))
	if r.IntN(3) == 0 {
		plugin = pick(r, builtIn)
	}
	return driver, handle, plugin
}

func volumeClaimID(i int) string { return fmt.Sprintf("claim-%d", i) }
