package state_test

import (
	"bytes"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/state"
)

// raised is a state of a version.
func raised(t *testing.T, version int) *state.State {
	s := state.New(nil)
	require.Nil(t, applied(t, s, time.Unix(1, 0).UTC(), &state.Command{Raise: version}).Err)
	return s
}

// A state begins with the version of before there were any. It rises, and never falls.
func TestVersion(t *testing.T) {
	require.Equal(t, 1, state.New(nil).View().Version())
	s := raised(t, 2)
	require.Equal(t, 2, s.View().Version())
	require.Nil(t, applied(t, s, time.Unix(1, 0).UTC(), &state.Command{Raise: 1}).Err)
	for _, no := range []int{-1, state.Version + 1} {
		require.NotNil(t, applied(t, s, time.Unix(1, 0).UTC(), &state.Command{Raise: no}).Err)
	}
	require.Equal(t, 2, s.View().Version())
	require.Equal(t, 2, restored(t, s).View().Version())
}

// A picture has the version in its first line, and a program refuses what is newer. Programs from before there
// were versions read version 1, and refuse others in the same way.
func TestVersionOfPictures(t *testing.T) {
	require.True(t, strings.HasPrefix(picture(t, state.New(nil)), `{"berthState":1}`))
	text := picture(t, raised(t, 2))
	require.True(t, strings.HasPrefix(text, `{"berthState":2}`))
	s := raised(t, 1)
	newer := strings.Replace(text, `{"berthState":2}`, fmt.Sprintf(`{"berthState":%d}`, state.Version+1), 1)
	require.ErrorIs(t, s.Restore(strings.NewReader(newer)), state.ErrNewer)
	require.Equal(t, 1, s.View().Version())
}

// A backup is restored where all servers know its version. The state keeps its own.
func TestVersionOfBackups(t *testing.T) {
	for _, test := range []struct {
		backup, present int
		refused         string
	}{
		{backup: 1, present: 1}, {backup: 1, present: 2}, {backup: 2, present: 2},
		{2, 1, "the backup is of version 2, and not all servers of this fleet know that: it has version 1"},
	} {
		var out bytes.Buffer
		err := state.Continue(strings.NewReader(picture(t, raised(t, test.backup))), raised(t, test.present).View(), time.Unix(2, 0), &out)
		if test.refused != "" {
			require.EqualError(t, err, test.refused)
			continue
		}
		require.NoError(t, err)
		s := state.New(nil)
		require.NoError(t, s.Restore(&out))
		require.Equal(t, test.present, s.View().Version())
	}
}

// What a command needs is the newest of what it says. What the leader adds by itself is taken back.
func TestNeeds(t *testing.T) {
	for _, test := range []struct {
		command    state.Command
		needs      int
		field      string
		restricted int
	}{
		{state.Command{}, 1, "", 1},
		{state.Command{Report: &state.Report{Node: "n"}}, 1, "", 1},
		{state.Command{Report: &state.Report{Node: "n", SecondOpinion: true}}, 2, "secondOpinion", 1},
		{state.Command{Purge: &state.Purge{ByQueues: true}}, 2, "byQueues", 1},
		{state.Command{PutQueue: &api.Queue{Name: "q", Weight: 3}}, 1, "", 1},
		{state.Command{PutQueue: &api.Queue{Name: "q", MinRuntime: 1}}, 2, "minRuntime", 2},
		{state.Command{PutQueue: &api.Queue{Name: "q", Protected: 1}}, 2, "protected", 2},
	} {
		version, field := test.command.Needs()
		require.Equal(t, test.needs, version)
		require.Equal(t, test.field, field)
		test.command.Restrict(2)
		version, _ = test.command.Needs()
		require.Equal(t, test.needs, version)
		test.command.Restrict(1)
		version, _ = test.command.Needs()
		require.Equal(t, test.restricted, version)
	}
}

// Every field of commands and rows is in testdata/fields.txt with the version that it came with. A new
// field of a command needs the tag since, with a version that no released program knows: see
// state.Version, which it may have to raise. A new field of a row must stay as it is until
// the state has that version.
func TestFields(t *testing.T) {
	known, err := os.ReadFile("testdata/fields.txt")
	require.NoError(t, err)
	all := map[reflect.Type][]string{}
	for _, of := range append([]any{state.Command{}}, state.Rows...) {
		collect(reflect.TypeOf(of), all)
	}
	var lines []string
	for _, of := range all {
		lines = append(lines, of...)
	}
	slices.Sort(lines)
	require.Equal(t, string(known), strings.Join(lines, "\n")+"\n")
}

// collect notes the fields of a type, and of those in it.
func collect(of reflect.Type, all map[reflect.Type][]string) {
	switch of.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		collect(of.Elem(), all)
	case reflect.Struct:
		if all[of] != nil || !strings.Contains(of.PkgPath(), "berth") {
			return
		}
		all[of] = []string{}
		for f := range of.Fields() {
			if !f.IsExported() {
				continue
			}
			line := of.String() + " " + f.Name
			if since := f.Tag.Get("since"); since != "" {
				line += " since " + since
			}
			all[of] = append(all[of], line)
			collect(f.Type, all)
		}
	}
}
