package job

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Array says which elements a job has, and how many of them may run at once. It
// does not change once it is made. The zero value is that of a job that is no
// array.
type Array struct {
	Indexes
	// Limit is how many elements may run at once; 0 for all.
	Limit int32
}

// ParseArray reads indices as ParseIndexes does, and after them, where not all of
// them may run at once, "%" and how many may: "0-9999:2%50".
func ParseArray(s string) (Array, error) {
	text, limitText, hasLimit := strings.Cut(s, "%")
	x, err := ParseIndexes(text)
	if err != nil {
		return Array{}, err
	}
	a := Array{Indexes: x}
	if hasLimit {
		if a.Limit, err = parseIndex(limitText, 1); err != nil {
			return Array{}, fmt.Errorf(`%s says no limit of an array: %w; write "0-99%%10" for ten at once`, quote(s), err)
		}
	}
	return a, nil
}

// String is what ParseArray reads: "0-9998:2%50".
func (a Array) String() string {
	if a.Limit == 0 {
		return a.Indexes.String()
	}
	return fmt.Sprintf("%s%%%d", a.Indexes, a.Limit)
}

// MarshalJSON writes a string.
func (a Array) MarshalJSON() ([]byte, error) { return json.Marshal(a.String()) }

// UnmarshalJSON reads a string. An empty one is no array.
func (a *Array) UnmarshalJSON(data []byte) error {
	s, err := unmarshalIndexText(data)
	if err != nil || s == nil {
		return err
	}
	if *s == "" {
		*a = Array{}
		return nil
	}
	*a, err = ParseArray(*s)
	return err
}
