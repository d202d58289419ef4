package state

import "maps"

// Holding is what the servers have of a user.
type Holding struct {
	Records, Stored int64
	Queued          map[string]int32
}

// Holdings are those of all users.
func (v View) Holdings() map[string]Holding {
	all := map[string]Holding{}
	for h := range holdings.all(v.txn, "id", nil) {
		all[h.Owner] = Holding{Records: h.Records, Stored: h.Stored, Queued: maps.Clone(h.Queued)}
	}
	return all
}

// FromTheLargest is fromTheLargest.
var FromTheLargest = fromTheLargest

// Rows are one of each row.
var Rows = []any{
	meta{}, Job{}, chunk{}, Element{}, Task{}, Node{}, Used{}, key{}, total{}, Record{},
}
