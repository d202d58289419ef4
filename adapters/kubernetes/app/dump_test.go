package app

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	"k8s.io/klog/v2"
)

// The dump has the nodes with what is on them, the pods that wait, and no differences
// where there are none.
func TestDump(t *testing.T) {
	var mu sync.Mutex
	var lines []string
	klog.SetLogger(funcr.New(func(_, args string) {
		mu.Lock()
		defer mu.Unlock()
		lines = append(lines, args)
	}, funcr.Options{Verbosity: 3}))
	defer klog.ClearLogger()
	inWorld(t, func(w *world) {
		time.Sleep(5 * time.Second)
		w.add("placed")
		w.add("waits", "no-such-node")
		time.Sleep(5 * time.Second)
		w.dump()
	}, nil)
	mu.Lock()
	defer mu.Unlock()
	text := strings.Join(lines, "\n")
	for _, want := range []string{
		`"msg"="Dump of cached NodeInfo" "node"="n1"`,
		`default/placed placed-1 (`,
		`"msg"="Dump of scheduling queue" "activeQ"=0 "backoffQ"=0 "unschedulableEntities"=1`,
		`"pod"="default/waits waits-2" "place"="Unschedulable" "attempts"=1 "rejectedBy"=["NodeAffinity"]`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%s is not there:\n%s", want, text)
		}
	}
	if strings.Contains(text, "mismatch") {
		t.Errorf("there are differences:\n%s", text)
	}
}
