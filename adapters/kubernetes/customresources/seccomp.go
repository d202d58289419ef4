package customresources

import (
	"errors"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// seccompProfile is a SeccompProfile, as far as it is read (security-profiles-operator.x-k8s.io/
// v1beta1).
type seccompProfile struct {
	Spec struct {
		Syscalls []struct {
			Names  []string `json:"names"`
			Action string   `json:"action"`
		} `json:"syscalls"`
	} `json:"spec"`
}

// Syscalls are the system calls that a SeccompProfile names and lets through, with a line in
// the log or without, in ascending order. What it does with those that it does not name is not
// read, and neither is a profile that it is based on.
//
// Rules: kubernetes-sigs/scheduler-plugins, pkg/sysched readSPOProfileCR, commit 903da7df.
func Syscalls(profile *unstructured.Unstructured) ([]string, error) {
	p, err := decode[seccompProfile](profile)
	if err != nil {
		return nil, err
	}
	var calls []string
	for _, rule := range p.Spec.Syscalls {
		if rule.Action == "SCMP_ACT_ALLOW" || rule.Action == "SCMP_ACT_LOG" {
			calls = append(calls, rule.Names...)
		}
	}
	if slices.Contains(calls, "") {
		return nil, errors.New("spec.syscalls: a name is empty")
	}
	slices.Sort(calls)
	return slices.Compact(calls), nil
}
