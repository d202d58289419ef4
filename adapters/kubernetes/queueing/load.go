package queueing

import (
	"errors"
	"fmt"

	"sigs.k8s.io/yaml"
)

// ErrOtherKind says that a document is not a [Configuration].
var ErrOtherKind = errors.New("not a " + Kind + " of " + APIVersion)

// Load decodes the document, JSON or YAML. Unknown and duplicate fields are errors, and so
// is a document of another kind or version, which is [ErrOtherKind]. Whether the values make
// sense is for [Configuration.Validate].
func Load(text []byte) (*Configuration, error) {
	var kind struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
	}
	if err := yaml.Unmarshal(text, &kind); err != nil {
		return nil, err
	}
	if kind.APIVersion != APIVersion || kind.Kind != Kind {
		return nil, fmt.Errorf("%s of %s: %w", kind.Kind, kind.APIVersion, ErrOtherKind)
	}
	c := &Configuration{}
	if err := yaml.UnmarshalStrict(text, c); err != nil {
		return nil, fmt.Errorf("decode %s: %w", Kind, err)
	}
	return c, nil
}
