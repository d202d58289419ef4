package helper

import "github.com/berth-project/berth/model"

// Tolerates reports whether one of the tolerations covers the taint.
//
// Rule: k8s.io/component-helpers scheduling/corev1/helpers.go
// TolerationsTolerateTaint, 0.37.1.
func Tolerates(tolerations []model.Toleration, taint *model.Taint) bool {
	for i := range tolerations {
		if tolerations[i].Tolerates(taint) {
			return true
		}
	}
	return false
}

// FirstUntolerated returns the first taint that keeps workloads with these
// tolerations off the node, nil where there is none. Only NoSchedule and
// NoExecute do that; PreferNoSchedule is a matter of scores.
//
// Rule: kube-scheduler plugins/helper/taint.go and k8s.io/component-helpers
// scheduling/corev1/helpers.go FindMatchingUntoleratedTaint, 1.37.1.
func FirstUntolerated(taints []model.Taint, tolerations []model.Toleration) *model.Taint {
	for i := range taints {
		taint := &taints[i]
		if taint.Effect != model.NoSchedule && taint.Effect != model.NoExecute {
			continue
		}
		if !Tolerates(tolerations, taint) {
			return taint
		}
	}
	return nil
}
