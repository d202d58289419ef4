package scenario

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	st "k8s.io/kubernetes/pkg/scheduler/testing"

	"github.com/berth-project/berth/adapters/kubernetes/e2e/cluster"
)

// The size of a cluster in [churn]. Plain nodes have room for plainRoom pods each. Disk
// and device nodes are for pods that use disks and devices, of which there are more
// than pods.
const (
	plainNodes  = 10
	plainRoom   = 20
	fewestPods  = plainNodes*plainRoom - 40
	mostPods    = plainNodes*plainRoom + 10 // more than fit
	mostAway    = 3
	diskNodes   = 2
	disks       = 4 // of each node
	diskPods    = 5
	deviceNodes = 2
	devicesEach = 3
	devicePods  = 4
)

// churnEvery is the time between two changes: as many as a small machine can take while
// it schedules.
const churnEvery = 10 * time.Millisecond

// churn is a cluster in which pods come and go all the time, some with a volume that is
// chosen with the node or with a device, and nodes as well.
type churn struct {
	*Env
	*cluster.Ledger
	random *rand.Rand
	made   int // objects so far, for names

	plain   []string // pods, some of which may have gone with their node
	away    []string // nodes
	disks   owners
	devices owners

	stop context.CancelFunc
	done chan error // has what ended it
}

// owners are pods that keep their names, each of which has a claim to something that it
// may keep when another pod takes the name.
type owners struct {
	app    string
	claims []string // of pod 0, 1 and so on
}

// newChurn makes the nodes and starts the controllers that clean up behind pods.
// Nothing happens before begin.
func newChurn(t *testing.T, e *Env, seed uint64) *churn {
	t.Helper()
	c := &churn{
		Env: e, Ledger: e.Keep(t, "2"), random: rand.New(rand.NewPCG(seed, 1)),
		disks:   owners{app: "disk", claims: make([]string, diskPods)},
		devices: owners{app: "device", claims: make([]string, devicePods)},
	}
	for i := range plainNodes {
		e.Create(t, smallNode(fmt.Sprint("n", i), "2").Obj())
	}
	e.Create(t, cluster.StorageClass(fast, "kubernetes.io/no-provisioner", storagev1.VolumeBindingWaitForFirstConsumer),
		deviceClass(anyGPU, `device.driver == "gpu.example.com"`))
	for i := range diskNodes {
		node := fmt.Sprint("disks-", i)
		e.Create(t, smallNode(node, "2").Taints([]corev1.Taint{dedicated}).Obj())
		for range disks {
			e.Create(t, cluster.LocalVolume(c.name("volume"), fast, node))
		}
	}
	for i := range deviceNodes {
		node := fmt.Sprint("devices-", i)
		slice := st.MakeResourceSlice(node, gpuDriver)
		for j := range devicesEach {
			slice.Device(fmt.Sprint("gpu-", j), memory(40))
		}
		e.Create(t, smallNode(node, "2").Taints([]corev1.Taint{dedicated}).Obj(), slice.Obj())
	}
	e.Controllers(t, binder, "persistentvolumeclaim-protection-controller", "persistentvolume-protection-controller",
		"resourceclaim-controller")
	return c
}

// name is a new one.
func (c *churn) name(kind string) string {
	c.made++
	return fmt.Sprintf("%s-%d", kind, c.made)
}

// begin lets things happen, until end is called or the test ends.
func (c *churn) begin(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	c.stop, c.done = stop, make(chan error, 1)
	go func() { c.done <- c.run(ctx) }()
	t.Cleanup(func() { // where the test fails before end
		stop()
		if c.done != nil {
			<-c.done
		}
	})
}

// end lets nothing more happen.
func (c *churn) end(t *testing.T) {
	t.Helper()
	c.stop()
	err := <-c.done
	c.done = nil
	if err != nil {
		t.Fatalf("it could not go on: %v", err)
	}
}

// run makes the pods that are always there, and then one change after the other.
func (c *churn) run(ctx context.Context) error {
	changing := context.WithoutCancel(ctx) // no change is left half done
	for i := range diskPods {
		if err := c.replaceDiskPod(changing, i, true); err != nil {
			return err
		}
	}
	for i := range devicePods {
		if err := c.replaceDevicePod(changing, i, true); err != nil {
			return err
		}
	}
	again := time.NewTicker(churnEvery)
	defer again.Stop()
	for {
		select {
		case <-again.C:
		case <-ctx.Done():
			return nil
		}
		if err := c.change(changing); err != nil {
			return err
		}
	}
}

// change makes one change.
func (c *churn) change(ctx context.Context) error {
	switch n := c.random.IntN(100); {
	case n < 2:
		return c.changeNode(ctx)
	case n < 7:
		return c.replaceDiskPod(ctx, c.random.IntN(diskPods), c.random.IntN(2) == 0)
	case n < 12:
		return c.replaceDevicePod(ctx, c.random.IntN(devicePods), c.random.IntN(2) == 0)
	}
	if n := len(c.plain); n <= fewestPods || n < mostPods && c.random.IntN(2) == 0 {
		return c.createPlain(ctx)
	}
	return c.deletePlain(ctx)
}

func (c *churn) createPlain(ctx context.Context) error {
	name := c.name("p")
	c.plain = append(c.plain, name)
	return c.CreatePod(ctx, cluster.Pod(name).Label("app", "plain").Req(cluster.CPU("100m")).Obj())
}

// deletePlain deletes one of the pods, whether it is on a node or waits.
func (c *churn) deletePlain(ctx context.Context) error {
	i := c.random.IntN(len(c.plain))
	name := c.plain[i]
	c.plain = slices.Delete(c.plain, i, i+1)
	return c.deletePod(ctx, name)
}

func (c *churn) deletePod(ctx context.Context, name string) error {
	return ignoreNotFound(c.Client.CoreV1().Pods(cluster.Namespace).Delete(ctx, name, metav1.DeleteOptions{}))
}

// changeNode takes a node away, with the pods that are on it by then, or brings one
// back. A pod that is being bound to it comes too late or not at all.
func (c *churn) changeNode(ctx context.Context) error {
	if n := len(c.away); n == mostAway || n > 0 && c.random.IntN(2) == 0 {
		return c.returnNode(ctx, c.random.IntN(n))
	}
	node := fmt.Sprint("n", c.random.IntN(plainNodes))
	if slices.Contains(c.away, node) {
		return nil
	}
	c.away = append(c.away, node)
	if err := c.Client.CoreV1().Nodes().Delete(ctx, node, metav1.DeleteOptions{}); err != nil {
		return err
	}
	pods, err := c.Client.CoreV1().Pods(cluster.Namespace).List(ctx,
		metav1.ListOptions{FieldSelector: fields.OneTermEqualSelector("spec.nodeName", node).String()})
	if err != nil {
		return err
	}
	for _, p := range pods.Items {
		if err := c.deletePod(ctx, p.Name); err != nil {
			return err
		}
		c.plain = slices.DeleteFunc(c.plain, func(name string) bool { return name == p.Name })
	}
	return nil
}

func (c *churn) returnNode(ctx context.Context, i int) error {
	node := c.away[i]
	c.away = slices.Delete(c.away, i, i+1)
	_, err := c.Client.CoreV1().Nodes().Create(ctx, smallNode(node, "2").Obj(), metav1.CreateOptions{})
	return err
}
