package convert

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/berth-project/berth/model"
)

// problems collects what cannot be translated of one object. Fields have the
// names that they have in Kubernetes' API.
type problems struct{ list []model.Problem }

func (p *problems) report(at *field.Path, format string, args ...any) {
	p.list = append(p.list, model.Problem{Field: at.String(), Message: fmt.Sprintf(format, args...)})
}

// reportAll notes the errors that a parser of apimachinery returned. It leaves
// out those that ignored, where not nil, says true of.
func (p *problems) reportAll(at *field.Path, err error, ignored func(field string) bool) {
	list := []error{err}
	if aggregate := utilerrors.Aggregate(nil); errors.As(err, &aggregate) {
		list = aggregate.Errors()
	}
	for _, err := range list {
		var e *field.Error
		switch {
		case !errors.As(err, &e):
			p.report(at, "%s", err)
		case ignored == nil || !ignored(e.Field):
			p.list = append(p.list, model.Problem{Field: e.Field, Message: e.ErrorBody()})
		}
	}
}

// err is all problems as one error, nil where there are none.
func (p *problems) err(kind, name string) error {
	if len(p.list) == 0 {
		return nil
	}
	return &model.ValidationError{Object: fmt.Sprintf("%s %q", kind, name), Problems: p.list}
}

// text reports what is no text, and returns what is left of it. Neither JSON
// nor protobuf can carry such a string, but a program can make one.
func (p *problems) text(at *field.Path, s string) string {
	if utf8.ValidString(s) {
		return s
	}
	p.report(at, "%q is not valid UTF-8", s)
	return strings.ToValidUTF8(s, "\uFFFD")
}

// texts is text for each of a list.
func (p *problems) texts(at *field.Path, list []string) []string {
	if !slices.ContainsFunc(list, func(s string) bool { return !utf8.ValidString(s) }) {
		return list
	}
	kept := make([]string, len(list))
	for i, s := range list {
		kept[i] = p.text(at.Index(i), s)
	}
	return kept
}

// names is text for each of a list, without the empty ones: no label, image or feature is
// called that.
func (p *problems) names(at *field.Path, list []string) []string {
	if !slices.ContainsFunc(list, func(s string) bool { return s == "" || !utf8.ValidString(s) }) {
		return list
	}
	var kept []string
	for i, s := range list {
		if s != "" {
			kept = append(kept, p.text(at.Index(i), s))
		}
	}
	return kept
}

// labels is the labels, without those that have no key or are no text, which
// are reported.
func (p *problems) labels(at *field.Path, labels map[string]string) map[string]string {
	bad := func(k, v string) bool { return k == "" || !utf8.ValidString(k) || !utf8.ValidString(v) }
	found := false
	for k, v := range labels {
		found = found || bad(k, v)
	}
	if !found {
		return labels
	}
	kept := make(map[string]string, len(labels))
	for _, k := range sortedKeys(labels) {
		switch v := labels[k]; {
		case k == "":
			p.report(at, "has an empty key")
		case bad(k, v):
			p.report(at, "%q=%q is not valid UTF-8", k, v)
		default:
			kept[k] = v
		}
	}
	return kept
}
