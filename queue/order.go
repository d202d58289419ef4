package queue

// order is what the active items are kept in. Items know where in it they are.
type order interface {
	push(*Item)
	// first is the item that is next, nil where there is none.
	first() *Item
	// remove takes out an item that is in it.
	remove(*Item)
	// fix restores the order after an item in it has changed.
	fix(*Item)
	len() int
	// all lists the items, in an order in which they can be put into another.
	all() []*Item
}

var _, _ order = (*heap)(nil), (*tree)(nil)
