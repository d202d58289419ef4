package snapshot

import (
	"slices"
	"strings"

	"github.com/berth-project/berth/model"
)

// list is an ordered list that Views share: an owner of its token changes it in
// place, anybody else takes a copy. The slice that items returns holds for as
// long as the View is frozen.
type list[T any] struct {
	tok   *token
	items []T
}

// owned returns the list with a slice that the owner of the token may change.
func (l list[T]) owned(tok *token) list[T] {
	if l.tok != tok {
		// Room for a few more: most copies are made to add to them.
		l.tok, l.items = tok, append(make([]T, 0, len(l.items)+4), l.items...)
	}
	return l
}

// set returns the list with the item in the place that order gives it, instead
// of the one that is equal to it in that order.
func (l list[T]) set(tok *token, item T, order func(a, b T) int) list[T] {
	i, found := slices.BinarySearchFunc(l.items, item, order)
	l = l.owned(tok)
	if found {
		l.items[i] = item
	} else {
		l.items = slices.Insert(l.items, i, item)
	}
	return l
}

// unset returns the list without the item that is equal in that order.
func (l list[T]) unset(tok *token, item T, order func(a, b T) int) list[T] {
	i, found := slices.BinarySearchFunc(l.items, item, order)
	if !found {
		return l
	}
	l = l.owned(tok)
	l.items = slices.Delete(l.items, i, i+1)
	return l
}

// lists are lists by a key. What a key has is replaced by set and unset.
type lists[T any] struct {
	byKey pmap[*list[T]]
}

func (m *lists[T]) under(key string) list[T] {
	if l, ok := m.byKey.get(key); ok {
		return *l
	}
	return list[T]{}
}

func (m *lists[T]) get(key string) []T { return m.under(key).items }

func (m *lists[T]) set(tok *token, key string, item T, order func(a, b T) int) {
	m.put(tok, key, m.under(key).set(tok, item, order))
}

func (m *lists[T]) unset(tok *token, key string, item T, order func(a, b T) int) {
	m.put(tok, key, m.under(key).unset(tok, item, order))
}

func (m *lists[T]) put(tok *token, key string, l list[T]) {
	if len(l.items) == 0 {
		m.byKey.unset(tok, key)
		return
	}
	kept := l // here, or l would be allocated in any case
	m.byKey.set(tok, key, &kept)
}

// byID is the order of lists of objects.
func byID[T model.Object](a, b T) int { return strings.Compare(model.RefOf(a).ID, model.RefOf(b).ID) }
