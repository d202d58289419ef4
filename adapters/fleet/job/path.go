package job

import (
	"fmt"
	"strconv"
	"strings"
)

// ExpandPath fills in the names of an output path: "%j", "%a", "%t", "%n" and "%u"
// stand for the job, the element, the rank, the node and the user, "%%" for "%".
// It fails where another character follows "%", or where the node or the user
// would lead to another folder.
func ExpandPath(pattern string, t TaskID, node, user string) (string, error) {
	for what, name := range map[string]string{"node": node, "user": user} {
		if strings.ContainsAny(name, "/\x00") || name == "." || name == ".." {
			return "", fmt.Errorf("the %s %s cannot be part of a file name", what, quote(name))
		}
	}
	var b strings.Builder
	for i := 0; i < len(pattern); i++ {
		if pattern[i] != '%' {
			b.WriteByte(pattern[i])
			continue
		}
		i++
		if i == len(pattern) {
			return "", fmt.Errorf(`%s ends with a lone "%%", write "%%%%" for it`, quote(pattern))
		}
		switch pattern[i] {
		case 'j':
			b.WriteString(t.Job.String())
		case 'a':
			b.WriteString(strconv.Itoa(int(t.Element)))
		case 't':
			b.WriteString(strconv.Itoa(int(t.Rank)))
		case 'n':
			b.WriteString(node)
		case 'u':
			b.WriteString(user)
		case '%':
			b.WriteByte('%')
		default:
			return "", fmt.Errorf("%s has %s, only %%j, %%a, %%t, %%n, %%u and %%%% stand for something",
				quote(pattern), quote(pattern[i-1:i+1]))
		}
	}
	return b.String(), nil
}
