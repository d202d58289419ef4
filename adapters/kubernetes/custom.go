package kubernetes

import (
	"errors"
	"fmt"
	"slices"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"

	"github.com/berth-project/berth/adapters/kubernetes/customresources"
	"github.com/berth-project/berth/engine"
)

// Custom says which custom resources are read that say something of pods. The API server must
// have them: see [customresources.Installed].
type Custom struct {
	// Client reads them. Required where there are any.
	Client dynamic.Interface
	// Kinds are those to read: customresources.SeccompProfiles, PodGroups, and ElasticQuotas, for
	// which Queueing must have QuotaObjects. Default: none.
	Kinds []customresources.Kind
	// Coscheduled are the profiles whose pods are members of the PodGroups that their label names.
	// Default: none.
	Coscheduled []string
	// UnconfinedProfile is the namespace/name of the SeccompProfile that stands for pods of
	// whose system calls no other one says anything. Default: nothing is known of them.
	UnconfinedProfile string
}

func (c *Custom) validate() error {
	if len(c.Kinds) > 0 && c.Client == nil {
		return errors.New("options: custom: client: there is none")
	}
	for _, k := range c.Kinds {
		if !k.OfPods() {
			return fmt.Errorf("options: custom: kinds: %q is none that an adapter reads", k)
		}
	}
	return nil
}

// reads reports whether the kind is read.
func (c *Custom) reads(k customresources.Kind) bool { return slices.Contains(c.Kinds, k) }

// fromCustom takes in what is said of the kind, if it is to be read.
func (a *Adapter) fromCustom(kind customresources.Kind, translate func(before, after any) []engine.Change) error {
	if !a.opts.Custom.reads(kind) {
		return nil
	}
	if a.custom == nil {
		a.custom = dynamicinformer.NewDynamicSharedInformerFactory(a.opts.Custom.Client, 0)
	}
	resource, _ := kind.Resource()
	informer := a.custom.ForResource(resource).Informer()
	if err := informer.SetTransform(trim); err != nil {
		return fmt.Errorf("watch %s: %w", kind, err)
	}
	return a.from(string(kind), informer, translate)
}
