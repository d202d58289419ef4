package model

// Principal is on whose account workloads run: a user, or an account with users. Queues
// of policy OrderShare divide among the principals that have workloads in them, and
// limits may be theirs.
type Principal struct {
	Name string // identity, unique among principals
	// Parent is the name of the account that it belongs to; empty: none. What it uses
	// counts towards the limits of the accounts above it. Where there is no such principal yet,
	// its workloads wait for it.
	Parent string
	// Queue is the queue for those of its workloads that name none; empty: that of the
	// accounts above it.
	Queue string
	// Shares are its weight among the principals of one queue; as for [Queue].Weight, those
	// without come last and are equal.
	Shares int64
}

func (*Principal) sealed() {}

// clone returns a deep copy, nil of nil.
func (p *Principal) clone() *Principal { return clonePlain(p) }

// Validate returns all that is wrong with the principal as a [*ValidationError], nil
// where it is valid.
func (p *Principal) Validate() error {
	var c checker
	c.notEmpty("name", p.Name)
	c.text("parent", p.Parent)
	if p.Parent == p.Name && p.Name != "" {
		c.report("parent", "must not be the principal itself")
	}
	c.text("queue", p.Queue)
	c.between("shares", p.Shares, 0, maxWeight)
	return invalid("principal", p.Name, c.problems)
}
