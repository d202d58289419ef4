package configlevel

import (
	"errors"

	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/component-base/featuregate"
	"k8s.io/klog/v2"

	"github.com/berth-project/berth/adapters/kubernetes/config/configtest"
)

// setGates changes the gates of the process to those that the file asks for. The
// function that it returns changes them back.
func setGates(file []byte) (restore func() error, err error) {
	klog.LogToStderr(false)
	changes, err := configtest.Gates(file)
	if err != nil {
		return nil, err
	}
	before := map[string]bool{}
	for name := range changes {
		before[name] = utilfeature.DefaultFeatureGate.Enabled(featuregate.Feature(name))
	}
	set := utilfeature.DefaultMutableFeatureGate.SetFromMap
	if err := set(changes); err != nil {
		return nil, errors.Join(err, set(before))
	}
	return func() error { return set(before) }, nil
}
