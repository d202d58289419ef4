package record

import (
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/engine/internal/store"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/model/modeltest"
)

// A change that holds what a recording cannot keep is refused, wherever it stands, and told
// what it is.
func TestTextsThatDoNotSurviveARecordingAreRefused(t *testing.T) {
	refuse(t, "a\xff", strconv.Quote("a\xff"), "a\xff")
}

func TestTimesThatDoNotSurviveARecordingAreRefused(t *testing.T) {
	refuse(t, time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC), "the year 10000 is not between 0 and 9999")
	refuse(t, time.Unix(0, 0).In(time.FixedZone("", 3601)), "the offset of its zone, 1h0m1s, ")
	refuse(t, time.Unix(0, 0).In(time.FixedZone("", -24*3600)), "the offset of its zone, -24h0m0s, ")
}

// refuse puts the leaf in every place of every change, which must be refused with one of the
// texts.
func refuse[T any](t *testing.T, leaf T, said ...string) {
	t.Helper()
	places := 0
	check := func(ch Change, place string) {
		places++
		in := &Intake{Txn: store.New().Begin(), Now: time.Unix(1000, 0)}
		defer in.Abort()
		require.NoError(t, in.PutNode(&model.Node{Name: "x"}))
		err := ch.Write(in)
		require.Error(t, err, "%s: %s", ch.Verb(), place)
		if !slices.ContainsFunc(said, func(s string) bool { return strings.Contains(err.Error(), s) }) {
			t.Errorf("%s: %s: got %v", ch.Verb(), place, err)
		}
	}
	for name, op := range ops {
		if name == putObject.op.name {
			for _, kind := range model.ObjectKinds {
				for place, o := range modeltest.Planted(reflect.TypeOf(model.NewObject(kind)), leaf) {
					if model.RefOf(o.(model.Object)).ID != "" {
						check(PutObject(o.(model.Object)), place)
					}
				}
			}
			continue
		}
		none, err := op.read(json.NewDecoder(strings.NewReader("null")))
		require.NoError(t, err, name)
		for place, value := range modeltest.Planted(reflect.TypeOf(none), leaf) {
			if _, given := op.id(value); given {
				check(Change{op, value}, place)
			}
		}
	}
	require.Positive(t, places)
}
