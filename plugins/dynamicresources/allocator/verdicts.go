package allocator

import (
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/berth-project/berth/model"
)

// maxSelectors is for how many different lists of selectors the verdicts are
// remembered; beyond that all are forgotten.
const maxSelectors = 512

// selectorTable numbers lists of selectors, so that a verdict on a device can be
// kept under a number. Lists that say the same have the same number.
type selectorTable struct {
	mu      sync.Mutex
	epoch   uint32
	numbers map[string]int
	key     []byte // scratch
}

// selectorNumber names a list of selectors. Numbers of another epoch are of
// other lists.
type selectorNumber struct {
	epoch uint32
	index int
}

// number returns the number of the list.
func (t *selectorTable) number(list []model.DeviceSelector) selectorNumber {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.key = t.key[:0]
	for i := range list {
		t.key = appendSelector(t.key, &list[i])
	}
	n, known := t.numbers[string(t.key)]
	if !known {
		if t.numbers == nil || len(t.numbers) >= maxSelectors {
			t.numbers = map[string]int{}
			t.epoch++
		}
		n = len(t.numbers)
		t.numbers[string(t.key)] = n
	}
	return selectorNumber{t.epoch, n}
}

// appendSelector appends a text that is different for every selector.
func appendSelector(key []byte, s *model.DeviceSelector) []byte {
	key = strconv.AppendQuote(append(key, '('), s.Expression)
	for i := range s.Requirements {
		r := &s.Requirements[i]
		key = strconv.AppendBool(append(key, '['), r.Driver)
		key = strconv.AppendQuote(key, r.Attribute)
		key = strconv.AppendQuote(key, r.Capacity)
		key = strconv.AppendQuote(key, string(r.Operator))
		for _, v := range r.Values {
			key = appendValue(append(key, ','), v)
		}
	}
	return key
}

func appendValue(key []byte, v model.AttributeValue) []byte {
	if v.Int != nil {
		key = strconv.AppendInt(append(key, 'i'), *v.Int, 10)
	}
	if v.Bool != nil {
		key = strconv.AppendBool(append(key, 'b'), *v.Bool)
	}
	if v.String != nil {
		key = strconv.AppendQuote(append(key, 's'), *v.String)
	}
	if v.Version != nil {
		key = strconv.AppendQuote(append(key, 'v'), *v.Version)
	}
	return key
}

// verdicts keeps what lists of selectors say of the devices of a slice.
type verdicts struct {
	mu   sync.Mutex
	made atomic.Pointer[verdictTable]
}

// verdictTable has for each list, by its index, two bits a device; nil for a
// list that was not asked for.
type verdictTable struct {
	epoch uint32
	lists []*[]atomic.Uint32
}

// The verdicts. No bit is set where nothing is known.
const (
	selected uint32 = 1
	rejected uint32 = 2

	perWord = 16
)

// of returns the words of the list, made where they are not there.
func (v *verdicts) of(n selectorNumber, devices int) []atomic.Uint32 {
	if t := v.made.Load(); t != nil && t.epoch == n.epoch && n.index < len(t.lists) && t.lists[n.index] != nil {
		return *t.lists[n.index]
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	next := &verdictTable{epoch: n.epoch}
	if t := v.made.Load(); t != nil && t.epoch == n.epoch {
		next.lists = append(next.lists, t.lists...)
	}
	for len(next.lists) <= n.index {
		next.lists = append(next.lists, nil)
	}
	if next.lists[n.index] == nil {
		words := make([]atomic.Uint32, (devices+perWord-1)/perWord)
		next.lists[n.index] = &words
	}
	v.made.Store(next)
	return *next.lists[n.index]
}
