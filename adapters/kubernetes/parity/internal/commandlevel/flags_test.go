package commandlevel

import (
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	kube "k8s.io/kubernetes/cmd/kube-scheduler/app"

	berth "github.com/berth-project/berth/adapters/kubernetes/app"
)

// differences are the flags that are not quite kube-scheduler's, and why.
var differences = map[string]string{
	"help": "its text has the name of the command",
}

// own are the flags that kube-scheduler does not have.
var own = []string{"wake-ups"}

// Every flag of kube-scheduler is there, and none but those of Berth's own, and they
// are the same in everything that a user can see.
func TestFlags(t *testing.T) {
	want, got := flags(kube.NewSchedulerCommand()), flags(berth.NewSchedulerCommand())
	if len(want) < 60 {
		t.Fatalf("kube-scheduler has %d flags, which cannot be all", len(want))
	}
	for name, f := range want {
		same := reflect.DeepEqual(f, got[name])
		if _, known := differences[name]; same == known {
			t.Errorf("--%s: the same is %t, listed as a difference is %t\nkube-scheduler:  %+v\nberth-scheduler: %+v", name, same, known, f, got[name])
		}
	}
	for name := range got {
		if _, there := want[name]; there == slices.Contains(own, name) {
			t.Errorf("--%s: kube-scheduler has it is %t, and it is the wrong way round in the list of our own", name, there)
		}
	}
}

// seen is what a user can see of one.
type seen struct {
	Group, Shorthand, Usage, Type, Default, WithoutValue, Deprecated string
	Hidden                                                           bool
	Annotations                                                      map[string][]string
}

func flags(cmd *cobra.Command) map[string]seen {
	group := groups(cmd.UsageString())
	list := map[string]seen{}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		list[f.Name] = seen{
			Group: group[f.Name], Shorthand: f.Shorthand, Usage: f.Usage, Type: f.Value.Type(), Default: f.DefValue,
			WithoutValue: f.NoOptDefVal, Deprecated: f.Deprecated + f.ShorthandDeprecated, Hidden: f.Hidden, Annotations: f.Annotations,
		}
	})
	return list
}

// groups says under which heading of the usage text each flag stands.
func groups(usage string) map[string]string {
	heading, line := regexp.MustCompile(`^\S.* flags:$`), regexp.MustCompile(`^ +(?:-\w, )?--([\w-]+)`)
	group := map[string]string{}
	at := ""
	for text := range strings.Lines(usage) {
		text = strings.TrimRight(text, "\n")
		if heading.MatchString(text) {
			at = text
		} else if m := line.FindStringSubmatch(text); m != nil {
			group[m[1]] = at
		}
	}
	return group
}
