package share

import (
	"errors"
	"fmt"
)

// ClassicShare is what the classic fair share says of one account or user. Both are
// Q32 numbers.
type ClassicShare struct {
	Usage  uint64 // effective usage: its own, and its part of what its siblings used
	Shares uint64 // its part of all shares
	Factor uint64 // 2^-(Usage/Shares/dampening)
}

// ClassicFairShare gives the factors of the classic fair share, the forerunner of Fair
// Tree: 2^-(U/S/d) with the effective usage U = A + (U of the parent - A)*S/(S of all
// siblings), where A is the actual usage over the total, and for the accounts at the top
// U = A. A user pays for what its siblings used, which is why Fair Tree replaced it.
//
// The total is at least the usage of all, and may be more, if others used something
// too; a total of 0 means that nothing was used. The factor of what has no shares is 0. The
// dampening d is 1 or more. Every step is rounded down to 2^-32.
func ClassicFairShare(accounts []Account, total Uint128, dampening uint64) ([]ClassicShare, error) {
	standings, err := FairTree(accounts)
	if err != nil {
		return nil, err
	}
	order, _ := checkAccounts(accounts)
	siblings := map[int]uint64{}
	var used Uint128
	for i, a := range accounts {
		siblings[a.Parent] += uint64(a.Shares)
		if a.Parent == Root {
			used, _ = used.Plus(standings[i].Usage)
		}
	}
	if used.Compare(total) > 0 {
		err = fmt.Errorf("share: a total usage of %v is less than that of the accounts, %v: %w", total, used, ErrOverflow)
	}
	if dampening == 0 {
		err = errors.Join(err, fmt.Errorf("share: the dampening must be above 0: %w", ErrWeight))
	}
	if err != nil {
		return nil, err
	}
	result := make([]ClassicShare, len(accounts))
	for _, n := range order {
		a := accounts[n]
		r := ClassicShare{Usage: q32(standings[n].Usage, total), Shares: One}
		above := r.Usage
		if a.Parent != Root {
			above, r.Shares = result[a.Parent].Usage, result[a.Parent].Shares
		}
		if all := siblings[a.Parent]; all > 0 {
			// An effective usage is never below the actual one, see the formula.
			r.Usage += mulDiv(max(above, r.Usage)-r.Usage, uint64(a.Shares), all)
			r.Shares = mulDiv(r.Shares, uint64(a.Shares), all)
		} else {
			r.Shares = 0
		}
		if r.Shares > 0 {
			r.Factor = halving(mulDiv(r.Usage, One, r.Shares) / dampening)
		}
		result[n] = r
	}
	return result, nil
}

// Term is one part of a priority of many factors.
type Term struct {
	Weight uint32 // the most that it can add
	Factor uint64 // a Q32 number; what is above 1 counts as 1
}

// Priority adds a base, which may be negative, and Weight*Factor of each term, rounded
// down, so that the parts, which are returned too, add up to what is shown. The sum is
// cut to what 32 bits without sign hold.
func Priority(base int64, terms []Term) (uint32, []uint32) {
	parts := make([]uint32, len(terms))
	var sum uint64
	for i, t := range terms {
		parts[i] = uint32(mulDiv(uint64(t.Weight), min(t.Factor, One), One))
		sum += uint64(parts[i])
	}
	const most = 1<<32 - 1
	switch {
	case base < 0 && uint64(-base) >= sum:
		return 0, parts
	case base < 0:
		sum -= uint64(-base)
	case uint64(base) > most:
		return most, parts
	default:
		sum += uint64(base)
	}
	return uint32(min(sum, most)), parts
}
