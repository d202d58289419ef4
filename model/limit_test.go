package model_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/berth-project/berth/model"
)

// TestLimitIsNotNegative: no limit is 0.
func TestLimitIsNotNegative(t *testing.T) {
	if err := (&model.Workload{ID: "w", Limit: time.Hour}).Validate(); err != nil {
		t.Error(err)
	}
	err := (&model.Workload{ID: "w", Limit: -time.Second}).Validate()
	var invalid *model.ValidationError
	if !errors.As(err, &invalid) || len(invalid.Problems) != 1 || invalid.Problems[0].Field != "limit" {
		t.Errorf("got %v", err)
	}
}

// TestMinLimitIsPartOfTheLimit: it is between 0 and the limit, and none where there is no limit.
func TestMinLimitIsPartOfTheLimit(t *testing.T) {
	for _, c := range []struct {
		limit, least time.Duration
		want         string
	}{
		{time.Hour, 0, ""},
		{time.Hour, time.Hour, ""},
		{time.Hour, time.Hour + 1, "minLimit: 1h0m0.000000001s is not between 0 and the limit, 1h0m0s"},
		{time.Hour, -1, "minLimit: -1ns is not between 0 and the limit, 1h0m0s"},
		{0, 1, "minLimit: 1ns is not between 0 and the limit, 0s"},
	} {
		checkProblems(t, &model.Workload{ID: "w", Limit: c.limit, MinLimit: c.least}, lines(c.want)...)
	}
}

// TestDataReadAgain: what a replay has of Data is what encoding/json makes of it.
func TestDataReadAgain(t *testing.T) {
	type mine struct{ Attempt int }
	text, err := json.Marshal(&model.Workload{ID: "w", Data: &mine{3}})
	if err != nil {
		t.Fatal(err)
	}
	var again model.Workload
	if err := json.Unmarshal(text, &again); err != nil {
		t.Fatal(err)
	}
	if want := map[string]any{"Attempt": 3.0}; !reflect.DeepEqual(again.Data, want) {
		t.Errorf("got %#v, want %#v", again.Data, want)
	}
}
