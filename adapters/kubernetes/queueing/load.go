package queueing

import (
	"errors"
	"fmt"
	"slices"

	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"github.com/berth-project/berth/adapters/kubernetes/internal/strict"
)

// ErrOtherKind says that a document is not a [Configuration].
var ErrOtherKind = errors.New("not a " + Kind + " of " + APIVersion)

// Load decodes the document, JSON or YAML. Unknown and duplicate fields are errors, and so
// are values that are not of their field's type: the error is an [utilerrors.Aggregate] of all
// of them, and of what [Configuration.Validate] finds in the rest. Where there is none, whether
// the values make sense is for Validate to say. A document of another kind or version is
// [ErrOtherKind].
func Load(text []byte) (*Configuration, error) {
	if err := checkKind(text); err != nil {
		return nil, err
	}
	c := &Configuration{}
	problems, err := strict.YAML(text, c)
	if err != nil {
		return nil, fmt.Errorf("decode %s: %w", Kind, err)
	}
	if len(problems) == 0 {
		return c, nil
	}
	return nil, utilerrors.NewAggregate(append(asErrors(problems), c.rest(problems)...))
}

// Is reports whether the document says that it is a [Configuration].
func Is(text []byte) bool { return checkKind(text) == nil }

func checkKind(text []byte) error {
	var kind struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
	}
	if err := yaml.Unmarshal(text, &kind); err != nil {
		return fmt.Errorf("decode %s: %w", Kind, err)
	}
	if kind.APIVersion != APIVersion || kind.Kind != Kind {
		return fmt.Errorf("%s of %s: %w", kind.Kind, kind.APIVersion, ErrOtherKind)
	}
	return nil
}

func asErrors(problems []*strict.Problem) (list []error) {
	for _, p := range problems {
		list = append(list, p)
	}
	return list
}

// rest is what validation finds apart from what may follow from the problems.
func (c *Configuration) rest(problems []*strict.Problem) []error {
	t, _ := c.translate()
	return slices.DeleteFunc(t.problems, func(err error) bool {
		var at *field.Error
		return errors.As(err, &at) && slices.ContainsFunc(problems, func(p *strict.Problem) bool { return p.Touches(at.Field) })
	})
}
