package explain

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"

	v1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// How much a simulation may be asked for.
const (
	maxBody    = 3 << 20 // bytes, as much as the API server takes (apiserver pkg/server/config.go, v0.37.1)
	maxYAML    = 1 << 20 // bytes: few of them may make an object
	maxObjects = 1000
)

// decoder reads the objects of simulations, strictly: fields that are not known, or
// there twice, are errors. It fills in no defaults.
var decoder = newDecoder()

func newDecoder() runtime.Decoder {
	scheme := runtime.NewScheme()
	for _, kind := range []struct {
		version schema.GroupVersion
		objects []runtime.Object
	}{
		{v1.SchemeGroupVersion, []runtime.Object{&v1.Pod{}, &v1.PodList{}, &v1.List{}}},
		{schedulingv1beta1.SchemeGroupVersion, []runtime.Object{&schedulingv1beta1.PodGroup{}, &schedulingv1beta1.PodGroupList{}}},
		{schedulingv1alpha3.SchemeGroupVersion, []runtime.Object{&schedulingv1alpha3.CompositePodGroup{}, &schedulingv1alpha3.CompositePodGroupList{}}},
		{schedulingv1.SchemeGroupVersion, []runtime.Object{&schedulingv1.PriorityClass{}, &schedulingv1.PriorityClassList{}}},
	} {
		scheme.AddKnownTypes(kind.version, kind.objects...)
	}
	return serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDeserializer()
}

// kindsKnown is what a simulation may be about, for messages.
const kindsKnown = "Pod, PodGroup, CompositePodGroup, PriorityClass and lists of them"

// readBody reads the body of a request, JSON or YAML.
func readBody(r *http.Request) ([]byte, error) {
	mediaType, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || mediaType != "application/json" && mediaType != "application/yaml" {
		return nil, statusError(http.StatusUnsupportedMediaType, metav1.StatusReasonUnsupportedMediaType,
			"the Content-Type is %q: it must be application/json or application/yaml", r.Header.Get("Content-Type"))
	}
	limit := int64(maxBody)
	if mediaType == "application/yaml" {
		limit = maxYAML
	}
	body, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, limit))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return nil, apierrors.NewRequestEntityTooLargeError(fmt.Sprintf("limit is %d bytes", tooLarge.Limit))
	case err != nil:
		return nil, apierrors.NewBadRequest(fmt.Sprintf("the body cannot be read: %s", err))
	}
	return body, nil
}

// object is one of the objects of a request, and the path under which messages speak
// of it: its place among all of them, through documents and lists.
type object struct {
	path   string
	object runtime.Object
}

// decode reads the objects in the documents of the text, and those in lists. The
// error lists everything that cannot be read.
func decode(text []byte) ([]object, error) {
	d := &decoding{}
	documents := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(text)))
	for {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, apierrors.NewBadRequest(fmt.Sprintf("the body cannot be taken apart into documents: %s", err))
		}
		if isEmpty(document) {
			continue
		}
		if d.count+items(document) > maxObjects {
			return nil, tooManyObjects()
		}
		d.decode(asYAML(document), false)
	}
	if d.count > maxObjects {
		return nil, tooManyObjects()
	}
	if err := d.problems.err(); err != nil {
		return nil, err
	}
	return d.objects, nil
}

func tooManyObjects() error {
	return apierrors.NewRequestEntityTooLargeError(fmt.Sprintf("there are more than %d objects", maxObjects))
}

// items is how many items the list has that the document may be. They are counted before the list is decoded: a list of a million empty pods is
// short, and takes gigabytes as objects.
func items(document []byte) int {
	if !json.Valid(document) {
		converted, err := yaml.YAMLToJSON(document)
		if err != nil {
			return 0 // what is wrong with it is said when it is decoded
		}
		document = converted
	}
	var list struct{ Items []json.RawMessage }
	_ = json.Unmarshal(document, &list)
	return len(list.Items)
}

// isEmpty reports whether a document has nothing but comments.
func isEmpty(document []byte) bool {
	for line := range bytes.Lines(document) {
		if line = bytes.TrimSpace(line); len(line) > 0 && line[0] != '#' && string(line) != "---" {
			return false
		}
	}
	return true
}

// asYAML has the decoder read a document as YAML that it would take for JSON, because
// of the brace at its beginning, and that is not.
func asYAML(document []byte) []byte {
	if json.Valid(document) {
		return document
	}
	return append([]byte("#\n"), document...)
}

// decoding is what decode has found so far.
type decoding struct {
	objects  []object
	problems problems
	count    int
}

// next is the path of the next object.
func (d *decoding) next() string {
	d.count++
	return fmt.Sprintf("objects[%d]", d.count-1)
}

// decode reads one object. A list may not have lists in it.
func (d *decoding) decode(text []byte, inList bool) {
	if d.count > maxObjects {
		return
	}
	found, _, err := decoder.Decode(text, nil, nil)
	if err != nil {
		d.problems.add(d.next(), "%s", decodingProblem(err, text))
		return
	}
	switch list := found.(type) {
	case *v1.List:
		if inList {
			d.problems.add(d.next(), "is a list in a list")
			return
		}
		for i := range list.Items {
			d.decode(list.Items[i].Raw, true)
		}
	case *v1.PodList:
		addItems(d, list.Items)
	case *schedulingv1beta1.PodGroupList:
		addItems(d, list.Items)
	case *schedulingv1alpha3.CompositePodGroupList:
		addItems(d, list.Items)
	case *schedulingv1.PriorityClassList:
		addItems(d, list.Items)
	default:
		d.objects = append(d.objects, object{d.next(), found})
	}
}

// addItems adds what is in a list of one kind.
func addItems[T any, P interface {
	*T
	runtime.Object
}](d *decoding, items []T) {
	for i := range items {
		if d.count > maxObjects {
			return
		}
		d.objects = append(d.objects, object{d.next(), P(&items[i])})
	}
}

// decodingProblem says what is wrong with an object that cannot be read.
func decodingProblem(err error, text []byte) string {
	var is metav1.TypeMeta
	if runtime.IsNotRegisteredError(err) && yaml.Unmarshal(text, &is) == nil {
		return fmt.Sprintf("is a %s of %s: known are %s", is.Kind, is.APIVersion, kindsKnown)
	}
	strict, ok := runtime.AsStrictDecodingError(err)
	if !ok {
		return err.Error()
	}
	lines := make([]string, len(strict.Errors()))
	for i, e := range strict.Errors() {
		lines[i] = e.Error()
	}
	return strings.Join(lines, "; ")
}
