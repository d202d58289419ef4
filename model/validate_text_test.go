package model_test

import (
	"errors"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	. "github.com/berth-project/berth/model"
	"github.com/berth-project/berth/model/modeltest"
)

// validated are the types with a Validate method that are not a part of another.
func validated() []reflect.Type {
	types := []reflect.Type{
		reflect.TypeFor[*Node](), reflect.TypeFor[*Workload](), reflect.TypeFor[*Group](), reflect.TypeFor[*Budget](),
		reflect.TypeFor[*Namespace](), reflect.TypeFor[*Binding](),
	}
	for _, kind := range ObjectKinds {
		types = append(types, reflect.TypeOf(NewObject(kind)))
	}
	return types
}

// names reports whether the error has a problem with the place that begins with the value and
// goes on with one of the texts.
func names(err error, place, value string, texts ...string) bool {
	var invalid *ValidationError
	if !errors.As(err, &invalid) {
		return false
	}
	for _, p := range invalid.Problems {
		rest, found := strings.CutPrefix(p.Message, value)
		if found && strings.EqualFold(p.Field, place) && slices.ContainsFunc(texts, func(s string) bool { return strings.HasPrefix(rest, s) }) {
			return true
		}
	}
	return false
}

// What is no text would not survive being written down and read again, wherever it stands.
func TestOnlyTextIsValid(t *testing.T) {
	places := 0
	for _, typ := range validated() {
		for place, object := range modeltest.Planted(typ, "a\xff") {
			places++
			err := object.(interface{ Validate() error }).Validate()
			if !names(err, place, strconv.Quote("a\xff"), " is not valid UTF-8", " is not one of", ` is not "name"`, " is no request of the claim", " is no semantic version") {
				t.Errorf("%v: %s is not reported: %v", typ, place, err)
			}
		}
	}
	if places < 400 {
		t.Errorf("there were %d places", places)
	}
}

// Nor would a time that has no form in RFC 3339, or loses the seconds of its zone in it.
func TestOnlyTimesThatCanBeWrittenAreValid(t *testing.T) {
	day := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for says, at := range map[string]time.Time{
		"the year 10000 is not between 0 and 9999": time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC),
		"the year -1 is not between 0 and 9999":    time.Date(-1, 1, 1, 0, 0, 0, 0, time.UTC),
		"the offset of its zone, 25h0m0s, ":        day.In(time.FixedZone("", 25*3600)),
		"the offset of its zone, -24h0m0s, ":       day.In(time.FixedZone("", -24*3600)),
		"the offset of its zone, 1h0m1s, ":         day.In(time.FixedZone("", 3601)),
	} {
		places := 0
		for _, typ := range validated() {
			for place, object := range modeltest.Planted(typ, at) {
				places++
				err := object.(interface{ Validate() error }).Validate()
				if !names(err, place, says, "") {
					t.Errorf("%v: %s: %v is not reported: %v", typ, place, at, err)
				}
			}
		}
		if places < 20 {
			t.Errorf("there were %d places", places)
		}
	}
}

func TestMessageForNoText(t *testing.T) {
	checkProblems(t, &Workload{
		ID: "a\xff", Namespace: "b\xff", Name: "c\xff",
		Labels:   map[string]string{"good": "d\xff", "e\xff": "good"},
		Features: []string{"f\xff"},
	},
		`id: "a\xff" is not valid UTF-8`,
		`namespace: "b\xff" is not valid UTF-8`,
		`name: "c\xff" is not valid UTF-8`,
		`labels: "e\xff" is not valid UTF-8`,
		`labels: "d\xff" is not valid UTF-8`,
		`features[0]: "f\xff" is not valid UTF-8`)
}
