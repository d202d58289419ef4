package kubetest

import (
	"context"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clientset "k8s.io/client-go/kubernetes"
	corev1 "k8s.io/client-go/kubernetes/typed/core/v1"
)

// Around is a client whose calls about pods can be held up and spoiled: Call is given
// the verb (bind, patch or delete), the pod's name and the call, and returns what the caller
// is told. (The reactors of the fake client can fail a call, but while one waits no
// other call gets through.)
type Around struct {
	clientset.Interface
	Call func(verb, pod string, call func() error) error
}

// CoreV1 implements [clientset.Interface].
func (a *Around) CoreV1() corev1.CoreV1Interface { return core{a.Interface.CoreV1(), a} }

type core struct {
	corev1.CoreV1Interface
	around *Around
}

func (c core) Pods(namespace string) corev1.PodInterface {
	return pods{c.CoreV1Interface.Pods(namespace), c.around}
}

type pods struct {
	corev1.PodInterface
	around *Around
}

func (p pods) Bind(ctx context.Context, b *v1.Binding, o metav1.CreateOptions) error {
	return p.around.Call("bind", b.Name, func() error { return p.PodInterface.Bind(ctx, b, o) })
}

func (p pods) Patch(ctx context.Context, name string, kind types.PatchType, data []byte, o metav1.PatchOptions, sub ...string) (patched *v1.Pod, err error) {
	err = p.around.Call("patch", name, func() error {
		patched, err = p.PodInterface.Patch(ctx, name, kind, data, o, sub...)
		return err
	})
	return patched, err
}

func (p pods) Delete(ctx context.Context, name string, o metav1.DeleteOptions) error {
	err := p.around.Call("delete", name, func() error { return p.PodInterface.Delete(ctx, name, o) })
	if ctx.Err() != nil {
		return ctx.Err() // as of a connection: the answer does not come any more
	}
	return err
}

// IsWatchListSemanticsUnSupported tells informers to list and watch: the API server in
// memory cannot do both at once.
func (a *Around) IsWatchListSemanticsUnSupported() bool { return true }
