package queue

import (
	"github.com/berth-project/berth/model"
)

func newTree(before func(a, b *Item) bool) *tree {
	t := &tree{
		before: before, queues: map[string]*model.Queue{}, principals: map[string]*model.Principal{},
		limits: map[string]*model.Limit{}, limitsOf: map[limited][]*model.Limit{}, leaves: map[leafKey]*part{}, known: map[leafKey]int{}, resources: map[string]int{}, history: newHistory(),
	}
	t.rebuild()
	t.regate = false
	return t
}

func (t *tree) len() int { return t.items }

func (t *tree) all() (list []*Item) {
	for _, leaf := range t.sortedLeaves() {
		list = append(list, leaf.leaf.items.items...)
	}
	return list
}

func (t *tree) push(it *Item) {
	leaf := t.leafOf(it.Workload)
	it.at, it.counted = leaf, max(len(it.Members), 1)
	leaf.leaf.items.push(it)
	t.items++
	leaf.wait(it.counted)
	leaf.offer()
}

func (t *tree) remove(it *Item) {
	leaf := it.at
	leaf.leaf.items.remove(it)
	t.items--
	leaf.wait(-it.counted)
	it.at = nil
	leaf.offer()
}

// fix also moves the item where it belongs to another leaf now. Whatever holds the parts
// above it is looked at again: it may ask for less.
func (t *tree) fix(it *Item) {
	if it.at.leaf.key != keyOf(it.Workload) {
		t.remove(it)
		t.push(it)
		return
	}
	it.at.leaf.items.fix(it)
	for p := it.at; p != nil; p = p.parent {
		if p.held != nil {
			p.held.end()
		}
	}
	it.at.offer()
}

func (t *tree) first() *Item {
	it, never := t.look()
	if never != nil {
		return nil
	}
	return it
}

// look returns the item that is next, or one that can never be placed and is in its way,
// with what is against it. Parts whose next item must wait are held, but for one without hope: its
// attempt fails, and those behind it need not wait until there is enough for it.
func (t *tree) look() (it *Item, never *hold) {
	for it = t.top.head; it != nil; it = t.top.head {
		h := t.check(it.at, it, false)
		if it.Hopeless = false; h == nil {
			return it, nil
		}
		if never = t.check(it.at, it, true); never != nil {
			return it, never
		}
		if t.hopeless != nil && t.hopeless(it.infos()) {
			it.Hopeless = true
			return it, nil
		}
		t.looks++
		h.until = t.frees(h)
		h.begin()
		if t.onHold != nil {
			t.onHold(h)
		}
	}
	return nil, nil
}
