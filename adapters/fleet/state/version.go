package state

import (
	"cmp"
	"reflect"
	"strconv"
	"strings"

	"github.com/berth-project/berth/adapters/fleet/api"
)

// Version is the newest version of the state that this program knows, and with it of commands and
// pictures. A state has a version of its own, which rises by a command (Raise) once all
// servers of the fleet know the next one, and never falls. Until then no command has what came later:
// an older server would leave it out, and its state would differ from the others'.
//
// A field that came with a version has the tag since. What a program does with commands
// that older ones know, it does as they did while the state has their version.
//
//	2  claims that have to be confirmed, limits on what is stored by queue, queues that reclaim
const Version = 2

// Version is that of the state.
func (v View) Version() int { return max(1, v.meta().Version) }

// raise raises the version of the state.
func (t *tx) raise(to int) Result {
	if to < 1 || to > Version {
		return refuse(api.CodeInvalid, "there is no version %d of the state", to)
	}
	t.m.Version = max(t.m.Version, to)
	return Result{}
}

// Restrict takes from the command what this program adds to commands by itself, and a
// version of the state does not have: it has its older meaning then.
func (c *Command) Restrict(version int) {
	if version >= 2 {
		return
	}
	if c.Report != nil {
		c.Report.SecondOpinion = false
	}
	if c.Purge != nil {
		c.Purge.ByQueues = false
	}
}

// Needs is the version that the state must have for the command, and the field it is for.
func (c *Command) Needs() (version int, field string) {
	n := needs(reflect.ValueOf(c).Elem())
	return max(1, n.version), n.field
}

// need is a version, and the name of the field that it came with.
type need struct {
	version int
	field   string
}

// needs is the largest version that something came with that is set in a value.
func needs(v reflect.Value) (most need) {
	note := func(n need) {
		if n.version > most.version {
			most = n
		}
	}
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			return needs(v.Elem())
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			note(needs(v.Index(i)))
		}
	case reflect.Map:
		for _, x := range v.Seq2() {
			note(needs(x))
		}
	case reflect.Struct:
		for f, x := range v.Fields() {
			if f.IsExported() && !x.IsZero() {
				note(since(f))
				note(needs(x))
			}
		}
	}
	return most
}

// since is what a field's tag says.
func since(f reflect.StructField) need {
	n, _ := strconv.Atoi(f.Tag.Get("since"))
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return need{version: n, field: cmp.Or(name, f.Name)}
}
