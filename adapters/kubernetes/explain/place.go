package explain

import (
	"fmt"
	"strings"
)

// place is where something stands in the body of a request, for messages.
type place struct {
	object string // as kubectl names it, such as "deployment/web"; see placeOf
	within string // the field of the object that it is; empty for the whole object
}

// placeOf is the place of an object. One without a name has its position among all
// objects, through documents and lists.
func placeOf(kind, name string, position int) place {
	if kind == "" || name == "" {
		return place{object: fmt.Sprintf("objects[%d]", position)}
	}
	return place{object: strings.ToLower(kind) + "/" + name}
}

// field is the path of a field.
func (p place) field(name string) string {
	if p.within != "" {
		name = p.within + "." + name
	}
	return p.object + ": " + name
}

func (p place) String() string {
	if p.within == "" {
		return p.object
	}
	return p.object + ": " + p.within
}
