package app

import (
	"context"
	"slices"

	"k8s.io/klog/v2"

	"github.com/berth-project/berth/adapters/kubernetes"
	"github.com/berth-project/berth/adapters/kubernetes/customresources"
	"github.com/berth-project/berth/adapters/kubernetes/queueing"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/plugins"
)

// queueing is what the configuration says of queues, and whether objects say more.
func (s *scheduler) queueing() *queueing.Configuration {
	if slices.Contains(s.customKinds, customresources.ElasticQuotas) {
		return s.config.QueueingWithQuotas()
	}
	return s.config.Queueing
}

// customOfAdapter is what the adapter reads.
func (s *scheduler) customOfAdapter(profiles []extpoints.Profile) (kubernetes.Custom, error) {
	c := kubernetes.Custom{Client: s.clients.custom}
	for _, k := range s.customKinds {
		if k.OfPods() {
			c.Kinds = append(c.Kinds, k)
		}
	}
	var err error
	if slices.Contains(c.Kinds, customresources.PodGroups) {
		c.Coscheduled = profilesWith(profiles, plugins.Coscheduling)
	}
	if slices.Contains(c.Kinds, customresources.SeccompProfiles) {
		c.UnconfinedProfile, err = s.config.UnconfinedProfile()
	}
	return c, err
}

// profilesWith are the names of the profiles that run the plugin.
func profilesWith(profiles []extpoints.Profile, plugin string) (names []string) {
	for i := range profiles {
		if slices.ContainsFunc(profiles[i].Plugins, func(e extpoints.Entry) bool { return e.Name == plugin }) {
			names = append(names, profiles[i].Name)
		}
	}
	return names
}

// watchCustom makes what reads the other custom resources, if any plugin goes by them.
func (s *scheduler) watchCustom() (err error) {
	kinds := slices.DeleteFunc(slices.Clone(s.customKinds), customresources.Kind.OfPods)
	if len(kinds) == 0 {
		return nil
	}
	s.custom, err = customresources.New(customresources.Options{
		Client:    s.clients.custom,
		Discovery: s.clients.main.Discovery(),
		Kinds:     kinds,
		Apply:     s.engine.Apply,
		Pods:      s.adapter.Pods(),
		Failed:    func(err error) { klog.Background().Error(err, "Some of the custom resources are missing") },
	})
	return err
}

// customInstalled says which custom resources that plugins go by the API server does not have.
func (s *scheduler) customInstalled() error {
	return customresources.Installed(s.clients.main.Discovery(), s.customKinds...)
}

// readCustom reads them until ctx ends.
func (s *scheduler) readCustom(ctx context.Context) error {
	s.custom.Run(ctx)
	return nil
}
