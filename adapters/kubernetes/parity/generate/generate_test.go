package generate

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
)

// draw draws one of everything and says what it was.
func draw(s *Source) string {
	pod := s.Pod("p")
	text, err := json.Marshal([]any{s.Node(1), pod, s.ChangePod(pod), s.Placed(pod, "n", time.Unix(1, 0)), s.Owners(), s.Budget(0, []string{"p"}, time.Unix(2, 0)),
		s.NamespaceObjects(), s.ChangeNode(s.Node(2)), s.DefaultConstraints()})
	return fmt.Sprint(string(text), err)
}

// The same seed and number give the same objects; others give others.
func TestSourceIsAFunctionOfSeedAndNumber(t *testing.T) {
	mood := Mood{Nodes: 5, Related: true}
	first := draw(New(1, 2, mood))
	if second := draw(New(1, 2, mood)); first != second {
		t.Errorf("not the same:\n%s\n%s", first, second)
	}
	if first == draw(New(1, 3, mood)) || first == draw(New(2, 2, mood)) {
		t.Error("another seed or number gives the same")
	}
}

// Every mood draws what it promises to draw.
func TestMoods(t *testing.T) {
	type count struct{ affinity, spread, whole, sidecar, port int }
	counts := func(mood Mood) (c count) {
		s := New(1, 1, mood)
		for range 400 {
			p := s.Pod("p")
			if a := p.Spec.Affinity; a != nil && (a.PodAffinity != nil || a.PodAntiAffinity != nil) {
				c.affinity++
			}
			if len(p.Spec.TopologySpreadConstraints) > 0 {
				c.spread++
			}
			if p.Spec.Resources != nil {
				c.whole++
			}
			for _, i := range p.Spec.InitContainers {
				if i.RestartPolicy != nil {
					c.sidecar++
				}
			}
			for _, o := range p.Spec.Containers[0].Ports {
				if o.HostPort > 0 {
					c.port++
				}
			}
		}
		return c
	}
	plain := counts(Mood{Nodes: 5})
	if plain.affinity == 0 || plain.spread == 0 || plain.whole == 0 || plain.sidecar == 0 || plain.port == 0 {
		t.Errorf("something is never drawn: %+v", plain)
	}
	if related := counts(Mood{Nodes: 5, Related: true}); related.affinity <= plain.affinity || related.spread <= plain.spread {
		t.Errorf("not more related: %+v, %+v", related, plain)
	}
	if c := counts(Mood{Nodes: 5, Unrelated: true, ByContainer: true}); c.affinity+c.spread+c.whole > 0 {
		t.Errorf("related, or asking as a whole: %+v", c)
	}
}

// The moods of storage and devices draw pods with every kind of volume and claim,
// and objects for them; of a group tree every pod group is a leaf.
func TestObjects(t *testing.T) {
	s := New(1, 1, Mood{Nodes: 5, Storage: true, Devices: true})
	var claims, ephemeral, disks, named, templates int
	for range 200 {
		p := s.Pod("p")
		for _, v := range p.Spec.Volumes {
			switch {
			case v.PersistentVolumeClaim != nil:
				claims++
			case v.Ephemeral != nil:
				ephemeral++
			default:
				disks++
			}
		}
		for _, ref := range p.Spec.ResourceClaims {
			if ref.ResourceClaimName != nil {
				named++
			} else {
				templates++
			}
		}
	}
	if claims == 0 || ephemeral == 0 || disks == 0 || named == 0 || templates == 0 {
		t.Errorf("something is never drawn: %d %d %d, %d %d", claims, ephemeral, disks, named, templates)
	}
	if len(s.StorageObjects()) < 20 || len(s.DeviceObjects([]string{"n0", "n1", "n2"})) < 10 {
		t.Error("few objects")
	}
	deepest := 0
	for range 100 {
		tree := s.GroupTree("g", time.Unix(1, 0))
		if len(tree.Leaves) == 0 || len(tree.Leaves) > len(tree.Groups) {
			t.Fatalf("%d leaves of %d groups", len(tree.Leaves), len(tree.Groups))
		}
		for _, l := range tree.Leaves {
			deepest = max(deepest, strings.Count(l.Name, "-")+1)
		}
	}
	if deepest != 4 {
		t.Errorf("%d levels deep, want 4", deepest)
	}
}
