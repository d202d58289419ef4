package cpuset

import (
	"cmp"
	"slices"
)

// Processor is a hardware thread, and where in the machine it is.
type Processor struct {
	ID     int // the kernel's number
	Socket int // the kernel's number of the package
	Core   int // its number in the socket: the same for siblings
	Node   int // the NUMA node, whose memory is near
}

// Choose returns n of the processors all for a task to have to itself, in order, none
// of them in taken. It returns nil where that would leave none for the others.
func Choose(all []Processor, taken []int, n int) []int {
	m := newMachine(all, taken)
	if n <= 0 || n >= m.free() {
		return nil
	}
	var chosen []int
	used := map[int]int{} // 1 for each socket
	for len(chosen) < n {
		left := n - len(chosen)
		from := m.best(left, used)
		used[from.socket()] = 1
		chosen = append(chosen, from.take(left)...)
	}
	slices.Sort(chosen)
	return chosen
}

// machine is its nodes, in the order of their numbers.
type machine []*node

// node is the cores of a NUMA node, in the order of their processors.
type node struct {
	id    int
	cores []*core
}

// core is one with what is free of it; broken: some of it is taken.
type core struct {
	socket, number int
	available      []int
	broken         bool
}

func newMachine(all []Processor, taken []int) machine {
	var m machine
	for _, p := range slices.SortedFunc(slices.Values(all), func(a, b Processor) int { return cmp.Compare(a.ID, b.ID) }) {
		c := m.node(p.Node).core(p.Socket, p.Core)
		if slices.Contains(taken, p.ID) {
			c.broken = true
		} else {
			c.available = append(c.available, p.ID)
		}
	}
	slices.SortFunc(m, func(a, b *node) int { return cmp.Compare(a.id, b.id) })
	return m
}

func (m *machine) node(id int) *node {
	i := slices.IndexFunc(*m, func(n *node) bool { return n.id == id })
	if i < 0 {
		i, *m = len(*m), append(*m, &node{id: id})
	}
	return (*m)[i]
}

func (n *node) core(socket, number int) *core {
	i := slices.IndexFunc(n.cores, func(c *core) bool { return c.socket == socket && c.number == number })
	if i < 0 {
		i, n.cores = len(n.cores), append(n.cores, &core{socket: socket, number: number})
	}
	return n.cores[i]
}

func (m machine) free() (n int) {
	for _, node := range m {
		n += node.free()
	}
	return n
}

func (n *node) free() (free int) {
	for _, c := range n.cores {
		free += c.free()
	}
	return free
}

func (c *core) free() int { return len(c.available) }

// socket is that of the node; where there are several in it, that of its first core.
func (n *node) socket() int { return n.cores[0].socket }

func (m machine) freeIn(socket int) (free int) {
	for _, n := range m {
		if n.socket() == socket {
			free += n.free()
		}
	}
	return free
}

// best is the node to take n from. Of nodes that have as much free, one in a socket that is used already comes
// first, then one in the fullest socket that still holds n.
func (m machine) best(n int, used map[int]int) *node {
	return slices.MinFunc(m, func(a, b *node) int {
		return cmp.Or(better(a.free(), b.free(), n), cmp.Compare(used[b.socket()], used[a.socket()]), better(m.freeIn(a.socket()), m.freeIn(b.socket()), n))
	})
}

// best is the better of the cores to take n from. There is at least one.
func best(cores []*core, n int) *core {
	return slices.MinFunc(cores, func(a, b *core) int { return better(a.free(), b.free(), n) })
}

// better compares what is free in two places: the fullest that still holds n comes first; where none does, the emptiest:
// filling up the emptiest ones first leads to the fewest.
func better(x, y, n int) int {
	if x >= n && y >= n {
		return cmp.Compare(x, y)
	}
	return cmp.Compare(y, x)
}

// take takes so many of the node's processors, or all where it has fewer.
func (n *node) take(count int) []int {
	var taken []int
	for len(taken) < count && n.free() > 0 {
		left := count - len(taken)
		taken = append(taken, n.next(left).take(left)...)
	}
	return taken
}

// next is the core to take from when count are still needed: one that is taken as a
// whole, else one that is broken already, else the smallest to break.
func (n *node) next(count int) *core {
	var fits, broken, whole []*core
	for _, c := range n.cores {
		switch {
		case c.free() == 0:
		case c.broken:
			broken = append(broken, c)
		case c.free() <= count:
			fits = append(fits, c)
		default:
			whole = append(whole, c)
		}
	}
	for _, cores := range [][]*core{fits, broken} {
		if len(cores) > 0 {
			return best(cores, count)
		}
	}
	return best(whole, count)
}

func (c *core) take(count int) []int {
	count = min(count, c.free())
	taken := c.available[:count]
	c.available, c.broken = c.available[count:], true
	return taken
}
