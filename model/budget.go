package model

// Budget limits how many of the selected workloads may be displaced.
type Budget struct {
	// ID is the budget's identity, unique among budgets.
	ID        string
	Namespace string // of the workloads that it protects
	// Selector says which workloads of the namespace it protects. A selector
	// without requirements, like nil, protects none.
	Selector *Selector
	// Allowed is how many may be displaced now.
	Allowed int32
	// Displaced are IDs of workloads that already are terminating and
	// were counted; displacing them costs nothing more.
	Displaced []string
}
