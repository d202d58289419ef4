package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/berth-project/berth/model"
)

// Change is an op and what it is about. The zero value has no op: to write it is
// an error.
type Change struct {
	op    *op
	value any
}

// Op is a line of the table in ops.go whose changes have a T.
type Op[T any] struct{ op *op }

// Of returns the change that does the op to the value.
func (o Op[T]) Of(value T) Change { return Change{o.op, value} }

// op is all that tells one kind of change from the others. The functions are
// called with values of its own type.
type op struct {
	name  string // of the constructor, and in a recording
	needs string // what it can do nothing without
	id    func(value any) (id string, given bool)
	write func(in *Intake, value any) error
	read  func(dec *json.Decoder) (value any, err error)
}

// ops are all lines of the table, by name.
var ops = map[string]*op{}

func newOp[T any](name, needs string, id func(T) (string, bool), write func(*Intake, T) error) Op[T] {
	o := &op{
		name: name, needs: needs,
		id:    func(value any) (string, bool) { return id(value.(T)) },
		write: func(in *Intake, value any) error { return write(in, value.(T)) },
		read: func(dec *json.Decoder) (any, error) {
			var value T
			err := dec.Decode(&value)
			return value, err
		},
	}
	ops[name] = o
	return Op[T]{o}
}

// ErrZero is what is wrong with the zero value.
var ErrZero = errors.New("it is the zero Change; make changes with the constructors, for example engine.Submit")

// Write makes the change in the transaction. What is wrong with it, it lists; then
// nothing has been written.
func (c Change) Write(in *Intake) error {
	if c.op == nil {
		return ErrZero
	}
	id, given := c.op.id(c.value)
	if !given {
		return fmt.Errorf("engine.%s needs %s", c.op.name, c.op.needs)
	}
	if err := in.Batch.check(c.op.name, c.handsOver(), id); err != nil {
		return err
	}
	return c.op.write(in, c.value)
}

// Verb is what the change does, in words: "put node" for PutNode, and for an object
// of a kind "put VolumeClaim"; empty for the zero value.
func (c Change) Verb() string {
	if c.op == nil {
		return ""
	}
	var verb strings.Builder
	for i, r := range c.op.name {
		if i > 0 && r >= 'A' && r <= 'Z' {
			verb.WriteByte(' ')
		}
		verb.WriteString(strings.ToLower(string(r)))
	}
	if o, ok := c.value.(interface{ kind() model.ObjectKind }); ok && o.kind() != "" {
		return strings.TrimSuffix(verb.String(), "object") + string(o.kind())
	}
	return verb.String()
}

// ID is the ID or name of what the change is about, empty where it says none.
func (c Change) ID() string {
	if c.op == nil {
		return ""
	}
	id, _ := c.op.id(c.value)
	return id
}

// Value is what the change submits: a *model.Node, *model.Workload,
// *model.Group, *model.Budget, *model.Namespace, model.Object or, to confirm, a
// model.Binding; nil where it only names something.
func (c Change) Value() any {
	switch v := c.value.(type) {
	case adoption:
		return v.Workload
	case object:
		return v.Object
	case string, objectRef, nomination, Drain, Usage:
		return nil
	}
	return c.value
}

// handsOver is the object that the change hands over, nil where it does none.
func (c Change) handsOver() any {
	if _, copied := c.value.(model.Binding); copied {
		return nil
	}
	return c.Value()
}

// NoteIn notes that the change was made.
func (c Change) NoteIn(h Handed) {
	if object := c.handsOver(); object != nil {
		h[c.op.name] = handed{object, c.ID()}
	}
}

// MarshalJSON implements [json.Marshaler]: an object with one field, of the name of
// the constructor.
func (c Change) MarshalJSON() ([]byte, error) {
	if c.op == nil {
		return nil, ErrZero
	}
	return json.Marshal(map[string]any{c.op.name: c.value})
}

// UnmarshalJSON implements [json.Unmarshaler]. It takes what MarshalJSON writes and
// nothing else: no second field, none that is not known.
func (c *Change) UnmarshalJSON(text []byte) error {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return errors.New("a change is an object with one field, the name of what it does")
	}
	t, err := dec.Token()
	if err != nil {
		return err
	}
	name, ok := t.(string)
	if !ok {
		return ErrZero
	}
	o := ops[name]
	if o == nil {
		return fmt.Errorf("there is no change %q", name)
	}
	value, err := o.read(dec)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if dec.More() {
		return fmt.Errorf("%s: a change is one thing, and here is a second field", name)
	}
	*c = Change{o, value}
	return nil
}
