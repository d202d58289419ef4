package cpuset

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// shape is a machine: sockets, nodes in each, cores in each of these, and threads in each core. Siblings have
// numbers that follow each other.
type shape [4]int

func (s shape) processors() (all []Processor) {
	for socket := range s[0] {
		for node := range s[1] {
			for core := range s[2] {
				for range s[3] {
					all = append(all, Processor{ID: len(all), Socket: socket, Core: node*s[2] + core, Node: socket*s[1] + node})
				}
			}
		}
	}
	return all
}

// TestKnownChoices: Koordinator's accumulator of CPUs, nodenumaresource/cpu_accumulator_test.go, commit a7a1b76b, all rows
// of its tables. It takes full cores or a thread of each (spread), from the fullest node or, where "least" says so, the emptiest;
// and a task can have cores or nodes to itself. Here it is first as few nodes as can be, then the fullest that
// have enough, of these those in the fullest socket, then whole cores. Where that is not the same, "why" says which of it counted.
//
// Left out is what it shares between tasks (MaxRefCount, by reference count) and takes first if it can (preferred CPUs): here
// a task has its processors to itself, whoever else is there.
func TestKnownChoices(t *testing.T) {
	const (
		fewer   = "two nodes are enough"
		node    = "a node is used up before another is touched, also where that shares cores"
		fullest = "the fullest node that has enough, as with MostAllocated"
		spread  = "whole cores before a thread of each"
		alone   = "a node is not kept for one task"
	)
	for _, c := range []struct {
		name     string
		machine  shape
		taken    string
		n        int
		upstream string
		here     string // empty: the same
		why      string
	}{
		// TestTakeFullPCPUs
		{"one node", shape{1, 1, 4, 2}, "", 2, "0-1", "", ""},
		{"one node, some taken", shape{1, 1, 4, 2}, "0-1", 2, "2-3", "", ""},
		{"a whole socket", shape{2, 1, 4, 2}, "", 8, "0-7", "", ""},
		{"more than a socket", shape{2, 1, 4, 2}, "", 12, "0-11", "", ""},
		{"a whole socket, where one is not whole", shape{2, 1, 4, 2}, "0-1", 8, "8-15", "", ""},
		{"in the fullest socket", shape{2, 2, 4, 2}, "0-5,16-23", 6, "24-29", "", ""},
		{"most of them in one socket", shape{2, 2, 4, 2}, "0-5,16-23", 12, "6-15,24-25", "8-15,24-27", fewer},
		{"the first of equal nodes", shape{2, 2, 4, 2}, "0-3,8-11", 4, "4-7", "", ""},
		{"broken cores, and enough whole ones", shape{2, 2, 2, 2}, "0,2,4,8,12", 4, "10-11,14-15", "1,5-7", node},
		{"broken cores are needed", shape{2, 2, 2, 2}, "0,2,4,8,10,12", 6, "5-7,13-15", "", ""},
		{"broken cores are needed, of the fullest socket", shape{2, 2, 2, 2}, "0,2,4,8-10,12", 6, "6-7,11,13-15", "5-7,13-15", fewer},
		// TestTakeFullPCPUsWithNUMALeastAllocated
		{"least: one node", shape{1, 1, 4, 2}, "", 2, "0-1", "", ""},
		{"least: one node, some taken", shape{1, 1, 4, 2}, "0-1", 2, "2-3", "", ""},
		{"least: a whole socket", shape{2, 1, 4, 2}, "", 8, "0-7", "", ""},
		{"least: more than a socket", shape{2, 1, 4, 2}, "", 12, "0-11", "", ""},
		{"least: a whole socket, where one is not whole", shape{2, 1, 4, 2}, "0-1", 8, "8-15", "", ""},
		{"least: in the emptiest socket", shape{2, 2, 4, 2}, "0-5,16-23", 6, "8-13", "24-29", fullest},
		{"least: most of them in one socket", shape{2, 2, 4, 2}, "0-5,16-23", 12, "6-15,24-25", "8-15,24-27", fewer},
		{"least: the second socket", shape{2, 2, 4, 2}, "0-3,8-11", 4, "16-19", "4-7", fullest},
		{"least: broken cores, and enough whole ones", shape{2, 2, 2, 2}, "0,2,4,8,12", 4, "10-11,14-15", "1,5-7", node},
		{"least: broken cores are needed", shape{2, 2, 2, 2}, "0,2,4,8,10,12", 6, "1,3,6-7,14-15", "5-7,13-15", fewer},
		{"least: of the emptiest socket", shape{2, 2, 4, 2}, "0,2,4,8-10,12", 6, "16-21", "", ""},
		// TestTakeSpreadByPCPUs
		{"spread: one node", shape{1, 1, 4, 2}, "", 4, "0,2,4,6", "0-3", spread},
		{"spread: broken cores", shape{2, 1, 4, 2}, "0,2", 4, "1,3-4,6", "4-7", spread},
		{"spread: a whole socket", shape{2, 1, 4, 2}, "0-3", 4, "8,10,12,14", "4-7", spread},
		{"spread: both threads of some", shape{2, 1, 4, 2}, "0,2", 6, "1,3-7", "", ""},
		// TestTakeSpreadByPCPUsWithNUMALeastAllocated
		{"spread, least: one node", shape{1, 1, 4, 2}, "", 4, "0,2,4,6", "0-3", spread},
		{"spread, least: broken cores", shape{2, 1, 4, 2}, "0,2", 4, "8,10,12,14", "4-7", spread},
		{"spread, least: a whole socket", shape{2, 1, 4, 2}, "0-3", 4, "8,10,12,14", "4-7", spread},
		{"spread, least: both threads of some", shape{2, 1, 4, 2}, "0,2", 6, "8-12,14", "1,3-7", fullest},
		// TestTakeCPUsWithExclusivePolicy
		{"exclusive cores: a whole socket", shape{2, 1, 4, 2}, "0,2", 4, "8,10,12,14", "4-7", spread},
		{"exclusive cores: more than there are cores", shape{2, 1, 4, 2}, "", 10, "0-4,6,8,10,12,14", "0-9", spread},
		{"exclusive cores: a large socket", shape{2, 1, 8, 2}, "0,2", 4, "4,6,8,10", "4-7", spread},
		{"exclusive cores, but not this one's", shape{2, 1, 8, 2}, "0,2", 4, "1,3-4,6", "4-7", spread},
		{"exclusive node", shape{2, 1, 4, 2}, "0,2", 4, "8,10,12,14", "4-7", spread},
		{"exclusive node, but not this one's", shape{2, 1, 4, 2}, "0,2", 4, "1,3-4,6", "4-7", spread},
		{"exclusive node, whole cores", shape{2, 1, 4, 2}, "0,2", 4, "8-11", "4-7", alone},
		{"exclusive node, whole cores, but not this one's", shape{2, 1, 4, 2}, "0,2", 4, "4-7", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			taken, err := ParseList(c.taken)
			require.NoError(t, err)
			want := c.upstream
			if c.why != "" {
				want = c.here
			}
			require.Equal(t, want, FormatList(Choose(c.machine.processors(), taken, c.n)), c.why)
		})
	}
}
