package config_test

import (
	"testing"
)

// The scheduler's profiles agree on the system calls of pods without a profile of their own.
func TestUnconfinedProfile(t *testing.T) {
	const on = "plugins: {multiPoint: {enabled: [{name: SySched}]}}"
	args := func(a string) string { return ", pluginConfig: [{name: SySched, args: {" + a + "}}]" }
	for _, c := range []struct{ profiles, want, problem string }{
		{"{}", "", ""},
		{"{" + on + "}", "default/all-syscalls", ""},
		{"{" + on + args("defaultProfileNamespace: ns, defaultProfileName: all") + "}", "ns/all", ""},
		{"{schedulerName: a, " + on + args("defaultProfileName: all") + "}, {schedulerName: b, " + on + args("defaultProfileName: all") + "}, {schedulerName: c}", "default/all", ""},
		{"{schedulerName: a, " + on + args("defaultProfileName: all") + "}, {schedulerName: b, " + on + "}", "",
			`SySched: defaultProfileNamespace, defaultProfileName: profiles name different ones, ["default/all" "default/all-syscalls"]`},
	} {
		got, err := load(t, head+"profiles: ["+c.profiles+"]").UnconfinedProfile()
		text := ""
		if err != nil {
			text = err.Error()
		}
		if got != c.want || text != c.problem {
			t.Errorf("%s: %q, %v", c.profiles, got, err)
		}
	}
}
