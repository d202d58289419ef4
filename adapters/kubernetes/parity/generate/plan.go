package generate

// Plan is what a history of decisions is like.
type Plan struct {
	Mood
	Size    int // nodes at first, and about as many later
	Steps   int // how many follow the beginning
	Adopted int // pods that are there at first, for each node
	// Prompt: bindings are confirmed at once. kube-scheduler tells those that wait
	// for a pod to be on a node when that is confirmed, Berth when it is bound; it
	// makes no difference to pods that do not wait for others.
	Prompt bool
}

// NewPlan draws the plan of a history about nodes and pods alone. Two of eight are
// about large clusters, in which not every node is looked at.
func NewPlan(number uint64, s *Source) Plan {
	p := Plan{Size: 2 + s.IntN(8), Steps: 40, Adopted: 2, Prompt: true}
	switch number % 8 {
	case 0:
		p.Tame, p.Crowded, p.Adopted = true, true, 4
	case 1:
		p.Tame, p.Crowded, p.Adopted = true, true, 4
		p.Unrelated, p.Uniform, p.Prompt = true, number%16 == 1, false
	case 2:
		p.Crowded, p.Unrelated, p.Prompt = true, true, false
	case 3:
		p.Tame, p.Crowded, p.Related, p.Adopted = true, true, true, 4
		p.Size = 4 + s.IntN(20)
	case 4:
		p.Related = true
	case 5:
		p.Related, p.Crowded = true, true
		p.Size = 3 + s.IntN(30)
	case 6:
		p.Tame, p.Adopted = true, 1
		p.Size = Pick(s, 60, 99, 100, 101, 130)
	case 7:
		p.Tame, p.Adopted, p.Steps = true, 0, 15
		p.Size = Pick(s, 150, 233, 250, 377, 500)
	}
	// Events of changes that the model does not keep are a known difference,
	// after which nothing would be the same.
	p.Nodes, p.PlainChanges = p.Size+5, true
	return p
}
