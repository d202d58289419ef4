// Package fleettest is for the tests of the fleet's packages.
package fleettest

import (
	"flag"
	"testing"
)

// RunWaiting runs the tests of a package that wait in real time, for elections say, and compute
// little: eight side by side, however many processors there are, unless -parallel says otherwise.
// A TestMain calls it and exits with what it returns.
func RunWaiting(m *testing.M) int {
	flag.Parse()
	said := false
	flag.Visit(func(f *flag.Flag) { said = said || f.Name == "test.parallel" })
	if !said {
		if err := flag.Set("test.parallel", "8"); err != nil {
			panic(err)
		}
	}
	return m.Run()
}
