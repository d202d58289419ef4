package record

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/berth-project/berth/engine/internal/snapshot"
	"github.com/berth-project/berth/engine/internal/store"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// State is all that a record consists of: the rows, in an order in which a view is made
// of them that has the nodes in their order, and the workloads on each in theirs. As
// JSON it is what a recording begins with.
type State struct {
	rows   store.Rows
	failed []snapshot.FailedOn
}

// State returns the record's.
func (r *Record) State() *State {
	s := &State{*r.Store.Rows(), r.View.FailedStarts().List()}
	place := map[string]int{}
	for i, name := range r.View.Arrivals() {
		place[name] = i
	}
	slices.SortFunc(s.rows.Nodes, func(a, b *store.Node) int { return cmp.Compare(place[a.Node.Name], place[b.Node.Name]) })
	s.sortWorkloads(r.View)
	return s
}

// sortWorkloads sorts the workloads so that those on a node, and those that wait for
// it, are in their order there.
func (s *State) sortWorkloads(v *snapshot.View) {
	nodes := map[string]bool{}
	for _, row := range s.rows.Workloads {
		nodes[row.TakesRoomOn()], nodes[row.NominatedTo()] = true, true
	}
	rank := make(map[string]int, len(s.rows.Workloads))
	for _, node := range slices.Sorted(maps.Keys(nodes)) {
		for _, w := range v.On(node) {
			rank[w.ID] = len(rank) + 1
		}
		for _, w := range v.Nominated(node) {
			rank[w.ID] = len(rank) + 1
		}
	}
	slices.SortFunc(s.rows.Workloads, func(a, b *store.Workload) int {
		return cmp.Or(cmp.Compare(rank[a.Info.ID], rank[b.Info.ID]), cmp.Compare(a.Seq, b.Seq))
	})
}

// Load makes the record that of the state.
func (r *Record) Load(s *State) {
	r.Store = store.Load(&s.rows)
	r.Renew(s)
}

// Renew makes the view anew, as it is made of the state, which is the record's.
func (r *Record) Renew(s *State) {
	r.View = snapshot.NewFor(r.compat)
	for _, row := range s.rows.Namespaces {
		r.follow(&store.Change{Kind: store.NamespaceKind, NewNamespace: row})
	}
	for _, row := range s.rows.Groups {
		r.follow(&store.Change{Kind: store.GroupKind, NewGroup: row})
	}
	for _, row := range s.rows.Budgets {
		r.follow(&store.Change{Kind: store.BudgetKind, NewBudget: row})
	}
	for _, row := range s.rows.Objects {
		r.follow(&store.Change{Kind: store.ObjectKind, NewObject: row})
	}
	for _, row := range s.rows.Nodes {
		r.follow(&store.Change{Kind: store.NodeKind, NewNode: row})
	}
	for _, row := range s.rows.Workloads {
		r.follow(&store.Change{Kind: store.WorkloadKind, NewWorkload: row})
	}
	r.View.SetFailedStarts(snapshot.FailedStartsOf(s.failed))
}

// writtenState is a State as JSON.
type writtenState struct {
	Index, Seq, Arrivals uint64
	Namespaces           []*store.Namespace  `json:",omitempty"`
	Groups               []*store.Group      `json:",omitempty"`
	Budgets              []*store.Budget     `json:",omitempty"`
	Objects              []writtenRow        `json:",omitempty"`
	Nodes                []*store.Node       `json:",omitempty"`
	Workloads            []writtenWorkload   `json:",omitempty"`
	FailedStarts         []snapshot.FailedOn `json:",omitempty"`
}

// writtenRow is a [store.Object].
type writtenRow struct {
	Reported, Written, Decided *object `json:",omitempty"`
	// DecidedIsWritten: what is decided is the very value that was written. A decision that is taken back and
	// leaves another value wakes others, and the one that was there before does not.
	DecidedIsWritten         bool     `json:",omitempty"`
	Workloads                []string `json:",omitempty"`
	CreateIndex, ModifyIndex uint64
}

func writeRow(o *store.Object) writtenRow {
	orNone := func(o model.Object) *object {
		if o == nil {
			return nil
		}
		return &object{o}
	}
	w := writtenRow{
		Reported: orNone(o.Reported), Written: orNone(o.Written), Decided: orNone(o.Decided), Workloads: o.Workloads,
		CreateIndex: o.CreateIndex, ModifyIndex: o.ModifyIndex,
	}
	if o.Decided != nil && o.Decided == o.Written {
		w.Decided, w.DecidedIsWritten = nil, true
	}
	return w
}

func (w *writtenRow) read() *store.Object {
	orNone := func(o *object) model.Object {
		if o == nil {
			return nil
		}
		return o.Object
	}
	o := &store.Object{
		Reported: orNone(w.Reported), Written: orNone(w.Written), Decided: orNone(w.Decided), Workloads: w.Workloads,
		CreateIndex: w.CreateIndex, ModifyIndex: w.ModifyIndex,
	}
	if w.DecidedIsWritten {
		o.Decided = o.Written
	}
	return o
}

// writtenWorkload is a [store.Workload].
type writtenWorkload struct {
	Workload                      *model.Workload
	Shares                        []model.DeviceShare `json:",omitempty"`
	PlacedAt                      time.Time           `json:",omitzero"`
	GrantedLimit                  time.Duration       `json:",omitempty"`
	Nominated                     string              `json:",omitempty"`
	Terminating, Displaced        bool                `json:",omitempty"`
	Phase                         model.Phase         `json:",omitempty"`
	Node                          string              `json:",omitempty"`
	Decided                       []model.ObjectRef   `json:",omitempty"`
	Asked                         bool                `json:",omitempty"`
	Seq, CreateIndex, ModifyIndex uint64
}

// MarshalJSON implements [json.Marshaler].
func (s *State) MarshalJSON() ([]byte, error) {
	r := &s.rows
	w := writtenState{
		Index: r.Index, Seq: r.Seq, Arrivals: r.Arrivals,
		Namespaces: r.Namespaces, Groups: r.Groups, Budgets: r.Budgets, Nodes: r.Nodes,
		FailedStarts: s.failed,
	}
	for _, o := range r.Objects {
		w.Objects = append(w.Objects, writeRow(o))
	}
	for _, row := range r.Workloads {
		i := row.Info
		w.Workloads = append(w.Workloads, writtenWorkload{
			Workload: i.Workload, Shares: i.Shares, PlacedAt: i.PlacedAt, GrantedLimit: i.GrantedLimit, Nominated: i.Nominated,
			Terminating: i.Terminating, Displaced: i.Displaced, Phase: row.Phase, Node: row.Node, Decided: row.Decided, Asked: row.Asked,
			Seq: row.Seq, CreateIndex: row.CreateIndex, ModifyIndex: row.ModifyIndex,
		})
	}
	return json.Marshal(w)
}

// UnmarshalJSON implements [json.Unmarshaler].
func (s *State) UnmarshalJSON(text []byte) error {
	var w writtenState
	if err := strictly(text, &w); err != nil {
		return err
	}
	s.failed = w.FailedStarts
	s.rows = store.Rows{
		Index: w.Index, Seq: w.Seq, Arrivals: w.Arrivals,
		Namespaces: w.Namespaces, Groups: w.Groups, Budgets: w.Budgets, Nodes: w.Nodes,
	}
	for i := range w.Objects {
		s.rows.Objects = append(s.rows.Objects, w.Objects[i].read())
	}
	for i := range w.Workloads {
		row := &w.Workloads[i]
		s.rows.Workloads = append(s.rows.Workloads, &store.Workload{
			Info: &extpoints.WorkloadInfo{
				Workload: row.Workload, Shares: row.Shares, PlacedAt: row.PlacedAt, GrantedLimit: row.GrantedLimit, Nominated: row.Nominated,
				Terminating: row.Terminating, Displaced: row.Displaced,
			},
			Phase: row.Phase, Node: row.Node, Decided: row.Decided, Asked: row.Asked,
			Seq: row.Seq, CreateIndex: row.CreateIndex, ModifyIndex: row.ModifyIndex,
		})
	}
	return nil
}
