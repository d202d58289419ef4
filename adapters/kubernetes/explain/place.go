package explain

import (
	"fmt"
	"strings"
)

// place is where something stands in the body of a request, for messages.
type place struct {
	object string // such as "deployment/web in namespace shop"; see places
	within string // the field of the object that it is; empty for the whole object
}

// identity is what tells an object from others in a body.
type identity struct{ kind, namespace, name string }

// maxName is how long the name of an object can be (NameIsDNSSubdomain in apimachinery
// pkg/api/validation, v0.37.1).
const maxName = 253

// places are those of whole objects. An object is named as kubectl names it, with its namespace
// where the body says which. Where another has the same name it has its position among all objects
// besides, through documents and lists; one without a name, or with one that is too long to be
// said, has that alone.
func places(objects []identity) []place {
	times := map[identity]int{}
	for _, is := range objects {
		times[is]++
	}
	list := make([]place, len(objects))
	for i, is := range objects {
		position := fmt.Sprintf("objects[%d]", i)
		if is.kind == "" || is.name == "" || len(is.kind)+len(is.namespace)+len(is.name) > maxName {
			list[i].object = position
			continue
		}
		text := is.kind + "/" + is.name
		if is.namespace != "" {
			text += " in namespace " + is.namespace
		}
		if times[is] > 1 {
			text += " (" + position + ")"
		}
		list[i].object = text
	}
	return list
}

func identify(kind, namespace, name string) identity {
	return identity{strings.ToLower(kind), namespace, name}
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
