package state

import (
	"fmt"
	"slices"

	"github.com/berth-project/berth/adapters/fleet/api"
)

func (t *tx) putAccount(a *Account) Result {
	if problems := t.CheckAccount(a); len(problems) > 0 {
		return notValid("the account", problems)
	}
	accounts.put(t.txn, a)
	t.accountsChanged()
	return Result{}
}

// accountsChanged notes that the tree has, and that reservations may be for others now.
func (t *tx) accountsChanged() {
	t.tree = true
	for r := range t.Reservations() {
		if len(r.Accounts) > 0 {
			t.touchReservation(r.Name)
		}
	}
}

func (t *tx) removeAccount(name string) Result {
	a := t.Account(name)
	if a == nil {
		return refuse(api.CodeNotFound, "there is no account %q", name)
	}
	needs := ""
	for o := range t.Accounts() {
		if o.Parent == name {
			needs = fmt.Sprintf("account %q, which is below it", o.Name)
		}
	}
	for u := range t.Users() {
		if u.Account == name {
			needs = fmt.Sprintf("user %q", u.Name)
		}
	}
	for l := range t.Limits() {
		if l.Account == name {
			needs = fmt.Sprintf("limit %q", l.Name)
		}
	}
	for r := range t.Reservations() {
		if slices.Contains(r.Accounts, name) {
			needs = fmt.Sprintf("reservation %q", r.Name)
		}
	}
	if needs != "" {
		return refuse(api.CodeConflict, "account %q is needed by %s; change or remove that first", name, needs)
	}
	accounts.remove(t.txn, a)
	t.accountsChanged()
	return Result{}
}

func (t *tx) putUser(u *User) Result {
	if problems := t.CheckUser(u); len(problems) > 0 {
		return notValid("the user", problems)
	}
	users.put(t.txn, u)
	t.accountsChanged()
	return Result{}
}

// removeUser forgets what is said of a user, who has the defaults then.
func (t *tx) removeUser(name string) Result {
	u := t.User(name)
	if u == nil {
		return refuse(api.CodeNotFound, "nothing is said of user %q", name)
	}
	users.remove(t.txn, u)
	t.accountsChanged()
	return Result{}
}

func (t *tx) putLimit(l *Limit) Result {
	if problems := t.CheckLimit(l); len(problems) > 0 {
		return notValid("the limit", problems)
	}
	limits.put(t.txn, l)
	t.tree = true
	return Result{}
}

func (t *tx) removeLimit(name string) Result {
	l := t.Limit(name)
	if l == nil {
		return refuse(api.CodeNotFound, "there is no limit %q", name)
	}
	limits.remove(t.txn, l)
	t.tree = true
	return Result{}
}
