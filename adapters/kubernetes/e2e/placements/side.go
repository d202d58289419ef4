package placements

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/berth-project/berth/adapters/kubernetes/e2e/cluster"
	"github.com/berth-project/berth/adapters/kubernetes/e2e/controlplane"
)

// side is a control plane, and while a world is there a scheduler.
type side struct {
	kind      controlplane.SchedulerKind
	plane     *controlplane.ControlPlane
	cluster   *cluster.Cluster
	scheduler *controlplane.Scheduler
	probes    int // that have been submitted
}

func newSide(ctx context.Context, kind controlplane.SchedulerKind) (*side, error) {
	plane, err := controlplane.Start(ctx, controlplane.Options{})
	if err != nil {
		return nil, err
	}
	config := plane.Config(controlplane.AdminUser)
	config.WarningHandler = rest.NoWarnings{} // about odd corners
	c, err := cluster.Connect(ctx, config)
	if err != nil {
		plane.Stop()
		return nil, err
	}
	return &side{kind: kind, plane: plane, cluster: c}, nil
}

func (s *side) close() {
	s.cluster.Close()
	s.plane.Stop()
}

// enter makes the world and starts the scheduler in it, with the default
// configuration but for the part given.
func (s *side) enter(ctx context.Context, w world, config string) error {
	if err := s.cluster.CreateObjects(ctx, 1, w.objects); err != nil {
		return err
	}
	label := any(nil)
	if w.team != "" {
		label = w.team
	}
	patch := text(map[string]any{"metadata": map[string]any{"labels": map[string]any{"team": label}}})
	if _, err := s.cluster.Client.CoreV1().Namespaces().Patch(ctx, cluster.Namespace, types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
		return err
	}
	var err error
	s.scheduler, err = controlplane.StartScheduler(ctx, controlplane.SchedulerOptions{
		Kind: s.kind, Kubeconfig: s.plane.Kubeconfig(controlplane.SchedulerUser),
		Config:       "parallelism: 1\n" + config,
		FeatureGates: map[string]bool{"OpportunisticBatching": false},
	})
	return err
}

// leave ends the scheduler, if it has started, and the world.
func (s *side) leave(ctx context.Context) error {
	if s.scheduler != nil {
		s.scheduler.Remove()
		s.scheduler = nil
	}
	return s.cluster.Wipe(ctx)
}

// sides are the two that are compared.
type sides struct{ reference, subject *side }

// newSides starts both control planes.
func newSides(ctx context.Context) (*sides, error) {
	b := &sides{}
	var group errgroup.Group
	start := func(s **side, kind controlplane.SchedulerKind) {
		group.Go(func() (err error) {
			*s, err = newSide(ctx, kind)
			return err
		})
	}
	start(&b.reference, controlplane.Kube)
	start(&b.subject, controlplane.Berth)
	if err := group.Wait(); err != nil {
		b.close()
		return nil, err
	}
	return b, nil
}

// close stops what has started.
func (b *sides) close() {
	for _, s := range []*side{b.reference, b.subject} {
		if s != nil {
			s.close()
		}
	}
}

// each does the same on both sides at once, and waits for both.
func (b *sides) each(do func(s *side) error) error {
	var group errgroup.Group
	for _, s := range []*side{b.reference, b.subject} {
		group.Go(func() error {
			if err := do(s); err != nil {
				return fmt.Errorf("%s: %w", s.kind, err)
			}
			return nil
		})
	}
	return group.Wait()
}
