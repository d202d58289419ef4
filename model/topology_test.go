package model_test

import (
	"testing"

	. "github.com/berth-project/berth/model"
)

// TestTopologyValue: a node is a domain of its own and is in its zone without any
// label; a label counts even if it is empty.
func TestTopologyValue(t *testing.T) {
	n := &Node{Name: "n1", Zone: "a", Labels: map[string]string{"rack": "r1", "empty": ""}}
	for _, tt := range []struct {
		node  *Node
		key   string
		value string
		ok    bool
	}{
		{n, ByNode, "n1", true},
		{n, ByZone, "a", true},
		{n, "rack", "r1", true},
		{n, "empty", "", true},
		{n, "floor", "", false},
		{&Node{Name: "n2"}, ByZone, "", false},
		{&Node{}, ByNode, "", false},
	} {
		if value, ok := tt.node.TopologyValue(tt.key); value != tt.value || ok != tt.ok {
			t.Errorf("%s of %+v: %q, %v", tt.key, tt.node, value, ok)
		}
	}
}
