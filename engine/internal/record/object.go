package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/berth-project/berth/model"
)

// object is one that was reported, with its kind beside it in recordings.
type object struct{ model.Object }

// writtenObject is how it is recorded.
type writtenObject struct {
	Kind   model.ObjectKind
	Object json.RawMessage
}

// MarshalJSON implements [json.Marshaler].
func (o object) MarshalJSON() ([]byte, error) {
	text, err := json.Marshal(o.Object)
	if err != nil {
		return nil, err
	}
	return json.Marshal(writtenObject{o.kind(), text})
}

// UnmarshalJSON implements [json.Unmarshaler].
func (o *object) UnmarshalJSON(text []byte) error {
	var w writtenObject
	if err := strictly(text, &w); err != nil {
		return err
	}
	if o.Object = model.NewObject(w.Kind); o.Object == nil {
		return fmt.Errorf("%q is no kind of object", w.Kind)
	}
	return strictly(w.Object, o.Object)
}

// strictly reads JSON in which every field must be known.
func strictly(text []byte, into any) error {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	return dec.Decode(into)
}

// id is the object's, if it is of the model's making: any other may not even be fit to
// be asked.
func (o object) id() (string, bool) {
	ref := model.RefOf(o.Object)
	if ref.Kind == "" {
		return "", o.Object != nil
	}
	return ref.ID, ref.ID != "" || model.CloneObject(o.Object) != nil
}

// kind is empty for what is no object of the model's.
func (o object) kind() model.ObjectKind { return model.RefOf(o.Object).Kind }

// objectRef is a [model.ObjectRef].
type objectRef model.ObjectRef

func (r objectRef) id() (string, bool) { return r.ID, r.Kind != "" && r.ID != "" }

func (r objectRef) kind() model.ObjectKind { return r.Kind }

// errStrange is what is wrong with an object of somebody else's making: it could
// be neither used nor recorded.
var errStrange = errors.New("it is no object that the engine knows")

func (in *Intake) putObject(o object) error {
	if o.kind() == "" {
		return errStrange
	}
	if err := errors.Join(o.Validate(), checkOrder(in.Txn, o.Object)); err != nil {
		return err
	}
	put := in.anotherObject(o)
	switch c := put.(type) {
	case *model.DeviceClaim:
		put = in.withDrawn(c)
	case *model.DeviceSlice:
		in.published = nil
	}
	return in.PutObject(put)
}

// anotherObject returns the object, or a copy where it is the very object that is
// recorded, as another does; an orchestrator may also report the very object that it
// was handed as decided.
func (in *Intake) anotherObject(o object) model.Object {
	row := in.Object(model.RefOf(o.Object))
	if row == nil || row.Reported != o.Object && row.Written != o.Object && row.Decided != o.Object {
		return o.Object
	}
	return model.CloneObject(o.Object)
}

func (in *Intake) removeObject(r objectRef) error {
	if r.Kind == model.DeviceSliceKind {
		in.published = nil
	}
	return in.DeleteObject(model.ObjectRef(r))
}
