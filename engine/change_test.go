package engine_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/model"
)

// changes are one of each constructor, with what they say of themselves and how they
// are recorded.
var changes = []struct {
	change   engine.Change
	text     string
	value    any
	recorded string // what a reader fills in left out
}{
	{engine.PutNode(&model.Node{Name: "n"}), `put node "n"`, &model.Node{Name: "n"}, `{"PutNode":{"Name":"n"}}`},
	{engine.RemoveNode("n"), `remove node "n"`, nil, `{"RemoveNode":"n"}`},
	{engine.LoseNode("n"), `lose node "n"`, nil, `{"LoseNode":"n"}`},
	{engine.Drain("n", "why"), `drain "n"`, nil, `{"Drain":{"Node":"n","Reason":"why"}}`},
	{engine.Submit(&model.Workload{ID: "w"}), `submit "w"`, &model.Workload{ID: "w"}, `{"Submit":{"ID":"w"}}`},
	{engine.Adopt(&model.Workload{ID: "w"}, model.Binding{Node: "n", Since: epoch}), `adopt "w"`, &model.Workload{ID: "w"},
		`{"Adopt":{"Workload":{"ID":"w"},"Binding":{"Node":"n","Since":"` + epoch.Format(time.RFC3339) + `"}}}`},
	{engine.Update(&model.Workload{ID: "w"}), `update "w"`, &model.Workload{ID: "w"}, `{"Update":{"ID":"w"}}`},
	{engine.Confirm(model.Binding{Workload: "w", Node: "n"}), `confirm "w"`, model.Binding{Workload: "w", Node: "n"},
		`{"Confirm":{"Workload":"w","Node":"n"}}`},
	{engine.Nominate("w", "n"), `nominate "w"`, nil, `{"Nominate":{"Workload":"w","Node":"n"}}`},
	{engine.Terminate("w"), `terminate "w"`, nil, `{"Terminate":"w"}`},
	{engine.Displace("w"), `displace "w"`, nil, `{"Displace":"w"}`},
	{engine.Finish("w"), `finish "w"`, nil, `{"Finish":"w"}`},
	{engine.Requeue("w"), `requeue "w"`, nil, `{"Requeue":"w"}`},
	{engine.Remove("w"), `remove "w"`, nil, `{"Remove":"w"}`},
	{engine.PutGroup(&model.Group{ID: "g"}), `put group "g"`, &model.Group{ID: "g"}, `{"PutGroup":{"ID":"g"}}`},
	{engine.RemoveGroup("g"), `remove group "g"`, nil, `{"RemoveGroup":"g"}`},
	{engine.PutBudget(&model.Budget{ID: "b"}), `put budget "b"`, &model.Budget{ID: "b"}, `{"PutBudget":{"ID":"b"}}`},
	{engine.RemoveBudget("b"), `remove budget "b"`, nil, `{"RemoveBudget":"b"}`},
	{engine.PutNamespace(&model.Namespace{Name: "s"}), `put namespace "s"`, &model.Namespace{Name: "s"}, `{"PutNamespace":{"Name":"s"}}`},
	{engine.RemoveNamespace("s"), `remove namespace "s"`, nil, `{"RemoveNamespace":"s"}`},
	{engine.PutObject(&model.StorageDriver{Name: "d"}), `put StorageDriver "d"`, &model.StorageDriver{Name: "d"},
		`{"PutObject":{"Kind":"StorageDriver","Object":{"Name":"d"}}}`},
	{engine.RemoveObject(model.ObjectRef{Kind: model.VolumeKind, ID: "v"}), `remove Volume "v"`, nil,
		`{"RemoveObject":{"Kind":"Volume","ID":"v"}}`},
}

func TestChangesSayWhatTheyAreAndAreRecorded(t *testing.T) {
	for _, c := range changes {
		t.Run(c.text, func(t *testing.T) {
			require.Equal(t, c.text, fmt.Sprint(c.change))
			require.Equal(t, c.text, fmt.Sprintf("%s %q", c.change.Verb(), c.change.ID()))
			require.Equal(t, c.value, c.change.Value())

			var read engine.Change
			require.NoError(t, json.Unmarshal([]byte(c.recorded), &read))
			text, err := json.Marshal(c.change)
			require.NoError(t, err)
			again, err := json.Marshal(read)
			require.NoError(t, err)
			require.JSONEq(t, string(text), string(again))
			require.Equal(t, c.change.Value(), read.Value())
		})
	}
}

// A change that names nothing, or hands nothing in, is refused: the error says which of
// the batch it is, and which function was given nothing.
func TestChangesOfNothingAreRefused(t *testing.T) {
	for problem, ch := range map[string]engine.Change{
		"it is the zero Change; make changes with the constructors, for example engine.Submit": {},

		"put node: engine.PutNode needs a node":                                                          engine.PutNode(nil),
		"remove node: engine.RemoveNode needs the name of a node":                                        engine.RemoveNode(""),
		"lose node: engine.LoseNode needs the name of a node":                                            engine.LoseNode(""),
		"drain: engine.Drain needs the name of a node":                                                   engine.Drain("", "why"),
		"submit: engine.Submit needs a workload":                                                         engine.Submit(nil),
		"adopt: engine.Adopt needs a workload, and a binding with the name of its node":                  engine.Adopt(nil, model.Binding{Node: "n"}),
		`adopt "w": engine.Adopt needs a workload, and a binding with the name of its node`:              engine.Adopt(&model.Workload{ID: "w"}, model.Binding{}),
		`adopt "w": workload "w": the binding is of workload "x"`:                                        engine.Adopt(&model.Workload{ID: "w"}, model.Binding{Workload: "x", Node: "n"}),
		"update: engine.Update needs a workload":                                                         engine.Update(nil),
		"confirm: engine.Confirm needs a binding with the ID of a workload and the name of its node":     engine.Confirm(model.Binding{Node: "n"}),
		`confirm "w": engine.Confirm needs a binding with the ID of a workload and the name of its node`: engine.Confirm(model.Binding{Workload: "w"}),
		"nominate: engine.Nominate needs the ID of a workload":                                           engine.Nominate("", "n"),
		"terminate: engine.Terminate needs the ID of a workload":                                         engine.Terminate(""),
		"displace: engine.Displace needs the ID of a workload":                                           engine.Displace(""),
		"finish: engine.Finish needs the ID of a workload":                                               engine.Finish(""),
		"requeue: engine.Requeue needs the ID of a workload":                                             engine.Requeue(""),
		"remove: engine.Remove needs the ID of a workload":                                               engine.Remove(""),
		"put group: engine.PutGroup needs a group":                                                       engine.PutGroup(nil),
		"remove group: engine.RemoveGroup needs the ID of a group":                                       engine.RemoveGroup(""),
		"put budget: engine.PutBudget needs a budget":                                                    engine.PutBudget(nil),
		"remove budget: engine.RemoveBudget needs the ID of a budget":                                    engine.RemoveBudget(""),
		"put namespace: engine.PutNamespace needs a namespace":                                           engine.PutNamespace(nil),
		"remove namespace: engine.RemoveNamespace needs the name of a namespace":                         engine.RemoveNamespace(""),
		"put object: engine.PutObject needs an object":                                                   engine.PutObject(nil),
		"put Volume: engine.PutObject needs an object":                                                   engine.PutObject((*model.Volume)(nil)),
		"remove Volume: engine.RemoveObject needs the kind and the ID of an object":                      engine.RemoveObject(model.ObjectRef{Kind: model.VolumeKind}),
	} {
		r := newRaw(t, &world{})
		err := r.Apply(epoch, node("n", 1), ch)
		var change *engine.ChangeError
		require.ErrorAs(t, err, &change)
		require.Equal(t, engine.ChangeError{Index: 1, Verb: ch.Verb(), ID: ch.ID(), Err: change.Err}, *change)
		if ch.Verb() == "" {
			problem = ": " + problem
		} else {
			problem = ", " + problem
		}
		require.EqualError(t, err, "change 1"+problem)
		require.Zero(t, r.View().Index(), "nothing is half applied")
	}
}

func TestRecordedChangesAreReadStrictly(t *testing.T) {
	for text, problem := range map[string]string{
		`{}`:                              "it is the zero Change",
		`null`:                            "a change is an object with one field",
		`"RemoveNode"`:                    "a change is an object with one field",
		`{"removeNode":"n"}`:              `there is no change "removeNode"`,
		`{"Explode":"n"}`:                 `there is no change "Explode"`,
		`{"Remove":"a","Finish":"a"}`:     "Remove: a change is one thing",
		`{"Remove":"a","Remove":"b"}`:     "Remove: a change is one thing",
		`{"RemoveNode":7}`:                "RemoveNode: json: cannot unmarshal number",
		`{"PutNode":{"Title":"n"}}`:       `PutNode: json: unknown field "Title"`,
		`{"PutObject":{"Kind":"Thing"}}`:  `PutObject: "Thing" is no kind of object`,
		`{"PutObject":[]}`:                "PutObject: json: cannot unmarshal array",
		`{"PutObject":{"Kind":"Volume"}}`: "PutObject: ",
		`{"PutObject":{"Kind":"Volume","Object":{"Size":1}}}`: `PutObject: json: unknown field "Size"`,
	} {
		var ch engine.Change
		require.ErrorContains(t, json.Unmarshal([]byte(text), &ch), problem, text)
		require.Equal(t, engine.Change{}, ch, text)
	}
	_, err := json.Marshal(engine.Change{})
	require.ErrorContains(t, err, "it is the zero Change")
}

// FuzzChange reads any text as a change. What it takes it writes so that it is read as
// the same, and an engine takes it or refuses it.
func FuzzChange(f *testing.F) {
	for _, c := range changes {
		f.Add(c.recorded)
	}
	f.Add(`{"Remove":"a","Finish":"a"}`)
	f.Add(`{"PutNode":null}`)
	f.Fuzz(func(t *testing.T, text string) {
		var ch, again engine.Change
		if json.Unmarshal([]byte(text), &ch) != nil {
			return
		}
		written, err := json.Marshal(ch)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(written, &again))
		require.Equal(t, ch.String(), again.String())
		rewritten, err := json.Marshal(again)
		require.NoError(t, err)
		require.Equal(t, string(written), string(rewritten))
		r := newRaw(t, &world{})
		_ = r.Apply(epoch, ch)
	})
}
