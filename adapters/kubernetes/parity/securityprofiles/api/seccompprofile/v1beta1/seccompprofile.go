// Package v1beta1 is as much of the operator's SeccompProfile as the plugin SySched reads: which system
// calls a profile names, and what is done about each.
package v1beta1

import (
	"slices"

	"github.com/containers/common/pkg/seccomp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// SeccompProfile is the custom resource of that name.
type SeccompProfile struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is what the profile says.
	Spec SeccompProfileSpec `json:"spec,omitempty"`
}

// SeccompProfileSpec says what is done about system calls.
type SeccompProfileSpec struct {
	// DefaultAction is for those that Syscalls does not name.
	DefaultAction seccomp.Action `json:"defaultAction"`
	// Syscalls are those that have an action of their own.
	Syscalls []*Syscall `json:"syscalls,omitempty"`
}

// Syscall says what is done about some system calls.
type Syscall struct {
	// Names are those of the system calls.
	Names []string `json:"names"`
	// Action is what is done.
	Action seccomp.Action `json:"action"`
}

// SeccompProfileList is a list of them.
type SeccompProfileList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// Items are the profiles.
	Items []SeccompProfile `json:"items"`
}

// DeepCopyObject implements [runtime.Object].
func (p *SeccompProfile) DeepCopyObject() runtime.Object {
	c := *p
	c.ObjectMeta = *p.ObjectMeta.DeepCopy()
	c.Spec.Syscalls = nil
	for _, s := range p.Spec.Syscalls {
		c.Spec.Syscalls = append(c.Spec.Syscalls, &Syscall{slices.Clone(s.Names), s.Action})
	}
	return &c
}

// DeepCopyObject implements [runtime.Object].
func (l *SeccompProfileList) DeepCopyObject() runtime.Object {
	c := *l
	c.ListMeta = *l.ListMeta.DeepCopy()
	c.Items = nil
	for i := range l.Items {
		c.Items = append(c.Items, *l.Items[i].DeepCopyObject().(*SeccompProfile))
	}
	return &c
}

// AddToScheme tells the scheme of the types.
func AddToScheme(s *runtime.Scheme) error {
	version := schema.GroupVersion{Group: "security-profiles-operator.x-k8s.io", Version: "v1beta1"}
	s.AddKnownTypes(version, &SeccompProfile{}, &SeccompProfileList{})
	metav1.AddToGroupVersion(s, version)
	return nil
}
