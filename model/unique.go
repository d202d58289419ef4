package model

import (
	"fmt"
	"slices"
)

// unique finds the items of a list that are like an earlier one, by a key that only one may
// have. The zero value is for the first item. Short lists, as nearly all are, cost no
// allocation; long ones are not compared with each other one by one.
type unique[K comparable] struct {
	n     int       // items so far
	first [8]K      // the keys of the first ones
	all   map[K]int // where each key stands first, once there are more
}

// check reports, at the current place, that the item there has the same as an earlier one.
// It is called once for each item, in their order.
func (u *unique[K]) check(c *checker, what string, key K) {
	if earlier, found := u.add(key); found {
		c.report("", fmt.Sprintf("has the same %s as [%d]", what, earlier))
	}
}

// add takes the key of the next item. It returns where the key stands first, if it is there.
func (u *unique[K]) add(key K) (earlier int, found bool) {
	at := u.n
	u.n++
	if at < len(u.first) {
		u.first[at] = key
		earlier = slices.Index(u.first[:at], key)
		return earlier, earlier >= 0
	}
	if u.all == nil {
		u.all = map[K]int{}
		for i, k := range u.first {
			if _, twice := u.all[k]; !twice {
				u.all[k] = i
			}
		}
	}
	earlier, found = u.all[key]
	if !found {
		u.all[key] = at
	}
	return earlier, found
}
