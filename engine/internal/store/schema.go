package store

import (
	"fmt"
	"unsafe"

	"github.com/hashicorp/go-memdb"

	"github.com/berth-project/berth/model"
)

// The indexes. Every table has idIndex; only workloads have placeIndex.
const (
	idIndex    = "id"
	placeIndex = "place"
)

// memberTable lists the members of groups. Its rows are the specs, which the
// workload's own row has too. It is a table apart because a workload's group
// hardly ever changes: as an index of the workloads it would be written at
// every move of a grouped workload, which adds over a quarter to the cost.
const memberTable = "member"

// schema is shared by all stores of the process; memdb only reads it.
var schema = &memdb.DBSchema{Tables: map[string]*memdb.TableSchema{
	WorkloadKind.String(): {
		Name: WorkloadKind.String(),
		Indexes: map[string]*memdb.IndexSchema{
			idIndex:    byID(func(w *Workload) string { return w.Info.ID }),
			placeIndex: index(placeIndex, placeKey),
		},
	},
	memberTable: {
		Name:    memberTable,
		Indexes: map[string]*memdb.IndexSchema{idIndex: index(idIndex, memberKey)},
	},
	NodeKind.String():      idOnly(NodeKind, func(n *Node) string { return n.Node.Name }),
	GroupKind.String():     idOnly(GroupKind, func(g *Group) string { return g.Group.ID }),
	BudgetKind.String():    idOnly(BudgetKind, func(b *Budget) string { return b.Budget.ID }),
	NamespaceKind.String(): idOnly(NamespaceKind, func(n *Namespace) string { return n.Namespace.Name }),
	ObjectKind.String(): {
		Name:    ObjectKind.String(),
		Indexes: map[string]*memdb.IndexSchema{idIndex: index(idIndex, func(o *Object) []byte { return []byte(objectKey(o.Ref())) })},
	},
}}

// placeKey is phase, node, NUL, ID. It ends in the ID, so it is unique by
// itself and memdb has nothing to append.
func placeKey(w *Workload) []byte {
	key := make([]byte, 0, 1+len(w.Node)+1+len(w.Info.ID))
	key = append(key, byte(w.Phase))
	key = append(key, w.Node...)
	key = append(key, 0)
	return append(key, w.Info.ID...)
}

// placePrefix begins the keys of the workloads in the phase on the node.
func placePrefix(p model.Phase, node string) string {
	return string([]byte{byte(p)}) + node + "\x00"
}

// phasePrefix begins the keys of the workloads in the phase.
func phasePrefix(p model.Phase) string { return string([]byte{byte(p)}) }

// memberKey is group, NUL, ID.
func memberKey(w *model.Workload) []byte {
	key := make([]byte, 0, len(w.Group)+1+len(w.ID))
	key = append(key, w.Group...)
	key = append(key, 0)
	return append(key, w.ID...)
}

// objectKey is kind, NUL, ID; no kind has a NUL in it, so the ID may have any.
func objectKey(r model.ObjectRef) string { return string(r.Kind) + "\x00" + r.ID }

// groupPrefix begins the keys of the group's members.
func groupPrefix(group string) string { return group + "\x00" }

// indexer makes a memdb index of a function. key returns a slice without spare
// capacity, which memdb keeps.
type indexer[R any] struct {
	key func(*R) []byte
}

// FromObject implements memdb.SingleIndexer.
func (x indexer[R]) FromObject(raw any) (bool, []byte, error) {
	row, ok := raw.(*R)
	if !ok {
		return false, nil, fmt.Errorf("a %T in the wrong table", raw)
	}
	key := x.key(row)
	return len(key) > 0, key, nil
}

// FromArgs implements memdb.Indexer: the one argument is the key, or for a
// scan the beginning of the keys, as a string. What it returns is only looked at.
func (x indexer[R]) FromArgs(args ...any) ([]byte, error) {
	if len(args) == 1 {
		if key, ok := args[0].(string); ok {
			return bytesOf(key), nil
		}
	}
	return nil, fmt.Errorf("want one string, got %v", args)
}

func index[R any](name string, key func(*R) []byte) *memdb.IndexSchema {
	return &memdb.IndexSchema{Name: name, Unique: true, Indexer: indexer[R]{key}}
}

// byID is the index by ID. Its keys are the bytes of the ID strings themselves:
// memdb never writes to a key, and without spare capacity an append to
// one makes a copy. That saves three allocations a write and a copy of the ID
// for as long as the row lives.
func byID[R any](id func(*R) string) *memdb.IndexSchema {
	return index(idIndex, func(row *R) []byte { return bytesOf(id(row)) })
}

// bytesOf are the bytes of the string itself, which nobody may write to. They are not nil,
// which to memdb would be no key.
func bytesOf(s string) []byte {
	if s == "" {
		return []byte{}
	}
	return unsafe.Slice(unsafe.StringData(s), len(s))
}

func idOnly[R any](k Kind, id func(*R) string) *memdb.TableSchema {
	return &memdb.TableSchema{
		Name:    k.String(),
		Indexes: map[string]*memdb.IndexSchema{idIndex: byID(id)},
	}
}
