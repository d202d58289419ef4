package flags

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// warnings are what is said about a job of a script that is taken.
func warnings(t *testing.T, text string, o Origin) (*Job, string) {
	t.Helper()
	j, err := script(text, o)
	require.NoError(t, err)
	var said []string
	for _, p := range j.Warnings {
		said = append(said, p.String())
	}
	return j, strings.Join(said, "\n")
}

// What of the environment cannot go along is named.
func TestExportNamesWhatStays(t *testing.T) {
	for _, c := range []struct {
		name    string
		environ []string
		want    string
	}{
		{"all goes along", []string{"A=1", "BASH_FUNC_module%%=() { :; }", "BERTH_ADDR=s1", "BERTH_TOKEN_FILE=/t"}, ""},
		{"some does not", []string{"a.b=1", "A=1", "BERTH_TOKEN=x", "SLURM_CONF=/x"}, "line 2: #SBATCH: --export: what has these names does not go along: a.b, BERTH_TOKEN, SLURM_CONF"},
		{"much does not", []string{"1=", "2=", "3=", "4=", "5=", "6=", "7="}, "line 2: #SBATCH: --export: what has these names does not go along: 1, 2, 3, 4, 5 and 2 more"},
		{"in a job, where the next one has its own", []string{"BERTH_JOB_ID=3", "SLURM_JOB_ID=3", "a.b=1"}, "line 2: #SBATCH: --export: what has these names does not go along: a.b"},
	} {
		o := here
		o.Environ = c.environ
		_, got := warnings(t, "#!/bin/sh\n#SBATCH --export=ALL\n", o)
		assert.Equal(t, c.want, got, c.name)
	}
}

// A job that submits jobs needs the settings of berth: where they stay behind it is said.
func TestJobsThatSubmit(t *testing.T) {
	const stay = "calls berth submit, and settings of berth do not go along: "
	for _, c := range []struct {
		name, text string
		environ    []string
		want       string
	}{
		{"they stay", "echo\n  /usr/bin/berth submit next.sh\n", []string{"BERTH_ADDR=s1", "BERTH_CACERT=/ca.pem"},
			"line 3: " + stay + "BERTH_ADDR, BERTH_CACERT; --export=ALL takes them"},
		{"they go along", "#SBATCH --export=ALL\nX=$(berth submit next.sh)\n", []string{"BERTH_ADDR=s1"}, ""},
		{"the token stays", "#BERTH --export=BERTH_ADDR\n(berth submit next.sh)\n", []string{"BERTH_ADDR=s1", "BERTH_TOKEN=x"},
			"line 3: " + stay + "BERTH_TOKEN; --export=ALL takes them, but no BERTH_TOKEN: a BERTH_TOKEN_FILE does"},
		{"there are none", "berth submit next.sh\n", []string{"A=1", "BERTH_CONFIG="}, ""},
		{"it submits nothing", "# berth submit\necho rebirth berth submits\n", []string{"BERTH_ADDR=s1"}, ""},
	} {
		o := here
		o.Environ = c.environ
		_, got := warnings(t, "#!/bin/sh\n"+c.text, o)
		assert.Equal(t, c.want, got, c.name)
	}
}

// Files of a job are as private as those of who submits it.
func TestUmask(t *testing.T) {
	for _, c := range []struct{ umask, want, said string }{
		{"0077", "0077", ""},
		{"0002", "0002", ""},
		{"0022", "", ""},
		{"", "", ""},
		{"0777", "", `umask: that of this shell does not go along: "0777" takes rights from the owner of the files; the job has 0022`},
	} {
		o := here
		o.Umask = c.umask
		j, said := warnings(t, "#!/bin/sh\n", o)
		assert.Equal(t, c.want, j.Spec.Umask)
		assert.Equal(t, c.said, said)
		assert.NoError(t, j.Spec.Validate())
	}
	o, given := here, &Job{}
	o.Umask, given.Spec.Umask = "0077", "027"
	require.NoError(t, New(o).Apply(given))
	assert.Equal(t, "027", given.Spec.Umask, "what the job file says goes before it")
}

// A job of another account does not have the submitter's home and shell, unless they are
// named.
func TestEnvironmentOfAnotherAccount(t *testing.T) {
	o := here
	o.Environ = []string{"HOME=/root", "SHELL=/bin/zsh", "USER=root", "LOGNAME=root", "MAIL=/var/mail/root", "LANG=C"}
	own := map[string]string{"HOME": "/root", "SHELL": "/bin/zsh", "USER": "root", "LOGNAME": "root", "MAIL": "/var/mail/root", "LANG": "C"}
	for _, c := range []struct {
		line string
		want map[string]string
	}{
		{"--export=ALL", own},
		{"--export=ALL --user=root", own},
		{"--export=ALL --user=bob", map[string]string{"LANG": "C"}},
		{"--user=bob --export=ALL,SHELL=/bin/sh", map[string]string{"LANG": "C", "SHELL": "/bin/sh"}},
		{"--user=bob --export=HOME", map[string]string{"HOME": "/root"}},
	} {
		j, err := script("#!/bin/sh\n#SBATCH "+c.line+"\n", o)
		require.NoError(t, err)
		require.Equal(t, c.want, j.Spec.Env, c.line)
	}
}
