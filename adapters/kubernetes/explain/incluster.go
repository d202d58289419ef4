package explain

import (
	"slices"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// inCluster is what an owner has on nodes.
type inCluster struct {
	pods int
	// hash is the pod-template-hash of the pod that was created last: what a Deployment makes next is
	// most likely to be like that.
	hash   string
	newest metav1.Time // when that was
	// indexes are those of an indexed job that its pods have.
	indexes map[int]bool
}

// ownedIn says by what owns them, kind and name, which pods are on nodes and are not told to go: their
// controllers make others for those.
func (t *translation) ownedIn(namespace string) map[string]inCluster {
	if known := t.owned[namespace]; known != nil {
		return known
	}
	found := map[string]inCluster{}
	t.owned[namespace] = found
	pods, _ := t.h.o.Pods.Pods(namespace).List(labels.Everything()) // of what is in memory
	for _, p := range pods {
		for _, owner := range ownersOf(p) {
			found[owner] = found[owner].with(p)
		}
	}
	return found
}

func (c inCluster) with(p *v1.Pod) inCluster {
	hash := p.Labels[appsv1.DefaultDeploymentUniqueLabelKey]
	if at := p.CreationTimestamp; c.pods == 0 || c.newest.Before(&at) || c.newest.Equal(&at) && hash < c.hash {
		c.hash, c.newest = hash, at
	}
	if index, err := strconv.Atoi(p.Annotations[batchv1.JobCompletionIndexAnnotation]); err == nil {
		if c.indexes == nil {
			c.indexes = map[int]bool{}
		}
		c.indexes[index] = true
	}
	c.pods++
	return c
}

// controllers are those that make pods themselves.
var controllers = []schema.GroupKind{
	{Group: appsv1.GroupName, Kind: "ReplicaSet"}, {Group: appsv1.GroupName, Kind: "StatefulSet"},
	{Group: batchv1.GroupName, Kind: "Job"}, {Group: v1.GroupName, Kind: "ReplicationController"},
}

// ownersOf are the controller of a pod that is on a node, kind and name, and what that one is made
// of: a Deployment's sets have the hash of its template in their names, and a CronJob's jobs a time.
//
// Rules: kube-controller-manager pkg/controller (deployment/sync.go, cronjob/utils.go getJobName,
// controller_utils.go IsPodActive), 1.37.1.
func ownersOf(p *v1.Pod) []string {
	c := metav1.GetControllerOfNoCopy(p)
	if c == nil || !isOnNode(p) || p.DeletionTimestamp != nil {
		return nil
	}
	if at, err := schema.ParseGroupVersion(c.APIVersion); err != nil || !slices.Contains(controllers, schema.GroupKind{Group: at.Group, Kind: c.Kind}) {
		return nil // others have kinds of these names, too
	}
	list := []string{c.Kind + "/" + c.Name}
	dash := strings.LastIndexByte(c.Name, '-')
	if dash < 0 {
		return list
	}
	above, end := c.Name[:dash], c.Name[dash+1:]
	switch {
	case c.Kind == "ReplicaSet" && end == p.Labels[appsv1.DefaultDeploymentUniqueLabelKey]:
		list = append(list, "Deployment/"+above)
	case c.Kind == "Job" && end != "" && strings.Trim(end, "0123456789") == "":
		list = append(list, "CronJob/"+above)
	}
	return list
}

// isMade reports whether the cluster has pods of what the kind and the name stand for.
func (t *translation) isMade(kind, namespace, name string) bool {
	return t.ownedIn(namespace)[kind+"/"+name].pods > 0
}
