package app

import (
	"flag"
	"io"
	"log"
	"os"
	"testing"

	"k8s.io/klog/v2"
)

// The log of what is tested says nothing about the tests.
func TestMain(m *testing.M) {
	var flags flag.FlagSet
	klog.InitFlags(&flags)
	_ = flags.Set("logtostderr", "false")
	_ = flags.Set("stderrthreshold", "FATAL")
	klog.SetOutput(io.Discard)
	log.SetOutput(io.Discard)
	os.Exit(m.Run())
}
