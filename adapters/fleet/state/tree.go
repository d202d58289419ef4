package state

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
)

// What there is beside queues.
type (
	// Account is on whose account users run jobs.
	Account = api.Account
	// User is a user of whom something is said.
	User = api.User
	// Limit is the most that jobs may be or use.
	Limit = api.Limit
)

// maxTree is how many accounts, users or limits there may be of each, maxDepth how deep a
// tree of queues or accounts is.
const (
	maxTree  = 100_000
	maxDepth = 32
)

// maxAmount is the largest amount of a queue or limit. It leaves room for thousandths and sums, maxHours
// and maxGPUHours leave it for seconds, too.
const (
	maxAmount   = int64(1) << 52
	maxHours    = int64(1) << 50
	maxGPUHours = int64(1) << 40
)

// Accounts yields the accounts, by name.
func (v View) Accounts() iter.Seq[*Account] { return accounts.all(v.txn, "id", nil) }

// Account returns an account, nil where there is none.
func (v View) Account(name string) *Account { return accounts.get(v.txn, []byte(name)) }

// Users yields the users of whom something is said, by name.
func (v View) Users() iter.Seq[*User] { return users.all(v.txn, "id", nil) }

// User returns what is said of a user, nil where nothing is.
func (v View) User(name string) *User { return users.get(v.txn, []byte(name)) }

// Limits yields the limits, by name.
func (v View) Limits() iter.Seq[*Limit] { return limits.all(v.txn, "id", nil) }

// Limit returns a limit, nil where there is none.
func (v View) Limit(name string) *Limit { return limits.get(v.txn, []byte(name)) }

// ByQueues reports whether jobs go in the order of a tree of queues: where operators have
// said anything that such an order is needed for. Else they go by priority and number alone.
func (v View) ByQueues() bool {
	for range v.Accounts() {
		return true
	}
	for range v.Users() {
		return true
	}
	for range v.Limits() {
		return true
	}
	return slices.ContainsFunc(v.Queues(), (*Queue).InTree)
}

// AccountsOf are the accounts that a user belongs to, from the own one up.
func (v View) AccountsOf(user string) []string {
	u := v.User(user)
	if u == nil {
		return nil
	}
	var list []string
	for a := v.Account(u.Account); a != nil && len(list) < maxDepth; a = v.Account(a.Parent) {
		list = append(list, a.Name)
	}
	return list
}

// QueueOf is the queue for jobs of a user that name none.
func (v View) QueueOf(user string) string {
	if u := v.User(user); u != nil && u.Queue != "" {
		return u.Queue
	}
	for _, name := range v.AccountsOf(user) {
		if q := v.Account(name).Queue; q != "" {
			return q
		}
	}
	return job.DefaultQueue
}

// problems gathers what is wrong with what an operator wants.
type problems []api.Problem

func (p *problems) bad(field, format string, args ...any) {
	*p = append(*p, api.Problem{Field: field, Message: fmt.Sprintf(format, args...)})
}

func (p *problems) weight(n int32) {
	if n < 0 || n > api.MaxWeight {
		p.bad("weight", "%d is not from 1 to %d (0 is the default, 1)", n, api.MaxWeight)
	}
}

// amounts looks at amounts by themselves.
func (p *problems) amounts(field string, a *api.Amounts) {
	for name, n := range eachAmount(a) {
		if n < 0 || n > maxAmount {
			p.bad(field+"."+name, "%s is not an amount", amountText(name, n))
		}
	}
	if a != nil {
		for _, name := range slices.Sorted(maps.Keys(a.Other)) {
			if err := job.CheckName(name); err != nil {
				p.bad(field+".other", "%v", err)
			}
		}
	}
}

// hours looks at amounts over time, and at the half-life of what is used of them.
func (p *problems) hours(l *Limit) {
	p.amounts("hours", l.Hours)
	for name, n := range eachAmount(l.Hours) {
		most := maxHours
		if name == "gpus" {
			most = maxGPUHours
		}
		if n > most && n <= maxAmount {
			p.bad("hours."+name, "%s is too much: the most is %s", amountText(name, n), amountText(name, most))
		}
	}
	switch {
	case l.HalfLife == 0:
	case l.Hours.IsZero() || l.Each == api.EachTask:
		p.bad("halfLife", "it is for hours that are not of each task")
	default:
		p.halfLife(l.HalfLife)
	}
}

// prices looks at those of a queue.
func (p *problems) prices(q *Queue) {
	if len(q.Prices) > 0 && q.Policy != api.PolicyUsage {
		p.bad("prices", "they are for the policy %s", api.PolicyUsage)
	}
	for _, name := range slices.Sorted(maps.Keys(q.Prices)) {
		if err := job.CheckName(name); err != nil {
			p.bad("prices", "%v", err)
		}
		if n := q.Prices[name]; n < 0 || n > api.MaxWeight {
			p.bad("prices."+name, "%d is not from 0 to %d", n, api.MaxWeight)
		}
	}
}

// reclaim looks at what a queue may reclaim, and what of it others may.
func (p *problems) reclaim(q *Queue) {
	if !slices.Contains([]api.Reclaim{"", api.ReclaimNever, api.ReclaimLower, api.ReclaimAny}, q.Reclaim) {
		p.bad("reclaim", "%.80q is not %s, %s or %s", q.Reclaim, api.ReclaimNever, api.ReclaimLower, api.ReclaimAny)
	}
	if q.MinRuntime < 0 || q.MinRuntime > api.MaxMinRuntime {
		p.bad("minRuntime", "%s is not from 0 to %s", q.MinRuntime, api.MaxMinRuntime)
	}
	if q.Protected < 0 || q.Protected > 100 {
		p.bad("protected", "%d is not from 0 to 100 percent", q.Protected)
	}
}

// halfLife looks at one that is said.
func (p *problems) halfLife(d job.Duration) {
	if d < job.Duration(time.Second) || d > api.MaxHalfLife {
		p.bad("halfLife", "%s is not from 1s to %s", d, api.MaxHalfLife)
	}
}

// eachAmount yields the amounts that are said, by the names of their fields and in order.
func eachAmount(a *api.Amounts) iter.Seq2[string, int64] {
	return func(yield func(string, int64) bool) {
		if a == nil {
			return
		}
		if a.CPU != nil && !yield("cpu", int64(*a.CPU)) || a.Memory != nil && !yield("memory", int64(*a.Memory)) ||
			a.Disk != nil && !yield("disk", int64(*a.Disk)) || a.GPUs != nil && !yield("gpus", *a.GPUs) {
			return
		}
		for _, name := range slices.Sorted(maps.Keys(a.Other)) {
			if !yield("other."+name, a.Other[name]) {
				return
			}
		}
	}
}

// amountText is an amount as people write it, by the name of its field.
func amountText(name string, n int64) string {
	switch name {
	case "cpu":
		return job.MilliCPU(n).String()
	case "memory", "disk":
		return job.Bytes(n).String()
	}
	return strconv.FormatInt(n, 10)
}

// CheckQueue says all that is wrong with the place of a queue among the others.
func (v View) CheckQueue(q *Queue) (p problems) {
	if !q.InTree() {
		return nil
	}
	p.parent("queue", q.Name, q.Parent, func(name string) (string, bool) {
		if o := v.Queue(name); o != nil {
			return o.Parent, true
		}
		return "", false
	})
	p.weight(q.Weight)
	if !slices.Contains([]api.Policy{"", api.PolicyFIFO, api.PolicyPriority, api.PolicyShare, api.PolicyUsage}, q.Policy) {
		p.bad("policy", "%.80q is not %s, %s, %s or %s", q.Policy, api.PolicyFIFO, api.PolicyPriority, api.PolicyShare, api.PolicyUsage)
	}
	switch {
	case q.HalfLife == 0:
	case q.Policy != api.PolicyUsage:
		p.bad("halfLife", "it is for the policy %s", api.PolicyUsage)
	default:
		p.halfLife(q.HalfLife)
	}
	p.prices(q)
	p.reclaim(q)
	p.amounts("guaranteed", q.Guaranteed)
	p.amounts("max", q.Max)
	p.amounts("lend", q.Lend)
	p.amounts("borrow", q.Borrow)
	most := maps.Collect(eachAmount(q.Max))
	for name, n := range eachAmount(q.Guaranteed) {
		if m, said := most[name]; said && n > m {
			p.bad("max."+name, "it is less than what is guaranteed")
		}
	}
	return p
}

// parent looks at the parent of a queue or account: it is there, and not below its child.
func (p *problems) parent(what, name, parent string, of func(name string) (string, bool)) {
	depth := 1
	for at := parent; at != ""; depth++ {
		next, ok := of(at)
		switch {
		case at == name:
			p.bad("parent", "%s %q would be below itself", what, name)
			return
		case !ok:
			p.bad("parent", "there is no %s %q", what, at)
			return
		case depth >= maxDepth:
			p.bad("parent", "the tree would be deeper than %d", maxDepth)
			return
		}
		at = next
	}
}

// needsQueue names something that needs a queue besides its jobs, "" where nothing does.
func (v View) needsQueue(name string) string {
	for _, q := range v.Queues() {
		if q.Parent == name {
			return fmt.Sprintf("queue %q, which is below it", q.Name)
		}
	}
	for a := range v.Accounts() {
		if a.Queue == name {
			return fmt.Sprintf("account %q", a.Name)
		}
	}
	for u := range v.Users() {
		if u.Queue == name {
			return fmt.Sprintf("user %q", u.Name)
		}
	}
	for l := range v.Limits() {
		if l.Queue == name {
			return fmt.Sprintf("limit %q", l.Name)
		}
	}
	return ""
}

// name looks at a name, and at how many there are.
func (p *problems) name(name string, full bool) {
	if err := job.CheckName(name); err != nil {
		p.bad("name", "%v", err)
	}
	if full {
		p.bad("name", "there are %d already, as many as there may be", maxTree)
	}
}

// full reports whether there are as many rows as there may be.
func full[T any](rows iter.Seq[T]) bool {
	n := 0
	for range rows {
		if n++; n >= maxTree {
			return true
		}
	}
	return false
}

// queue looks at the queue that something names.
func (p *problems) queue(v View, name string) {
	if name != "" && v.Queue(name) == nil {
		p.bad("queue", "there is no queue %q", name)
	}
}

// CheckAccount says all that is wrong with an account.
func (v View) CheckAccount(a *Account) (p problems) {
	p.name(a.Name, v.Account(a.Name) == nil && full(v.Accounts()))
	p.parent("account", a.Name, a.Parent, func(name string) (string, bool) {
		if o := v.Account(name); o != nil {
			return o.Parent, true
		}
		return "", false
	})
	p.queue(v, a.Queue)
	return p
}

// CheckUser says all that is wrong with what is said of a user.
func (v View) CheckUser(u *User) (p problems) {
	p.name(u.Name, v.User(u.Name) == nil && full(v.Users()))
	if u.Account != "" && v.Account(u.Account) == nil {
		p.bad("account", "there is no account %q", u.Account)
	}
	p.queue(v, u.Queue)
	p.weight(u.Weight)
	return p
}

// CheckLimit says all that is wrong with a limit.
func (v View) CheckLimit(l *Limit) (p problems) {
	p.name(l.Name, v.Limit(l.Name) == nil && full(v.Limits()))
	owners := 0
	for _, name := range []string{l.Queue, l.Account, l.User} {
		if name != "" {
			owners++
		}
	}
	if owners != 1 {
		p.bad("queue", "write one of queue, account and user: whose limit it is; there are %d", owners)
	}
	p.queue(v, l.Queue)
	if l.Account != "" && v.Account(l.Account) == nil {
		p.bad("account", "there is no account %q", l.Account)
	}
	if l.User != "" {
		if err := job.CheckName(l.User); err != nil {
			p.bad("user", "%v", err)
		}
	}
	switch l.Each {
	case "":
	case api.EachUser:
		if l.Queue == "" {
			p.bad("each", "user is for the limit of a queue")
		}
	case api.EachTask:
		if l.Running != nil {
			p.bad("running", "a task is one task: there is nothing to count for each")
		}
	default:
		p.bad("each", "%.80q is neither %s nor %s", l.Each, api.EachUser, api.EachTask)
	}
	if l.Running == nil && l.Use.IsZero() && l.Hours.IsZero() {
		p.bad("running", "write running, or an amount in use or hours: what is limited")
	}
	if l.Running != nil && (*l.Running < 0 || *l.Running > maxAmount) {
		p.bad("running", "%d is not a number of tasks", *l.Running)
	}
	p.amounts("use", l.Use)
	p.hours(l)
	return p
}

// soundTree looks at a picture's queues, accounts, users and limits.
func (v View) soundTree() error {
	wrong := func(what, name string, p problems) error {
		if len(p) == 0 {
			return nil
		}
		return fmt.Errorf("%s %q: %s %s", what, name, p[0].Field, p[0].Message)
	}
	for q := range queues.all(v.txn, "id", nil) {
		if err := wrong("queue", q.Name, v.CheckQueue(q)); err != nil {
			return err
		}
	}
	for a := range v.Accounts() {
		if err := wrong("account", a.Name, v.CheckAccount(a)); err != nil {
			return err
		}
	}
	for u := range v.Users() {
		if err := wrong("user", u.Name, v.CheckUser(u)); err != nil {
			return err
		}
	}
	for l := range v.Limits() {
		if err := wrong("limit", l.Name, v.CheckLimit(l)); err != nil {
			return err
		}
	}
	return nil
}
