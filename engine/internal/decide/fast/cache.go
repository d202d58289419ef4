package fast

import (
	"github.com/berth-project/berth/engine/internal/framework"
	"github.com/berth-project/berth/engine/internal/snapshot"
)

// What a cache keeps at most.
const (
	MaxClasses = 1024
	MaxNodes   = 2 << 20 // over all classes
)

// Cache keeps the classes that were used last. It is used by one goroutine at a time. The zero
// value is empty.
type Cache struct {
	classes        map[classKey]*Class
	newest, oldest *Class
	nodes          int // over all classes
}

// Of returns the class of the key, for views of so many nodes. A class that is seen for the first
// time is nil, unless it is wanted at once: most of those never come again, and to remember them
// costs more than it saves.
func (c *Cache) Of(profile *framework.Framework, key []byte, nodes int, atOnce bool) *Class {
	class := c.classes[classKey{profile, string(key)}]
	if class == nil {
		if c.classes == nil {
			c.classes = map[classKey]*Class{}
		}
		class = &Class{key: classKey{profile, string(key)}}
		c.classes[class.key] = class
	} else {
		c.unlink(class)
	}
	c.link(class)
	class.seen++
	if class.seen > 1 || atOnce {
		c.resize(class, nodes)
	}
	for len(c.classes) > MaxClasses || c.nodes > MaxNodes && c.oldest != class {
		c.drop(c.oldest)
	}
	if class.blocks == nil {
		return nil
	}
	return class
}

// resize makes the class one of so many nodes, of which nothing is known if they were not as many
// before.
func (c *Cache) resize(class *Class, nodes int) {
	if class.size == nodes && class.blocks != nil {
		return
	}
	c.nodes += nodes - class.size
	class.size, class.told, class.holds = nodes, told{}, interval{}
	class.blocks = make([]*block, snapshot.Blocks(nodes))
}

// Forget forgets what is known of nodes; which classes have been seen it remembers. It is called when a
// node is gone. Every class starts anew then, since there are fewer nodes, but those that never come again would
// keep what was on that node.
func (c *Cache) Forget() {
	for class := c.newest; class != nil; class = class.older {
		class.size, class.blocks, class.told = 0, nil, told{}
	}
	c.nodes = 0
}

func (c *Cache) drop(class *Class) {
	c.unlink(class)
	c.nodes -= class.size
	delete(c.classes, class.key)
}

func (c *Cache) link(class *Class) {
	class.older, class.newer = c.newest, nil
	if c.newest != nil {
		c.newest.newer = class
	} else {
		c.oldest = class
	}
	c.newest = class
}

func (c *Cache) unlink(class *Class) {
	if class.newer != nil {
		class.newer.older = class.older
	} else {
		c.newest = class.older
	}
	if class.older != nil {
		class.older.newer = class.newer
	} else {
		c.oldest = class.newer
	}
}
