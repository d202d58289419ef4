package server

import (
	"cmp"
	"slices"
	"strings"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
	"github.com/berth-project/berth/adapters/fleet/state"
)

// listShares answers GET /v1/shares. Users see what others use, as shares are in relation
// to theirs.
func (s *Server) listShares(r *request) (any, error) {
	return shares(s.state.View(), r.lead.Usage()), nil
}

// shares are the queues and their users, in the order of the tree, with what they have used.
func shares(v state.View, usage map[[2]string]api.PastUse) api.ShareList {
	t := &shareTree{view: v, all: capacity(v), used: loads(v), waiting: map[[2]string]int32{}, users: map[string][]string{}, below: map[string][]*state.Queue{}}
	for j := range v.Jobs() {
		if n := j.Counts.Of(job.Pending); n > 0 {
			t.waiting[[2]string{j.Spec.Queue, j.Owner}] += n
		}
	}
	t.usage = usage
	seen := map[[2]string]bool{}
	note := func(key [2]string) {
		if !seen[key] {
			seen[key] = true
			t.users[key[0]] = append(t.users[key[0]], key[1])
		}
	}
	for key := range t.used {
		note(key)
	}
	for key := range t.waiting {
		note(key)
	}
	for key := range t.usage {
		if key[1] != "" && v.Queue(key[0]) != nil {
			note(key)
		}
	}
	for _, q := range v.Queues() {
		t.below[q.Parent] = append(t.below[q.Parent], q)
	}
	t.level("", 0, 1)
	t.compareUsage()
	t.rank()
	return api.ShareList{ByQueues: v.ByQueues(), Shares: t.out}
}

// shareTree walks the tree of queues.
type shareTree struct {
	view    state.View
	all     *load                     // what the fleet has
	used    map[[2]string]*load       // by queue and owner
	waiting map[[2]string]int32       // as used
	users   map[string][]string       // with jobs, by queue
	below   map[string][]*state.Queue // by parent
	usage   map[[2]string]api.PastUse
	out     []api.Share
}

// level adds the queues below one, which is entitled to a part of the fleet, and returns
// what they use and how many wait.
func (t *shareTree) level(parent string, depth int32, entitled float64) (sum load, waiting int32) {
	queues := t.below[parent]
	slices.SortFunc(queues, func(a, b *state.Queue) int { return strings.Compare(a.Name, b.Name) })
	weights := 0.0
	for _, q := range queues {
		weights += float64(max(q.Weight, 1))
	}
	for _, q := range queues {
		part := entitled * float64(max(q.Weight, 1)) / weights
		at := len(t.out)
		t.out = append(t.out, api.Share{Queue: q.Name, Depth: depth, Weight: max(q.Weight, 1), Entitled: part, Guaranteed: q.Guaranteed, Max: q.Max})
		use, n := t.usersOf(q.Name, depth+1, part)
		lower, more := t.level(q.Name, depth+1, part)
		use.add(&lower)
		t.fill(&t.out[at], &use, n+more)
		if u, any := t.usage[[2]string{q.Name, ""}]; any {
			t.out[at].Usage = &u
		}
		sum.add(&use)
		waiting += n + more
	}
	return sum, waiting
}

// usersOf adds the users with jobs in a queue.
func (t *shareTree) usersOf(queue string, depth int32, entitled float64) (sum load, waiting int32) {
	names := t.users[queue]
	slices.Sort(names)
	weightOf := func(name string) int32 {
		if u := t.view.User(name); u != nil {
			return max(u.Weight, 1)
		}
		return 1
	}
	weights := 0.0
	for _, name := range names {
		weights += float64(weightOf(name))
	}
	for _, name := range names {
		key := [2]string{queue, name}
		use := &load{}
		if t.used[key] != nil {
			use = t.used[key]
		}
		w := weightOf(name)
		share := api.Share{Queue: queue, User: name, Depth: depth, Weight: w, Entitled: entitled * float64(w) / weights}
		t.fill(&share, use, t.waiting[key])
		if u, any := t.usage[key]; any {
			share.Usage = &u
		}
		t.out = append(t.out, share)
		sum.add(use)
		waiting += t.waiting[key]
	}
	return sum, waiting
}

// above is the queue that a part is in: users and queues of one queue compete with each other.
func (t *shareTree) above(s *api.Share) string {
	if s.User != "" {
		return s.Queue
	}
	return t.view.Queue(s.Queue).Parent
}

// compareUsage puts what was used in relation to those beside each other.
func (t *shareTree) compareUsage() {
	type sums struct{ weights, used float64 }
	beside := map[string]*sums{}
	byUsage := func(s *api.Share) bool {
		q := t.view.Queue(t.above(s))
		return q != nil && q.Policy == api.PolicyUsage
	}
	for i := range t.out {
		s := &t.out[i]
		if !byUsage(s) {
			s.Usage = nil
			continue
		}
		key := t.above(s)
		if beside[key] == nil {
			beside[key] = &sums{}
		}
		beside[key].weights += float64(s.Weight)
		if s.Usage == nil {
			s.Usage = &api.PastUse{}
		}
		beside[key].used += s.Usage.Fleet
	}
	for i := range t.out {
		s := &t.out[i]
		if s.Usage == nil || s.Usage.Fleet == 0 {
			continue
		}
		all := beside[t.above(s)]
		s.Effective = s.Usage.Fleet / all.used
		s.Level = float64(s.Weight) / all.weights / s.Effective
	}
}

// rank ranks the users in each tree of queues that go by usage, as they go if all of them have jobs.
func (t *shareTree) rank() {
	parts := map[string][]*api.Share{} // by the queue that they are in
	for i := range t.out {
		s := &t.out[i]
		parts[t.above(s)] = append(parts[t.above(s)], s)
	}
	var next int32
	var walk func(queue string)
	walk = func(queue string) {
		list := parts[queue]
		slices.SortStableFunc(list, t.compareRanks)
		for _, s := range list {
			if s.User == "" && t.view.Queue(s.Queue).Policy == api.PolicyUsage {
				walk(s.Queue)
				continue
			}
			next++
			s.Rank = next
		}
	}
	for i := range t.out {
		s := &t.out[i]
		if s.User == "" && s.Usage == nil && t.view.Queue(s.Queue).Policy == api.PolicyUsage {
			next = 0
			walk(s.Queue)
		}
	}
}

// compareRanks compares parts of one queue that goes by usage.
func (t *shareTree) compareRanks(a, b *api.Share) int {
	priority := func(s *api.Share) int32 {
		if s.User != "" {
			return 0
		}
		return t.view.Queue(s.Queue).Priority
	}
	return cmp.Or(
		cmp.Compare(priority(b), priority(a)),
		cmp.Compare(a.Usage.Fleet*float64(b.Weight), b.Usage.Fleet*float64(a.Weight)))
}

func (t *shareTree) fill(s *api.Share, use *load, waiting int32) {
	s.Use, s.Running, s.Waiting = use.amounts(), use.tasks, waiting
	s.Dominant, s.Share = use.dominant(t.all)
}

// listOrder answers GET /v1/order. Users see their own jobs.
func (s *Server) listOrder(r *request) (any, error) {
	limit, err := r.page()
	if err != nil {
		return nil, err
	}
	v := s.state.View()
	turns, waiting := r.lead.Order(v, r.mayHave, limit)
	if v.ByQueues() {
		addPaths(v, turns, shares(v, r.lead.Usage()).Shares)
	}
	return api.TurnList{Turns: append([]api.Turn{}, turns...), Waiting: waiting}, nil
}

// addPaths says of each turn where its place comes from: what its owner has in the queue, the
// queue, and those above it.
func addPaths(v state.View, turns []api.Turn, list []api.Share) {
	found := map[[2]string]*api.Share{}
	for i := range list {
		found[[2]string{list[i].Queue, list[i].User}] = &list[i]
	}
	for i := range turns {
		t := &turns[i]
		add := func(queue, user string) {
			if s := found[[2]string{queue, user}]; s != nil {
				t.Path = append(t.Path, api.Level{Queue: queue, User: user, Weight: int64(s.Weight), Share: s.Share, Usage: s.Usage})
			}
		}
		add(t.Queue, t.Owner)
		for q := v.Queue(t.Queue); q != nil; q = v.Queue(q.Parent) {
			add(q.Name, "")
		}
		slices.Reverse(t.Path)
	}
}
