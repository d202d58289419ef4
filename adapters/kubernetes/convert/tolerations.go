package convert

import (
	"strconv"
	"unicode/utf8"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/validate/content"

	"github.com/berth-project/berth/model"
)

var tolerationsPath = specPath.Child("tolerations")

// tolerations leaves out those that tolerate nothing.
//
// Rules: k8s.io/api core/v1/toleration.go, v0.37.1.
func (p *problems) tolerations(tolerations []v1.Toleration, gates Gates) []model.Toleration {
	var list []model.Toleration
	for i := range tolerations {
		t := &tolerations[i]
		m := model.Toleration{Key: t.Key, Operator: model.Operator(t.Operator), Value: t.Value, Effect: model.TaintEffect(t.Effect)}
		switch t.Operator {
		case "", v1.TolerationOpEqual:
		case v1.TolerationOpExists:
			m.Value = "" // nobody looks at it
		case v1.TolerationOpLt, v1.TolerationOpGt:
			if !gates.TaintTolerationComparisonOperators || !isNumber(t.Value) {
				continue
			}
		default:
			p.report(tolerationsPath.Index(i).Child("operator"), "%q is not an operator of a toleration", t.Operator)
			continue
		}
		if t.Key == "" && t.Operator != v1.TolerationOpExists {
			p.report(tolerationsPath.Index(i).Child("key"), "may only be empty, for every key, where operator is %s", v1.TolerationOpExists)
			continue
		}
		if !utf8.ValidString(m.Key) || !utf8.ValidString(m.Value) {
			p.report(tolerationsPath.Index(i), "%q=%q is not valid UTF-8", m.Key, m.Value)
			continue
		}
		if t.Effect != "" && !isTaintEffect(t.Effect) {
			p.report(tolerationsPath.Index(i).Child("effect"), "%q is not an effect of a taint", t.Effect)
			continue
		}
		list = append(list, m)
	}
	return list
}

// isNumber reports whether a toleration with Gt or Lt can tolerate something.
func isNumber(value string) bool {
	_, err := strconv.ParseInt(value, 10, 64)
	return err == nil && len(content.IsDecimalInteger(value)) == 0
}

func isTaintEffect(e v1.TaintEffect) bool {
	switch e {
	case v1.TaintEffectNoSchedule, v1.TaintEffectPreferNoSchedule, v1.TaintEffectNoExecute:
		return true
	}
	return false
}
