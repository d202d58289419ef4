package volumebinding

import (
	"slices"

	"github.com/berth-project/berth/model"
)

// places finds the first of a list of things that will do for a node, without
// looking at those that are tied to other nodes. Most volumes and capacities
// are tied: they want a label of the node to have one of a few values, such as
// its host name. These are kept by the value. Whether a thing does for the node
// is still asked of each that is found, so all that can go wrong here is to look
// at too many.
type places struct {
	anywhere []int32 // what is tied to nothing, in the order of the list
	tied     []tie
}

// tie has what is tied to a label. For each value there is a chain of entries,
// in the order of the list.
type tie struct {
	label   string // nodeName for the name of the node
	first   map[string]int32
	entries []entry
}

type entry struct {
	item int32
	next int32 // the next one for the same value, -1 for none
}

// nodeName stands for the name of a node where a label is meant. No node can
// have a label without a name.
const nodeName = ""

// placesOf makes the places of n things. terms says on which nodes the i-th is,
// nil for everywhere.
func placesOf(n int, terms func(i int) []model.NodeTerm) places {
	var p places
	for i := n - 1; i >= 0; i-- { // backwards, because chains grow at the front
		list := terms(i)
		label, ok := labelOf(list)
		if !ok {
			p.anywhere = append(p.anywhere, int32(i))
			continue
		}
		t := p.tie(label, n)
		for j := range list {
			for _, value := range valuesOf(&list[j], label) {
				next, ok := t.first[value]
				if !ok {
					next = -1
				}
				t.first[value] = int32(len(t.entries))
				t.entries = append(t.entries, entry{int32(i), next})
			}
		}
	}
	slices.Reverse(p.anywhere)
	return p
}

// tie returns the one for the label, with room for n things where it is new.
func (p *places) tie(label string, n int) *tie {
	i := slices.IndexFunc(p.tied, func(t tie) bool { return t.label == label })
	if i < 0 {
		i = len(p.tied)
		p.tied = append(p.tied, tie{label: label, first: map[string]int32{}, entries: make([]entry, 0, n)})
	}
	return &p.tied[i]
}

// labelOf returns the label of which every term names the values; of several the
// one with the fewest in the first term.
func labelOf(terms []model.NodeTerm) (label string, ok bool) {
	if len(terms) == 0 {
		return "", false
	}
	fewest := 0
	consider := func(key string, values []string) {
		if len(values) == 0 || ok && len(values) >= fewest {
			return
		}
		for i := range terms[1:] {
			if valuesOf(&terms[1+i], key) == nil {
				return
			}
		}
		label, fewest, ok = key, len(values), true
	}
	consider(nodeName, valuesOf(&terms[0], nodeName))
	for i := range terms[0].Labels {
		if q := &terms[0].Labels[i]; q.Operator == model.In && q.Key != nodeName {
			consider(q.Key, q.Values)
		}
	}
	return label, ok
}

// valuesOf returns the values that the term wants the label, or the name, to
// have one of, nil where it does not say.
func valuesOf(t *model.NodeTerm, label string) []string {
	list := t.Labels
	if label == nodeName {
		list, label = t.Fields, model.FieldName
	}
	for i := range list {
		if q := &list[i]; q.Key == label && q.Operator == model.In && len(q.Values) > 0 {
			return q.Values
		}
	}
	return nil
}

// first returns the first thing that will do for the node, -1 for none.
func (p *places) first(n *model.Node, will func(i int32) bool) int32 {
	best := int32(-1)
	for _, i := range p.anywhere {
		if will(i) {
			best = i
			break
		}
	}
	for i := range p.tied {
		t := &p.tied[i]
		value, ok := n.Name, true
		if t.label != nodeName {
			value, ok = n.Labels[t.label]
		}
		if !ok {
			continue
		}
		at, ok := t.first[value]
		for ok && at >= 0 && (best < 0 || t.entries[at].item < best) {
			if will(t.entries[at].item) {
				best = t.entries[at].item
				break
			}
			at = t.entries[at].next
		}
	}
	return best
}
