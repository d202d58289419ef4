package job

import (
	"fmt"
	"strconv"
	"strings"
)

// PathNames are the names that the pattern of an output path may have in it.
type PathNames struct {
	Node, User, Job string // for "%n", "%u" and "%x"
}

// maxPathWidth is the largest width of a number in an output path; larger ones count as
// it.
const maxPathWidth = 10

// ExpandPath fills in the names of an output path: "%j", "%x", "%a", "%t", "%n" and
// "%u" stand for the job, its name, the element, the rank, the node and the user,
// "%%" for "%". A number after "%" is how many digits a number has at least: "%4a" is
// 0007. It fails where another character follows, or where a name would lead to another
// folder.
func ExpandPath(pattern string, t TaskID, names PathNames) (string, error) {
	var b strings.Builder
	name := func(what, name string) error {
		if strings.ContainsAny(name, "/\x00") || name == "." || name == ".." {
			return fmt.Errorf("the %s %s cannot be part of a file name", what, quote(name))
		}
		b.WriteString(name)
		return nil
	}
	for i := 0; i < len(pattern); i++ {
		if pattern[i] != '%' {
			b.WriteByte(pattern[i])
			continue
		}
		start := i
		i += 1 + digits(pattern[i+1:])
		if i == len(pattern) {
			return "", fmt.Errorf(`%s ends with a lone "%%", write "%%%%" for it`, quote(pattern))
		}
		width := pathWidth(pattern[start+1 : i])
		var err error
		switch pattern[i] {
		case 'j':
			fmt.Fprintf(&b, "%0*d", width, t.Job)
		case 'x':
			err = name("job's name", names.Job)
		case 'a':
			fmt.Fprintf(&b, "%0*d", width, t.Element)
		case 't':
			fmt.Fprintf(&b, "%0*d", width, t.Rank)
		case 'n':
			err = name("node", names.Node)
		case 'u':
			err = name("user", names.User)
		case '%':
			b.WriteByte('%')
		default:
			err = fmt.Errorf("%s has %s, only %%j, %%x, %%a, %%t, %%n, %%u and %%%% stand for something",
				quote(pattern), quote(pattern[start:i+1]))
		}
		if err != nil {
			return "", err
		}
	}
	return b.String(), nil
}

// PathHas reports whether an output path has the name of the letter in it: "out-%4a" has
// 'a'.
func PathHas(pattern string, letter byte) bool {
	for {
		_, rest, ok := strings.Cut(pattern, "%")
		if rest = rest[digits(rest):]; !ok || rest == "" {
			return false
		}
		if rest[0] == letter {
			return true
		}
		pattern = rest[1:]
	}
}

// digits is how many digits the text begins with.
func digits(s string) int { return len(s) - len(strings.TrimLeft(s, "0123456789")) }

// pathWidth reads the width in an output path.
func pathWidth(s string) int {
	if s == "" {
		return 0
	}
	n, err := strconv.Atoi(s)
	if err != nil {
		return maxPathWidth
	}
	return min(n, maxPathWidth)
}
