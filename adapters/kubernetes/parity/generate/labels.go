package generate

import (
	"fmt"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var (
	nodeKeys = []string{"rack", "app", "tier", "weight", v1.LabelTopologyZone, v1.LabelTopologyRegion,
		v1.LabelFailureDomainBetaZone, v1.LabelHostname}
	nodeValues = []string{"", "a", "b", "c", "0", "1", "2", "01", "1.5", "9223372036854775807", "9223372036854775808"}

	podKeys   = []string{"app", "tier", "version", "extra"}
	podValues = []string{"a", "b", "c", ""}

	// TopologyKeys are the labels that terms and constraints name.
	topologyKeys = []string{v1.LabelTopologyZone, v1.LabelTopologyZone, v1.LabelHostname, v1.LabelHostname, "rack", v1.LabelTopologyRegion, "no-such-label"}

	// Namespaces are the names of all namespaces. The last has no object.
	Namespaces = []string{"default", "team-a", "team-b", "ghost"}
)

// zone is the name of a zone. The empty one is a zone like any other.
func (s *Source) zone() string {
	if s.Percent(4) {
		return ""
	}
	return fmt.Sprintf("z%d", s.IntN(s.Zones))
}

// nodeLabels are the labels of the node with the name; they may be nil.
func (s *Source) nodeLabels(name string) map[string]string {
	if s.Percent(8) {
		return nil
	}
	l := map[string]string{}
	if !s.Tame {
		for range s.IntN(6) {
			l[Pick(s, nodeKeys...)] = Pick(s, nodeValues...)
		}
	}
	if s.Percent(80) {
		l[v1.LabelTopologyZone] = s.zone()
	}
	if s.Percent(50) {
		l["rack"] = Pick(s, "a", "b", "c")
	}
	if s.Percent(30) {
		l["weight"] = Pick(s, "0", "1", "2")
	}
	switch {
	case s.Percent(80):
		l[v1.LabelHostname] = name
	case s.Percent(50):
		l[v1.LabelHostname] = "shared" // two nodes may say that they are the same host
	}
	if s.Percent(30) {
		l[v1.LabelTopologyRegion] = Pick(s, "r1", "r2")
	}
	return l
}

func (s *Source) podLabels() map[string]string {
	if s.Percent(5) {
		return nil
	}
	l := map[string]string{"app": Pick(s, "a", "a", "b", "c")}
	for range s.IntN(3) {
		l[Pick(s, podKeys...)] = Pick(s, podValues...)
	}
	return l
}

// selector selects pods by labels; it may be nil, which selects none, or empty,
// which selects all.
func (s *Source) selector() *metav1.LabelSelector {
	switch {
	case s.Percent(4):
		return nil
	case s.Percent(6):
		return &metav1.LabelSelector{}
	}
	l := &metav1.LabelSelector{}
	if s.Percent(70) {
		l.MatchLabels = map[string]string{"app": Pick(s, "a", "a", "b", "c")}
	}
	if s.Percent(15) {
		if l.MatchLabels == nil {
			l.MatchLabels = map[string]string{}
		}
		l.MatchLabels[Pick(s, podKeys...)] = Pick(s, podValues...)
	}
	for range Pick(s, 0, 0, 0, 1, 1, 2) {
		l.MatchExpressions = append(l.MatchExpressions, s.labelRequirement())
	}
	return l
}

func (s *Source) labelRequirement() metav1.LabelSelectorRequirement {
	r := metav1.LabelSelectorRequirement{Key: Pick(s, podKeys...)}
	r.Operator = Pick(s, metav1.LabelSelectorOpIn, metav1.LabelSelectorOpIn, metav1.LabelSelectorOpNotIn, metav1.LabelSelectorOpExists, metav1.LabelSelectorOpDoesNotExist)
	if r.Operator == metav1.LabelSelectorOpIn || r.Operator == metav1.LabelSelectorOpNotIn {
		for range 1 + s.IntN(3) {
			r.Values = append(r.Values, Pick(s, podValues...))
		}
	}
	return r
}

// namespaceSelector selects namespaces; mostly nil.
func (s *Source) namespaceSelector() *metav1.LabelSelector {
	switch {
	case s.Percent(60):
		return nil
	case s.Percent(30):
		return &metav1.LabelSelector{}
	case s.Percent(50):
		return &metav1.LabelSelector{MatchLabels: map[string]string{"team": Pick(s, "x", "y", "z")}}
	}
	return &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "team",
		Operator: Pick(s, metav1.LabelSelectorOpExists, metav1.LabelSelectorOpDoesNotExist)}}}
}
