package queue

// manyNames is how many names of resources there may be that nothing is known of.
const manyNames = 1024

// crowded reports whether so many names have come since the resources were numbered last that
// most of them may be of no use any more.
func (t *tree) crowded() bool { return len(t.names) > 2*t.renumbered+manyNames }

// renumber forgets the resources of which there is nothing, nothing is used and nothing is remembered. The
// others keep their order. It is part of rebuild, which gives the definitions the numbers that
// they ask for.
func (t *tree) renumber() {
	used := t.resourcesInUse()
	var kept []int // the numbers so far
	names := t.names[:0]
	for r, name := range t.names {
		if !used[name] {
			delete(t.resources, name)
			continue
		}
		t.resources[name] = len(names)
		names, kept = append(names, name), append(kept, r)
	}
	clear(t.names[len(names):])
	t.names, t.renumbered = names, len(names)
	t.capacity = chosen(t.capacity, kept)
	for _, leaf := range t.leaves {
		leaf.used = chosen(leaf.used, kept)
	}
}

// resourcesInUse are the names of the resources that nodes have, that something charged has been
// given, or of which a book knows what has been used.
func (t *tree) resourcesInUse() map[string]bool {
	used := map[string]bool{}
	note := func(list []total) {
		for r, sum := range list {
			if sum != (total{}) {
				used[t.names[r]] = true
			}
		}
	}
	note(t.capacity)
	for _, leaf := range t.leaves {
		note(leaf.used)
	}
	for _, b := range t.books {
		for _, e := range b.list {
			used[e.Resource] = true
		}
	}
	return used
}

// chosen are the sums with these numbers; what is beyond the list is nothing.
func chosen(list []total, numbers []int) []total {
	next := list[:0]
	for _, r := range numbers {
		if r >= len(list) {
			break
		}
		next = append(next, list[r])
	}
	return next
}
