package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	storagehelpers "k8s.io/component-helpers/storage/volume"

	"github.com/berth-project/berth/adapters/kubernetes/convert"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/model"
)

// BindVolumes implements [extpoints.VolumeBinder]: it writes into the persistent
// volumes which claims they are for, and into the claims for which node a volume is to
// be made, and waits until the controllers have bound the claims, for at most
// [Options].PreBindTimeout. What is as it should be already is not written again.
// Nothing is taken back after an error: the next attempt continues from
// there, as in kube-scheduler. The engine is told at once what is written, and after an
// error what is there; see written.go.
//
// Rules: kube-scheduler plugins/volumebinding/binder.go (bindAPIUpdate,
// checkBindings), 1.37.1. Unlike there a change that does not matter to the binding is
// no reason to start anew, and a claim that is bound is fine whatever its annotation
// says, as long as its volume is the one that was chosen and can be used from the
// node.
func (a *Adapter) BindVolumes(ctx context.Context, w *model.Workload, b model.Binding) error {
	err := a.bindVolumes(ctx, w, &b)
	if err != nil {
		err = a.look(ctx, w, &b, err, model.VolumeKind, model.VolumeClaimKind)
	}
	return err
}

func (a *Adapter) bindVolumes(ctx context.Context, w *model.Workload, b *model.Binding) error {
	ctx, cancel := context.WithTimeout(ctx, a.opts.PreBindTimeout)
	defer cancel()
	var promises []promise
	for _, o := range b.Decided {
		var p promise
		var err error
		switch o := o.(type) {
		case *model.Volume:
			if o.Claim == nil {
				continue
			}
			p, err = a.giveVolume(ctx, o)
		case *model.VolumeClaim:
			if o.SelectedNode == "" {
				continue
			}
			p, err = a.selectNode(ctx, o)
		default:
			continue
		}
		if err != nil {
			return err
		}
		promises = append(promises, p)
	}
	return poll(ctx, func() (string, error) { return a.unkept(w, b.Node, promises) })
}

// promise is a claim that is about to be bound.
type promise struct {
	namespace, claim string
	uid              types.UID // of the claim
	// volume is the name of the volume that it gets; empty: one is made for it.
	volume string
	// version is that of the volume as it was written, or of the claim where a
	// volume is made for it. An older one says nothing.
	version string
}

func (p *promise) String() string { return p.namespace + "/" + p.claim }

// giveVolume writes into the volume which claim it is for.
func (a *Adapter) giveVolume(ctx context.Context, decided *model.Volume) (promise, error) {
	p := promise{volume: decided.Name}
	p.namespace, p.claim, _ = strings.Cut(decided.Claim.ID, "/")
	claim, err := a.claimOf(&p, decided.Claim.UID)
	if err != nil {
		return p, err
	}
	known, err := a.listers.volumes.Get(decided.Name)
	if err != nil {
		return p, err
	}
	client := a.opts.Client.CoreV1().PersistentVolumes()
	is, err := rewrite(ctx, known,
		func(ctx context.Context) (*v1.PersistentVolume, error) {
			return client.Get(ctx, decided.Name, metav1.GetOptions{})
		},
		func(ctx context.Context, v *v1.PersistentVolume) (*v1.PersistentVolume, error) {
			if err := free(v, claim); err != nil {
				return v, err
			}
			given, changes, err := storagehelpers.GetBindVolumeToClaim(v, claim)
			if err != nil || !changes {
				return v, err
			}
			return wroteVolume(ctx, a, Volumes, func(ctx context.Context) (*v1.PersistentVolume, error) {
				return client.Update(ctx, given, metav1.UpdateOptions{})
			})
		})
	if err != nil {
		return p, fmt.Errorf("give pv %q to claim %s: %w", decided.Name, &p, err)
	}
	p.uid, p.version = claim.UID, is.ResourceVersion
	return p, nil
}

// claimOf looks up the claim, which must have the UID where that is known.
func (a *Adapter) claimOf(p *promise, id string) (*v1.PersistentVolumeClaim, error) {
	c, err := a.listers.claims.PersistentVolumeClaims(p.namespace).Get(p.claim)
	if err == nil && id != "" && string(c.UID) != id {
		err = fmt.Errorf("claim %s is not the one that was decided about", p)
	}
	return c, err
}

// free reports, as an error, that the volume cannot be given to the claim.
func free(v *v1.PersistentVolume, claim *v1.PersistentVolumeClaim) error {
	ref := v.Spec.ClaimRef
	switch {
	case v.DeletionTimestamp != nil:
		return errors.New("it is being deleted")
	case ref != nil && !storagehelpers.IsVolumeBoundToClaim(v, claim):
		return fmt.Errorf("it is for claim %s/%s (%s) now", ref.Namespace, ref.Name, ref.UID)
	}
	return nil
}

// selectNode writes into the claim for which node a volume is to be made. A claim that
// got a volume meanwhile is left alone.
func (a *Adapter) selectNode(ctx context.Context, decided *model.VolumeClaim) (promise, error) {
	p := promise{namespace: decided.Namespace, claim: decided.Name}
	known, err := a.claimOf(&p, decided.UID)
	if err != nil {
		return p, err
	}
	client := a.opts.Client.CoreV1().PersistentVolumeClaims(decided.Namespace)
	is, err := rewrite(ctx, known,
		func(ctx context.Context) (*v1.PersistentVolumeClaim, error) {
			return client.Get(ctx, decided.Name, metav1.GetOptions{})
		},
		func(ctx context.Context, c *v1.PersistentVolumeClaim) (*v1.PersistentVolumeClaim, error) {
			selected := c.Annotations[storagehelpers.AnnSelectedNode]
			switch {
			case c.UID != known.UID:
				return c, errors.New("it is not the one that was decided about")
			case c.DeletionTimestamp != nil:
				return c, errors.New("it is being deleted")
			case c.Spec.VolumeName != "", selected == decided.SelectedNode:
				return c, nil
			case selected != "":
				return c, fmt.Errorf("its volume is to be made for node %q now", selected)
			}
			c = c.DeepCopy()
			metav1.SetMetaDataAnnotation(&c.ObjectMeta, storagehelpers.AnnSelectedNode, decided.SelectedNode)
			return wroteVolume(ctx, a, VolumeClaims, func(ctx context.Context) (*v1.PersistentVolumeClaim, error) {
				return client.Update(ctx, c, metav1.UpdateOptions{})
			})
		})
	if err != nil {
		return p, fmt.Errorf("select node %q for claim %s: %w", decided.SelectedNode, &p, err)
	}
	p.uid, p.version = is.UID, is.ResourceVersion
	return p, nil
}

// unkept says which promise is not kept yet, empty for none. The error says why one
// never will be.
func (a *Adapter) unkept(w *model.Workload, name string, promises []promise) (waitsFor string, err error) {
	view := a.engine.View()
	node, ok := view.Node(name)
	if !ok {
		return "", fmt.Errorf("failed to get node %q: there is none any more", name)
	}
	if _, err := a.podOf(w); err != nil {
		return "", err
	}
	for i := range promises {
		p := &promises[i]
		ok, err := a.isKept(view, node.Node, p)
		if err != nil {
			return "", err
		}
		if !ok {
			return fmt.Sprintf("claim %s is not bound yet", p), nil
		}
	}
	return "", nil
}

func (a *Adapter) isKept(view *engine.View, node *model.Node, p *promise) (bool, error) {
	c, err := a.claimOf(p, string(p.uid))
	if err != nil {
		return false, fmt.Errorf("failed to check binding: %w", err)
	}
	if p.volume != "" {
		return a.isGiven(view, node, p, c)
	}
	return a.isMade(view, node, p, c)
}

// isGiven reports whether the claim has the volume that it was given.
func (a *Adapter) isGiven(view *engine.View, node *model.Node, p *promise, c *v1.PersistentVolumeClaim) (bool, error) {
	v, err := a.listers.volumes.Get(p.volume)
	if err != nil {
		return false, fmt.Errorf("failed to check binding: %w", err)
	}
	if predates(v, p.version) {
		return false, nil
	}
	if err := reaches(view, v, node); err != nil {
		return false, err
	}
	switch ref := v.Spec.ClaimRef; {
	case ref == nil || ref.UID == "":
		return false, fmt.Errorf("ClaimRef got reset for pv %q", v.Name)
	case ref.UID != p.uid:
		return false, fmt.Errorf("pv %q is for claim %s/%s now, not for %s", v.Name, ref.Namespace, ref.Name, p)
	case c.Spec.VolumeName != "" && c.Spec.VolumeName != v.Name:
		return false, fmt.Errorf("claim %s got pv %q instead of %q", p, c.Spec.VolumeName, v.Name)
	}
	return isBound(c), nil
}

// isMade reports whether the claim has the volume that was made for it.
func (a *Adapter) isMade(view *engine.View, node *model.Node, p *promise, c *v1.PersistentVolumeClaim) (bool, error) {
	if predates(c, p.version) {
		return false, nil
	}
	if c.Spec.VolumeName != "" {
		v, err := a.listers.volumes.Get(c.Spec.VolumeName)
		if apierrors.IsNotFound(err) {
			return false, nil // it is new; and where it has gone again the claim will change
		}
		if err == nil {
			err = reaches(view, v, node)
		}
		if err != nil {
			return false, err
		}
	}
	switch {
	case isBound(c):
		return true, nil
	case c.Annotations == nil:
		return false, fmt.Errorf("selectedNode annotation reset for PVC %q", c.Name)
	case c.Annotations[storagehelpers.AnnSelectedNode] != node.Name:
		return false, fmt.Errorf("provisioning failed for PVC %q", c.Name) // who makes volumes says so by removing it
	}
	return false, nil
}

// isBound reports whether the controller is done with the claim.
func isBound(c *v1.PersistentVolumeClaim) bool {
	return c.Spec.VolumeName != "" && metav1.HasAnnotation(c.ObjectMeta, storagehelpers.AnnBindCompleted)
}

// reaches reports, as an error, that the volume cannot be used from the node.
func reaches(view *engine.View, v *v1.PersistentVolume, node *model.Node) error {
	m, _ := convert.Volume(v) // what cannot be read is a term that no node matches
	nodes := m.Nodes
	if m.StandInNodes != nil && standsIn(view, node.Name, m.Plugin) {
		nodes = m.StandInNodes
	}
	if !nodes.Matches(node) {
		return fmt.Errorf("pv %q node affinity doesn't match node %q: no matching NodeSelectorTerms", v.Name, node.Name)
	}
	return nil
}

// standsIn reports whether a driver stands in for the plugin on the node.
func standsIn(view *engine.View, node, plugin string) bool {
	o, ok := view.Object(model.ObjectRef{Kind: model.NodeStorageKind, ID: node})
	if !ok {
		return false
	}
	s, ok := o.Object.(*model.NodeStorage)
	return ok && slices.Contains(s.StandsIn, plugin)
}
