package share

import (
	"errors"
	"fmt"
	"slices"
)

// Account is a node of the tree of accounts and users.
type Account struct {
	Name   string  // for errors; accounts are known by their index
	Parent int     // index of the account above, or Root
	Shares int64   // its part, relative to its siblings; not below 0
	Usage  Uint128 // what it used itself, decayed, as Ledger.Total or Ledger.Usage has it
	User   bool    // a user gets a rank, and has nobody below it
}

// Standing is what Fair Tree says of one account or user.
type Standing struct {
	Usage  Uint128  // its own and that of all below it
	Level  Fraction // its part of its siblings' shares over its part of their usage
	Rank   int      // of a user: the number of users for the best, and 1 for the worst if no ranks are equal; else 0
	Factor uint64   // of a user: Rank over the number of users, a Q32 number
}

// FairTree ranks users by the shares and the usage of their accounts, from the top
// down: a user of an account that is better off comes after every user of a sibling
// that is worse off. Time does not matter, as decay changes all usage alike.
//
// An account's level is S/U, its part of its siblings' shares over its part of their
// usage: infinite if nothing was used, and 0 if it has no shares, used or not. The
// higher level is served first. Siblings with the same level: users have the same rank;
// the children of accounts compete as one list; and a user has the rank of the best user
// of such an account. After equal ranks the next rank is as much lower as there are users that
// have them.
//
// The error lists all that is wrong: a parent that there is not, a circle, shares below
// 0, a user with somebody below it, a sum that is too large.
func FairTree(accounts []Account) ([]Standing, error) {
	order, err := checkAccounts(accounts)
	if err != nil {
		return nil, err
	}
	t := fairTree{accounts: accounts, standings: make([]Standing, len(accounts)), children: make([][]int, len(accounts))}
	var roots []int
	users := 0
	for i := len(order) - 1; i >= 0; i-- {
		n := order[i]
		var fits bool
		if t.standings[n].Usage, fits = t.standings[n].Usage.Plus(accounts[n].Usage); !fits {
			return nil, fmt.Errorf("share: the usage of %q and all below it: %w", accounts[n].Name, ErrOverflow)
		}
		if p := accounts[n].Parent; p != Root {
			if t.standings[p].Usage, fits = t.standings[p].Usage.Plus(t.standings[n].Usage); !fits {
				return nil, fmt.Errorf("share: the usage of %q and all below it: %w", accounts[p].Name, ErrOverflow)
			}
		}
	}
	for n, a := range accounts {
		if a.User {
			users++
		}
		if a.Parent == Root {
			roots = append(roots, n)
		} else {
			t.children[a.Parent] = append(t.children[a.Parent], n)
		}
	}
	for _, siblings := range append(t.children, roots) {
		if err := t.setLevels(siblings); err != nil {
			return nil, err
		}
	}
	rank := users
	for _, equal := range t.ranked(roots) {
		for _, u := range equal {
			t.standings[u].Rank = rank
			t.standings[u].Factor = mulDiv(uint64(rank), One, uint64(users))
		}
		rank -= len(equal)
	}
	return t.standings, nil
}

func checkAccounts(accounts []Account) ([]int, error) {
	names, parents := make([]string, len(accounts)), make([]int, len(accounts))
	var wrong []error
	for i, a := range accounts {
		names[i], parents[i] = a.Name, a.Parent
		if a.Shares < 0 {
			wrong = append(wrong, fmt.Errorf("share: %q has %d shares: %w", a.Name, a.Shares, ErrNegative))
		}
		if a.Parent >= 0 && a.Parent < len(accounts) && accounts[a.Parent].User {
			wrong = append(wrong, fmt.Errorf("share: %q is below the user %q: %w", a.Name, accounts[a.Parent].Name, ErrUser))
		}
	}
	order, err := topDown(names, parents)
	return order, errors.Join(append(wrong, err)...)
}

type fairTree struct {
	accounts  []Account
	standings []Standing
	children  [][]int
}

// setLevels sets the levels of the children of one account.
func (t *fairTree) setLevels(siblings []int) error {
	var shares, usage Uint128
	var fits bool
	for _, n := range siblings {
		shares, _ = shares.Plus(Uint128{0, uint64(t.accounts[n].Shares)})
		if usage, fits = usage.Plus(t.standings[n].Usage); !fits {
			return fmt.Errorf("share: the usage of %q and its siblings: %w", t.accounts[n].Name, ErrOverflow)
		}
	}
	if shares.Hi != 0 {
		return fmt.Errorf("share: the shares of %q and its siblings: %w", t.accounts[siblings[0]].Name, ErrOverflow)
	}
	for _, n := range siblings {
		s, u := uint64(t.accounts[n].Shares), t.standings[n].Usage
		switch {
		case s == 0:
			t.standings[n].Level = Fraction{}
		case u == (Uint128{}):
			t.standings[n].Level = infinite
		default:
			t.standings[n].Level = Fraction{wideOf128(usage).times(s), wideOf128(u).times(shares.Lo)}
		}
	}
	return nil
}

// ranked returns the users of the list and of all below it, the best first; those with the
// same rank are together.
func (t *fairTree) ranked(list []int) (users [][]int) {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b int) int { return t.standings[b].Level.Compare(t.standings[a].Level) })
	for len(list) > 0 {
		end := 1
		for end < len(list) && t.standings[list[end]].Level.Compare(t.standings[list[0]].Level) == 0 {
			end++
		}
		var equal, below []int
		for _, n := range list[:end] {
			if t.accounts[n].User {
				equal = append(equal, n)
			} else {
				below = append(below, t.children[n]...)
			}
		}
		list = list[end:]
		var rest [][]int
		if len(below) > 0 {
			rest = t.ranked(below)
		}
		if len(equal) > 0 && len(rest) > 0 {
			rest[0] = append(equal, rest[0]...)
		} else if len(equal) > 0 {
			rest = [][]int{equal}
		}
		users = append(users, rest...)
	}
	return users
}
