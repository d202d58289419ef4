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

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
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
	maxPods    = 1000     // those that are made of templates among them
	maxMade    = 32 << 20 // bytes of these: a short text has many pods
	maxClaims  = 100      // templates of a stateful set
	claimSize  = 2 << 10  // bytes that a claim takes beside its text
)

// scheme has the kinds of objects that a simulation may be about, and of lists of them.
var scheme = newScheme()

// decoder reads the objects of simulations, strictly: fields that are not known, or
// there twice, are errors. It fills in no defaults.
var decoder = serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDeserializer()

func newScheme() *runtime.Scheme {
	s := runtime.NewScheme()
	for _, kind := range []struct {
		version schema.GroupVersion
		objects []runtime.Object
	}{
		{v1.SchemeGroupVersion, []runtime.Object{&v1.Pod{}, &v1.PodList{}, &v1.ReplicationController{}, &v1.ReplicationControllerList{}, &v1.List{}}},
		{appsv1.SchemeGroupVersion, []runtime.Object{
			&appsv1.Deployment{}, &appsv1.DeploymentList{}, &appsv1.ReplicaSet{}, &appsv1.ReplicaSetList{},
			&appsv1.StatefulSet{}, &appsv1.StatefulSetList{}, &appsv1.DaemonSet{}, &appsv1.DaemonSetList{},
		}},
		{batchv1.SchemeGroupVersion, []runtime.Object{&batchv1.Job{}, &batchv1.JobList{}, &batchv1.CronJob{}, &batchv1.CronJobList{}}},
		{schedulingv1beta1.SchemeGroupVersion, []runtime.Object{&schedulingv1beta1.PodGroup{}, &schedulingv1beta1.PodGroupList{}}},
		{schedulingv1alpha3.SchemeGroupVersion, []runtime.Object{&schedulingv1alpha3.CompositePodGroup{}, &schedulingv1alpha3.CompositePodGroupList{}}},
		{schedulingv1.SchemeGroupVersion, []runtime.Object{&schedulingv1.PriorityClass{}, &schedulingv1.PriorityClassList{}}},
	} {
		s.AddKnownTypes(kind.version, kind.objects...)
	}
	return s
}

// kindsKnown is what a simulation may be about, for messages.
const kindsKnown = "Pod and ReplicationController of v1, Deployment, ReplicaSet and StatefulSet of apps/v1, Job and CronJob of batch/v1, " +
	"PodGroup of scheduling.k8s.io/v1beta1, CompositePodGroup of scheduling.k8s.io/v1alpha3, PriorityClass of scheduling.k8s.io/v1, and lists of them"

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

// object is one of the objects of a request.
type object struct {
	position int // among all
	at       place
	kind     string
	object   runtime.Object
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
		if len(d.found)+items(document) > maxObjects {
			return nil, tooManyObjects()
		}
		d.decode(asYAML(document), false)
	}
	if len(d.found) > maxObjects {
		return nil, tooManyObjects()
	}
	return d.finish()
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
	found    []identity // all objects, those that cannot be read among them
	refusals []refusal
}

// refusal is why an object cannot be read.
type refusal struct {
	position int // of the object
	message  string
}

// next is the position of the next object.
func (d *decoding) next(kind, namespace, name string) int {
	d.found = append(d.found, identify(kind, namespace, name))
	return len(d.found) - 1
}

// finish says of everything where it stands, which is known when all objects are.
func (d *decoding) finish() ([]object, error) {
	var wrong problems
	at := places(d.found)
	for _, r := range d.refusals {
		wrong.add(at[r.position].String(), "%s", r.message)
	}
	for i := range d.objects {
		d.objects[i].at = at[d.objects[i].position]
	}
	return d.objects, wrong.err()
}

// decode reads one object, or those of a list. A list may not have lists in it.
func (d *decoding) decode(text []byte, inList bool) {
	if len(d.found) > maxObjects {
		return
	}
	found, _, err := decoder.Decode(text, nil, nil)
	if err != nil {
		d.refuse(err, text)
		return
	}
	list, mixed := found.(*v1.List)
	switch {
	case mixed && inList:
		d.refusals = append(d.refusals, refusal{d.next("", "", ""), "is a list in a list"})
	case mixed:
		for i := range list.Items {
			d.decode(list.Items[i].Raw, true)
		}
	case meta.IsListType(found):
		_ = meta.EachListItem(found, d.add)
	default:
		_ = d.add(found)
	}
}

// add takes an object. Those in a list of one kind need not say which it is.
func (d *decoding) add(o runtime.Object) error {
	if len(d.found) > maxObjects {
		return nil
	}
	kinds, _, err := scheme.ObjectKinds(o)
	if err != nil {
		return err
	}
	m, err := meta.Accessor(o)
	if err != nil {
		return err
	}
	kind := kinds[0].Kind
	d.objects = append(d.objects, object{position: d.next(kind, m.GetNamespace(), m.GetName()), kind: kind, object: o})
	return nil
}

// refuse says what is wrong with an object that cannot be read.
func (d *decoding) refuse(err error, text []byte) {
	var is metav1.PartialObjectMetadata
	_ = yaml.Unmarshal(text, &is) // as far as it can be read
	position := d.next(is.Kind, is.Namespace, is.Name)
	for _, message := range unread(err, &is) {
		d.refusals = append(d.refusals, refusal{position, message})
	}
}

// unread is what the error of a decoder says.
func unread(err error, is *metav1.PartialObjectMetadata) []string {
	if runtime.IsNotRegisteredError(err) {
		return []string{fmt.Sprintf("is a %s of %s: known are %s", is.Kind, is.APIVersion, kindsKnown)}
	}
	strict, ok := runtime.AsStrictDecodingError(err)
	if !ok {
		return []string{err.Error()}
	}
	var list []string
	for _, e := range strict.Errors() {
		list = append(list, e.Error())
	}
	return list
}
