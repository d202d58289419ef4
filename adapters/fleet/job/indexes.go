package job

import (
	"cmp"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
)

// Limits of indices.
const (
	// MaxArray is how many elements a job may have.
	MaxArray = 1_000_000
	// MaxIndex is the largest index.
	MaxIndex = 9_999_999
	// MaxRanges is how many ranges a set of indices may be written with.
	MaxRanges = 10_000
)

// Indexes is a set of array indices. It is kept as ranges in ascending order, so
// that it takes no more memory than its text. It does not change once it is
// made, and copies of it may be used at once. The zero value is the empty set.
type Indexes struct {
	ranges []indexRange
}

// indexRange are the indices from First to Last, Step apart. Last is one of them;
// Step is 1 where it is the only one.
type indexRange struct {
	First, Last, Step int32
}

// indexHint ends the errors of ParseIndexes.
const indexHint = `write indices and ranges, "1,3,5-7" or "0-99:2"`

// ParseIndexes reads indices and ranges with commas between them: "1,3,5-7"; a
// range may have a step, "0-99:2". Their order does not matter, but two ranges
// may not overlap, not even where steps let one pass through the gaps of the
// other. There are at most MaxRanges ranges and MaxArray indices, none above
// MaxIndex.
func ParseIndexes(s string) (Indexes, error) {
	if n := strings.Count(s, ",") + 1; n > MaxRanges {
		return Indexes{}, fmt.Errorf("%s has %d ranges, at most %d are allowed", quote(s), n, MaxRanges)
	}
	var ranges []indexRange
	for part := range strings.SplitSeq(s, ",") {
		r, err := parseRange(part)
		if err != nil {
			return Indexes{}, fmt.Errorf("%s is no range of indices: %w; %s", quote(part), err, indexHint)
		}
		ranges = append(ranges, r)
	}
	slices.SortFunc(ranges, func(a, b indexRange) int { return cmp.Compare(a.First, b.First) })
	total := 0
	for i, r := range ranges {
		if i > 0 && r.First <= ranges[i-1].Last {
			return Indexes{}, fmt.Errorf("the ranges %s and %s overlap", ranges[i-1], r)
		}
		total += r.len()
	}
	if total > MaxArray {
		return Indexes{}, fmt.Errorf("%s has %d indices, at most %d are allowed", quote(s), total, MaxArray)
	}
	return Indexes{ranges: joined(ranges)}, nil
}

// IndexesOf is the set of indices that are given in ascending order, each once.
func IndexesOf(ascending []int32) Indexes {
	ranges := make([]indexRange, 0, len(ascending))
	for _, i := range ascending {
		ranges = append(ranges, indexRange{First: i, Last: i, Step: 1})
	}
	return Indexes{ranges: joined(ranges)}
}

// parseRange reads "5", "5-7" or "5-9:2".
func parseRange(s string) (indexRange, error) {
	span, stepText, hasStep := strings.Cut(s, ":")
	firstText, lastText, isSpan := strings.Cut(span, "-")
	if hasStep && !isSpan {
		return indexRange{}, fmt.Errorf("a step needs a range")
	}
	first, err := parseIndex(firstText, 0)
	if err != nil {
		return indexRange{}, err
	}
	last, step := first, int32(1)
	if isSpan {
		if last, err = parseIndex(lastText, 0); err != nil {
			return indexRange{}, err
		}
	}
	if hasStep {
		if step, err = parseIndex(stepText, 1); err != nil {
			return indexRange{}, err
		}
	}
	if last < first {
		return indexRange{}, fmt.Errorf("%d is smaller than %d", last, first)
	}
	last -= (last - first) % step
	if last == first {
		step = 1
	}
	return indexRange{First: first, Last: last, Step: step}, nil
}

// parseIndex reads a number from least to MaxIndex.
func parseIndex(s string, least int64) (int32, error) {
	n, err := strconv.ParseUint(s, 10, 63)
	if err != nil {
		return 0, fmt.Errorf("%s in it is no number", quote(s))
	}
	if int64(n) < least || n > MaxIndex {
		return 0, fmt.Errorf("%d in it is not between %d and %d", n, least, MaxIndex)
	}
	return int32(n), nil
}

// joined makes one range of neighbours where no index is between them, so that
// the same set, of whole ranges, is the same text.
func joined(ranges []indexRange) []indexRange {
	out := ranges[:0]
	for _, r := range ranges {
		if n := len(out); n > 0 && out[n-1].Step == 1 && r.Step == 1 && out[n-1].Last+1 == r.First {
			out[n-1].Last = r.Last
			continue
		}
		out = append(out, r)
	}
	return slices.Clip(out)
}

func (r indexRange) len() int { return int((r.Last-r.First)/r.Step) + 1 }

func (r indexRange) String() string {
	switch {
	case r.First == r.Last:
		return strconv.Itoa(int(r.First))
	case r.Step == 1:
		return fmt.Sprintf("%d-%d", r.First, r.Last)
	}
	return fmt.Sprintf("%d-%d:%d", r.First, r.Last, r.Step)
}

// IsZero reports whether the set is empty.
func (x Indexes) IsZero() bool { return len(x.ranges) == 0 }

// Len is the number of indices.
func (x Indexes) Len() int {
	n := 0
	for _, r := range x.ranges {
		n += r.len()
	}
	return n
}

// Contains reports whether the index is in the set.
func (x Indexes) Contains(index int32) bool {
	next, ok := x.from(index)
	return ok && next == index
}

// First is the smallest index; ok is false where there is none.
func (x Indexes) First() (index int32, ok bool) { return x.from(0) }

// Next is the smallest index above after; ok is false where there is none.
func (x Indexes) Next(after int32) (index int32, ok bool) {
	if after >= MaxIndex {
		return 0, false
	}
	return x.from(after + 1)
}

// Last is the largest index; ok is false where there is none.
func (x Indexes) Last() (index int32, ok bool) {
	if x.IsZero() {
		return 0, false
	}
	return x.ranges[len(x.ranges)-1].Last, true
}

// Step is the distance between neighbours, 1 where there is only one index; ok is false
// where it is not the same between all, or there are none.
func (x Indexes) Step() (step int32, ok bool) {
	if len(x.ranges) != 1 {
		return 0, false
	}
	return x.ranges[0].Step, true
}

// from is the smallest index that is not below least.
func (x Indexes) from(least int32) (int32, bool) {
	i, _ := slices.BinarySearchFunc(x.ranges, least, func(r indexRange, least int32) int {
		return cmp.Compare(r.Last, least)
	})
	if i == len(x.ranges) {
		return 0, false
	}
	r := x.ranges[i]
	if least <= r.First {
		return r.First, true
	}
	// int64: the sum may pass the largest int32 before it is cut.
	steps := (int64(least) - int64(r.First) + int64(r.Step) - 1) / int64(r.Step)
	return int32(int64(r.First) + steps*int64(r.Step)), true
}

// All are the indices in ascending order.
func (x Indexes) All() iter.Seq[int32] {
	return func(yield func(int32) bool) {
		for _, r := range x.ranges {
			for i := int64(r.First); i <= int64(r.Last); i += int64(r.Step) {
				if !yield(int32(i)) {
					return
				}
			}
		}
	}
}

// String is what ParseIndexes reads: ranges in ascending order, "1,3,5-7".
func (x Indexes) String() string {
	parts := make([]string, len(x.ranges))
	for i, r := range x.ranges {
		parts[i] = r.String()
	}
	return strings.Join(parts, ",")
}

// MarshalJSON writes a string.
func (x Indexes) MarshalJSON() ([]byte, error) { return json.Marshal(x.String()) }

// UnmarshalJSON reads a string. An empty one is the empty set.
func (x *Indexes) UnmarshalJSON(data []byte) error {
	s, err := unmarshalIndexText(data)
	if err != nil || s == nil {
		return err
	}
	if *s == "" {
		*x = Indexes{}
		return nil
	}
	*x, err = ParseIndexes(*s)
	return err
}

// unmarshalIndexText is the string that the JSON is, nil for null. A number is
// refused, because people mean two things by it.
func unmarshalIndexText(data []byte) (*string, error) {
	var text *string
	err := unmarshalText(data, func(s string, number bool) error {
		if number {
			return fmt.Errorf(`the number %s alone may be an index or a count: write the indices as a string, "0-%s" or "%s"`, s, s, s)
		}
		text = &s
		return nil
	})
	return text, err
}
