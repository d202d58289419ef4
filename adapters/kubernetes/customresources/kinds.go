package customresources

import (
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
)

// Kind is a kind of custom resources, by its resource and group.
type Kind string

// The kinds that a [Source] reads.
const (
	NodeTopologies    Kind = "noderesourcetopologies.topology.node.k8s.io"
	AppGroups         Kind = "appgroups.appgroup.diktyo.x-k8s.io"
	NetworkTopologies Kind = "networktopologies.networktopology.diktyo.x-k8s.io"
)

// The kinds that say something of pods, which the adapter reads with them.
const (
	SeccompProfiles Kind = "seccompprofiles.security-profiles-operator.x-k8s.io"
	ElasticQuotas   Kind = "elasticquotas.scheduling.x-k8s.io"
	PodGroups       Kind = "podgroups.scheduling.x-k8s.io"
)

// resources are the kinds in the versions that are read.
var resources = map[Kind]schema.GroupVersionResource{
	NodeTopologies:    {Group: "topology.node.k8s.io", Version: "v1alpha2", Resource: "noderesourcetopologies"},
	AppGroups:         {Group: "appgroup.diktyo.x-k8s.io", Version: "v1alpha1", Resource: "appgroups"},
	NetworkTopologies: {Group: "networktopology.diktyo.x-k8s.io", Version: "v1alpha1", Resource: "networktopologies"},
	SeccompProfiles:   {Group: "security-profiles-operator.x-k8s.io", Version: "v1beta1", Resource: "seccompprofiles"},
	ElasticQuotas:     {Group: "scheduling.x-k8s.io", Version: "v1alpha1", Resource: "elasticquotas"},
	PodGroups:         {Group: "scheduling.x-k8s.io", Version: "v1alpha1", Resource: "podgroups"},
}

// Resource is the resource in the version that is read; false where there is no such kind.
func (k Kind) Resource() (schema.GroupVersionResource, bool) {
	r, known := resources[k]
	return r, known
}

// OfPods reports whether the kind says something of pods, so that the adapter reads it with them,
// and not a [Source].
func (k Kind) OfPods() bool {
	_, known := resources[k]
	_, read := readers[k]
	return known && !read
}

// ErrNotInstalled says that the API server has no such custom resources.
var ErrNotInstalled = errors.New("the custom resource definition is not installed")

// Installed asks the API server whether it has the resources. The error names all that it does
// not have ([ErrNotInstalled]).
func Installed(server discovery.DiscoveryInterface, kinds ...Kind) error {
	var problems []error
	for _, k := range kinds {
		r := resources[k]
		list, err := server.ServerResourcesForGroupVersion(r.GroupVersion().String())
		switch {
		case err != nil && !apierrors.IsNotFound(err):
			problems = append(problems, fmt.Errorf("custom resources: %s: %w", k, err))
		case err != nil || !slices.ContainsFunc(list.APIResources, func(a metav1.APIResource) bool { return a.Name == r.Resource }):
			problems = append(problems, fmt.Errorf("custom resources: %s, version %s: %w; install it, or disable the plugins that need it", k, r.Version, ErrNotInstalled))
		}
	}
	return errors.Join(problems...)
}
