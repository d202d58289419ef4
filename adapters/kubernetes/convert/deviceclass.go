package convert

import (
	"unicode/utf8"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/berth-project/berth/model"
)

// neverSelects stands for a selector that cannot be read: it selects no device.
var neverSelects = model.DeviceSelector{Expression: "false"}

// DeviceClass translates a device class. Selectors become expressions, for which
// package cel has the evaluator.
//
// The error, a [*model.ValidationError], lists what cannot be translated. The
// class is there even so where it can be put right: a selector that cannot be
// read selects no device. It is nil where it cannot; then there is no such class.
func DeviceClass(d *resourcev1.DeviceClass) (*model.DeviceClass, error) {
	var c problems
	m := &model.DeviceClass{
		Name:      c.text(namePath, d.Name),
		Selectors: c.selectors(specPath.Child("selectors"), d.Spec.Selectors),
		Resource:  c.text(specPath.Child("extendedResourceName"), orZero(d.Spec.ExtendedResourceName)),
		CreatedAt: d.CreationTimestamp.Time,
	}
	for i := range d.Spec.Config {
		m.Config = append(m.Config, deviceConfig(nil, &d.Spec.Config[i].DeviceConfiguration))
	}
	if !c.valid(specPath, m) {
		m = nil
	}
	return m, c.err("device class", d.Name)
}

func (p *problems) selectors(at *field.Path, selectors []resourcev1.DeviceSelector) []model.DeviceSelector {
	var list []model.DeviceSelector
	for i := range selectors {
		if cel := selectors[i].CEL; cel != nil && cel.Expression != "" {
			list = append(list, model.DeviceSelector{Expression: cel.Expression})
			continue
		}
		p.report(at.Index(i).Child("cel"), "must be there, and have an expression")
		list = append(list, neverSelects)
	}
	return list
}

// deviceConfig shares the parameters with its argument.
func deviceConfig(requests []string, c *resourcev1.DeviceConfiguration) model.DeviceConfig {
	m := model.DeviceConfig{Requests: requests}
	if c.Opaque != nil {
		m.Driver, m.Parameters = c.Opaque.Driver, c.Opaque.Parameters.Raw
	}
	return m
}

// DeviceTaintRule translates a taint rule. Its ID is its name. It is nil, without
// an error, where the rule is about no device: it has no selector then, or one for
// an empty name, which nothing has. It is nil with an error, a
// [*model.ValidationError], where there is no telling what it does.
//
// Rules: k8s.io/dynamic-resource-allocation resourceslice/tracker/tracker.go,
// v0.37.1.
func DeviceTaintRule(r *resourcev1.DeviceTaintRule) (*model.DeviceTaintRule, error) {
	s := r.Spec.DeviceSelector
	if s == nil {
		return nil, nil
	}
	for _, name := range []*string{s.Driver, s.Pool, s.Device} {
		if name != nil && *name == "" {
			return nil, nil
		}
	}
	var c problems
	at := specPath.Child("deviceSelector")
	m := &model.DeviceTaintRule{
		ID:     c.text(namePath, r.Name),
		Driver: c.text(at.Child("driver"), orZero(s.Driver)),
		Pool:   c.text(at.Child("pool"), orZero(s.Pool)),
		Device: c.text(at.Child("device"), orZero(s.Device)),
		Taint:  deviceTaint(&r.Spec.Taint),
	}
	if !c.valid(specPath, m) {
		m = nil
	}
	return m, c.err("device taint rule", r.Name)
}

// deviceTaint translates a taint. One with an effect that is not known does
// nothing, as in the scheduler.
func deviceTaint(t *resourcev1.DeviceTaint) model.Taint {
	m := model.Taint{Key: t.Key, Value: t.Value, Effect: model.NoEffect}
	if t.Effect == resourcev1.DeviceTaintEffectNoSchedule || t.Effect == resourcev1.DeviceTaintEffectNoExecute {
		m.Effect = model.TaintEffect(t.Effect)
	}
	return m
}

// deviceTolerations leaves out those that tolerate nothing.
//
// Rules: k8s.io/dynamic-resource-allocation resourceclaim/devicetoleration.go,
// v0.37.1.
func (p *problems) deviceTolerations(at *field.Path, tolerations []resourcev1.DeviceToleration) []model.Toleration {
	var list []model.Toleration
	for i := range tolerations {
		t := &tolerations[i]
		m := model.Toleration{Key: t.Key, Operator: model.Operator(t.Operator), Value: t.Value, Effect: model.TaintEffect(t.Effect)}
		switch t.Operator {
		case "", resourcev1.DeviceTolerationOpEqual:
			m.Operator = model.Equal
			if t.Key == "" {
				p.report(at.Index(i).Child("key"), "may only be empty, for every key, where operator is %s", resourcev1.DeviceTolerationOpExists)
				continue
			}
		case resourcev1.DeviceTolerationOpExists:
			m.Value = "" // nobody looks at it
		default:
			p.report(at.Index(i).Child("operator"), "%q is not an operator of a toleration", t.Operator)
			continue
		}
		if !utf8.ValidString(m.Key) || !utf8.ValidString(m.Value) {
			p.report(at.Index(i), "%q=%q is not valid UTF-8", m.Key, m.Value)
			continue
		}
		switch t.Effect {
		case "", resourcev1.DeviceTaintEffectNone, resourcev1.DeviceTaintEffectNoSchedule, resourcev1.DeviceTaintEffectNoExecute:
			list = append(list, m)
		default:
			p.report(at.Index(i).Child("effect"), "%q is not an effect of a taint", t.Effect)
		}
	}
	return list
}
