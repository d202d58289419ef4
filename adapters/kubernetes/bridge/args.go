package bridge

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/scheme"
)

// decode is what a factory is given for arguments.
//
// Rules: k8s.io/kube-scheduler config/v1/types.go DecodeNestedObjects and
// pkg/scheduler/apis/config/scheme, 1.37.1: the arguments are decoded as <name>Args of the
// group of kube-scheduler's configuration, strictly and with their defaults; those of
// which the scheme knows nothing are passed on as they are.
func decode(name string, args any) (runtime.Object, error) {
	switch args := args.(type) {
	case nil:
		return defaults(name)
	case *runtime.Unknown:
		gvk := config.SchemeGroupVersion.WithKind(name + "Args")
		gvk.Version = "v1"
		object, _, err := scheme.Codecs.UniversalDecoder().Decode(args.Raw, &gvk, nil)
		if runtime.IsNotRegisteredError(err) {
			return args, nil
		}
		if err != nil {
			return nil, fmt.Errorf("decoding args for plugin %q: %w", name, err)
		}
		return object, nil
	case runtime.Object:
		return args, nil
	}
	return nil, fmt.Errorf("arguments of type %T for plugin %q, want a runtime.Object", args, name)
}

// defaults are the arguments of a plugin whose profile has none.
//
// Rules: pkg/scheduler/framework/runtime/framework.go getDefaultPluginArgs... 1.37.1.
func defaults(name string) (runtime.Object, error) {
	gvk := config.SchemeGroupVersion.WithKind(name + "Args")
	gvk.Version = "v1"
	object, _, err := scheme.Codecs.UniversalDecoder().Decode([]byte("{}"), &gvk, nil)
	if runtime.IsNotRegisteredError(err) {
		return nil, nil //nolint:nilnil // it takes none
	}
	return object, err
}
