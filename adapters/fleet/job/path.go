package job

import (
	"fmt"
	"strconv"
	"strings"
)

// PathNames are the names that the pattern of an output path may have in it.
type PathNames struct {
	Node, User, Job string
}

// ExpandPath fills in the names of an output path: "%j", "%x", "%a", "%t", "%n" and
// "%u" stand for the job, its name, the element, the rank, the node and the user,
// "%%" for "%". It fails where another character follows "%", or where a name
// would lead to another folder.
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
		i++
		if i == len(pattern) {
			return "", fmt.Errorf(`%s ends with a lone "%%", write "%%%%" for it`, quote(pattern))
		}
		var err error
		switch pattern[i] {
		case 'j':
			b.WriteString(t.Job.String())
		case 'x':
			err = name("job's name", names.Job)
		case 'a':
			b.WriteString(strconv.Itoa(int(t.Element)))
		case 't':
			b.WriteString(strconv.Itoa(int(t.Rank)))
		case 'n':
			err = name("node", names.Node)
		case 'u':
			err = name("user", names.User)
		case '%':
			b.WriteByte('%')
		default:
			err = fmt.Errorf("%s has %s, only %%j, %%x, %%a, %%t, %%n, %%u and %%%% stand for something",
				quote(pattern), quote(pattern[i-1:i+1]))
		}
		if err != nil {
			return "", err
		}
	}
	return b.String(), nil
}
