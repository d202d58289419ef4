package job

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// EnvPrefix begins the names of variables that agents set, and jobs may not.
const EnvPrefix = "BERTH_"

// slurmPrefixes begin the names of variables that agents set for scripts that were
// written for Slurm. Jobs may not set any of them, not even those that agents do not
// set: variables of two batch systems in one environment mislead programs.
var slurmPrefixes = []string{"SLURM_", "SLURMD_"}

// ClientVariables are the settings of "berth" itself. Jobs may set them: those that
// submit jobs need them. BERTH_TOKEN is none of them, for what a job has is shown to
// whoever may see the job.
var ClientVariables = []string{"BERTH_ADDR", "BERTH_CACERT", "BERTH_CLIENT_CERT", "BERTH_CONFIG", "BERTH_TOKEN_FILE"}

// ReservedVariable reports whether only agents set the variable.
func ReservedVariable(name string) bool {
	return strings.HasPrefix(name, EnvPrefix) && !slices.Contains(ClientVariables, name) ||
		slices.ContainsFunc(slurmPrefixes, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}

// CheckVariable says what is wrong with the name of an environment variable of a
// job: nil where it has letters, digits and "_", does not begin with a digit, is not
// a ReservedVariable, and is not longer than 256 bytes. "BASH_FUNC_module%%", as bash
// names a function that is exported, will do, too.
func CheckVariable(name string) error {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"
	switch {
	case name == "":
		return fmt.Errorf("a variable must have a name")
	case len(name) > 256:
		return fmt.Errorf("the name of the variable has %d bytes, at most 256 are allowed", len(name))
	case isFunction(name):
		return nil
	case strings.Trim(name, letters+"0123456789") != "", strings.IndexByte(letters, name[0]) < 0:
		return fmt.Errorf(`%s may only have letters, digits and "_", and not begin with a digit`, quote(name))
	case ReservedVariable(name):
		return fmt.Errorf("names that begin with %s_ are set by Berth", name[:strings.IndexByte(name, '_')])
	}
	return nil
}

// isFunction reports whether bash reads a function from the variable. Names of functions
// may have nearly all characters.
func isFunction(name string) bool {
	name, before := strings.CutPrefix(name, "BASH_FUNC_")
	name, after := strings.CutSuffix(name, "%%")
	return before && after && name != "" &&
		!strings.ContainsFunc(name, func(r rune) bool { return unprintable(r) || r == ' ' || r == '=' || r == '\uFFFD' })
}

// DefaultUmask is that of a Spec.
const DefaultUmask = "0022"

// ParseUmask reads a Spec's Umask: octal digits, which take nothing from the owner, whose
// files are of no use to anybody then. An empty one is the default.
func ParseUmask(s string) (int, error) {
	if s == "" {
		s = DefaultUmask
	}
	mask, err := strconv.ParseUint(s, 8, 32)
	if err != nil || mask > 0o777 {
		return 0, fmt.Errorf("%s is no umask: write octal digits, such as 0077", quote(s))
	}
	if mask&0o700 != 0 {
		return 0, fmt.Errorf("%s takes rights from the owner of the files", quote(s))
	}
	return int(mask), nil
}
