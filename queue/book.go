package queue

import (
	"math"
	"math/bits"

	"github.com/berth-project/berth/model"
	ledgers "github.com/berth-project/berth/queue/share"
)

// book is what the parts of one queue have used, decayed; see [model.OrderUsage]. Time is in
// milliseconds.
//
// The order goes by what each part will have used by a moment that is the same for all of them,
// if what runs goes on until then. So a part's key changes when its rate does, and for all of
// the queue at the beginning of an interval, and not as time goes by: between that, the order is
// as strict as any other.
type book struct {
	ledger  *ledgers.Ledger
	entries map[entry]int
	list    []entry // by their numbers in the ledger
	prices  map[string]int64
	most    int64 // the highest rate that the ledger can take
	next    int64 // when the next interval begins
	since   int64 // when this one began
	until   int64 // the moment that keys are as of: the end of the interval after this one
}

// entry is what a part has used of a resource, or, by prices, of all of them: Resource is empty
// then. The part is a queue, or what a principal has in the queue whose book it is, if only
// of what no principal has.
type entry struct{ Queue, Principal, Resource string }

// intervals is how many intervals there are in a half-life: of a week, one takes five minutes.
const intervals = 2016

func newBook(halfLife, tick int64) *book { return bookOf(newLedger(halfLife, tick), nil) }

// bookOf is the book of a ledger whose numbers are of these entries.
func bookOf(ledger *ledgers.Ledger, list []entry) *book {
	b := &book{ledger: ledger, entries: make(map[entry]int, len(list)), list: list, most: mostRate(ledger)}
	for n, e := range list {
		b.entries[e] = n
	}
	return b
}

func newLedger(halfLife, tick int64) *ledgers.Ledger {
	ledger, err := ledgers.NewLedger(halfLife, tick, 0)
	if err != nil {
		panic(err) // queues and limits are valid
	}
	return ledger
}

// mostRate is the highest rate that the ledger can take: up to 2^92 over the half-life.
func mostRate(ledger *ledgers.Ledger) int64 {
	return math.MaxInt64 >> max(0, bits.Len64(uint64(ledger.HalfLife()))-28)
}

// setRate says what is used from now on in each millisecond.
func setRate(ledger *ledgers.Ledger, n int, tick, rate int64) {
	if old := ledger.Rate(n); old != rate {
		_ = ledger.AddRate(n, tick, rate-old) // it is in the bounds
	}
}

// renewed is the book with another half-life, and without what has come to nothing.
func (b *book) renewed(halfLife, tick int64) *book {
	b.ledger.Advance(tick) // it does not go back
	next := newBook(halfLife, tick)
	for i, e := range b.list {
		if usage, rate := b.ledger.Usage(i), b.ledger.Rate(i); rate > 0 || usage != (ledgers.Uint128{}) {
			n := next.number(e)
			// What is too much stays at the most that there can be.
			_ = next.ledger.ChargeAt(n, tick, tick, usage)
			setRate(next.ledger, n, tick, min(rate, next.most))
		}
	}
	return next
}

// idle counts what has come to nothing.
func (b *book) idle() (n int) {
	for i := range b.list {
		if b.ledger.Rate(i) == 0 && b.ledger.Usage(i) == (ledgers.Uint128{}) {
			n++
		}
	}
	return n
}

// begin begins the interval that the tick is in. Where the unit of totals changes an interval
// ends early.
func (b *book) begin(tick int64) {
	b.ledger.Advance(tick) // it does not go back
	grain := max(b.ledger.HalfLife()/intervals, 1000)
	from := b.ledger.Renewed()
	n := (tick - from) / grain
	b.next = min(from+(n+1)*grain, b.ledger.Renews())
	b.since, b.until = from+n*grain, from+(n+2)*grain
}

// number is that of the entry, which is made where it is not there.
func (b *book) number(e entry) int {
	n, known := b.entries[e]
	if !known {
		n = b.ledger.AddPrincipal()
		b.entries[e] = n
		b.list = append(b.list, e)
	}
	return n
}

// priced is the price of so much of the resource in thousandths.
func (b *book) priced(resource string, n int64) int64 {
	price := b.prices[resource]
	if price == 0 || n == 0 {
		return 0
	}
	each := uint64(1)
	switch resource {
	case model.CPU:
		each = 1000
	case model.Memory, model.EphemeralStorage:
		each = 1 << 30
	}
	hi, lo := bits.Mul64(uint64(n), uint64(price)*1000)
	if hi >= each {
		return b.most
	}
	cost, _ := bits.Div64(hi, lo, each)
	return int64(min(cost, uint64(b.most)))
}

// pricedPast is the price of an amount in thousandths, where 2^63 of it is more than enough.
func (b *book) pricedPast(resource string, n ledgers.Uint128) ledgers.Uint128 {
	low := b.priced(resource, int64(min(n.Lo, math.MaxInt64)))
	if n.Hi != 0 {
		low = b.most
	}
	return ledgers.Uint128{Lo: uint64(low)}
}

// past is the key of a part by what it has used: so much of a capacity.
type past struct {
	used ledgers.Uint128
	of   int64
}

// compareWeighted is as that of a share.
func (p past) compareWeighted(weight int64, o past, other int64) int {
	if (weight == 0) != (other == 0) {
		if weight == 0 {
			return +1
		}
		return -1
	}
	return p.times(o.of, max(other, 1)).compare(o.times(p.of, max(weight, 1)))
}

// times is the product, the highest part first.
func (p past) times(a, b int64) (product wide) {
	high, low := bits.Mul64(uint64(a), uint64(b))
	add := func(at int, x, y uint64) {
		hi, lo := bits.Mul64(x, y)
		var carry uint64
		product[at], carry = bits.Add64(product[at], lo, 0)
		product[at-1], carry = bits.Add64(product[at-1], hi, carry)
		if at > 1 {
			product[at-2] += carry
		}
	}
	add(3, p.used.Lo, low)
	add(2, p.used.Lo, high)
	add(2, p.used.Hi, low)
	add(1, p.used.Hi, high)
	return product
}

// wide is a number of 256 bits, the highest part first.
type wide [4]uint64

func (w wide) compare(o wide) int {
	for i := range w {
		switch {
		case w[i] < o[i]:
			return -1
		case w[i] > o[i]:
			return +1
		}
	}
	return 0
}
