package config_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/berth-project/berth/adapters/extender"
	"github.com/berth-project/berth/adapters/kubernetes/config"
	"github.com/berth-project/berth/adapters/kubernetes/config/configtest"
)

// FuzzLoad reads anything. What can be read can be asked everything, and where there
// is nothing wrong it can be written and read again, and is the same then.
func FuzzLoad(f *testing.F) {
	files, err := filepath.Glob("testdata/*.yaml")
	if err != nil || len(files) == 0 {
		f.Fatalf("%d files, %v", len(files), err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text, true)
		f.Add(text, false)
	}
	f.Fuzz(func(t *testing.T, text []byte, usual bool) {
		var g config.Gates
		if usual {
			g = config.DefaultGates()
		}
		c, err := config.Load(text, g)
		if err != nil {
			if c != nil { // it is asked what else is wrong
				_, _ = c.Validate(), c.Try(devices, configtest.Registry(), nil)
			}
			return
		}
		invalid := c.Validate()
		_, refused := c.Profiles(devices, configtest.Registry())
		_, _ = c.Extenders(extender.Neutral{})
		_ = c.Try(devices, configtest.Registry(), nil)
		_ = c.Queue()
		var first, second bytes.Buffer
		if err := c.Write(&first); invalid != nil || refused != nil {
			return
		} else if err != nil {
			t.Fatal(err)
		}
		again, err := config.Load(first.Bytes(), g)
		if err != nil {
			t.Fatalf("%v\n%s", err, first.Bytes())
		}
		if err := again.Validate(); err != nil {
			t.Fatalf("%v\n%s", err, first.Bytes())
		}
		if err := again.Write(&second); err != nil || !bytes.Equal(first.Bytes(), second.Bytes()) {
			t.Fatalf("%v\n%s\nand then\n%s", err, first.Bytes(), second.Bytes())
		}
	})
}
